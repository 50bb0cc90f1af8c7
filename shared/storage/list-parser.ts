/**
 * Puts the strict reader of listings behind an SDK client. The SDK spends several times the CPU on a page; signing, retries,
 * redirects and error answers stay the SDK's.
 */
import { Readable } from 'node:stream';
import type { S3Client } from '@aws-sdk/client-s3';
import { parseListing, type RawListing } from './list-xml.ts';

interface HttpResponse {
  readonly statusCode: number;
  body: AsyncIterable<Uint8Array> | Uint8Array;
}

/** What the SDK is given in place of the page: enough to be parsed, nothing that costs. */
const STAND_IN = Buffer.from('<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>');

const installed = new WeakSet<S3Client>();

/** Idempotent; affects ListObjectsV2 only. */
export function installListParser(client: S3Client): void {
  if (installed.has(client)) return;
  installed.add(client);
  const pages = new WeakMap<object, RawListing>();

  client.middlewareStack.add(
    (next, context) => async (args) => {
      const result = await next(args);
      if (context['commandName'] !== 'ListObjectsV2Command') return result;
      const response = result.response as HttpResponse;
      if (response.statusCode !== 200) return result;
      pages.set(context, parseListing(await readBody(response.body)));
      response.body = Readable.from([STAND_IN]);
      return result;
    },
    { step: 'deserialize', priority: 'low', name: 'icesweepReadListing' },
  );
  client.middlewareStack.add(
    (next, context) => async (args) => {
      const result = await next(args);
      const page = pages.get(context);
      if (page !== undefined) result.output = { ...(result.output as object), ...page } as typeof result.output;
      return result;
    },
    { step: 'initialize', priority: 'high', name: 'icesweepTakeListing' },
  );
}

async function readBody(body: HttpResponse['body']): Promise<Buffer> {
  if (body instanceof Uint8Array) return Buffer.from(body);
  const parts: Uint8Array[] = [];
  for await (const part of body) parts.push(part);
  return Buffer.concat(parts);
}
