/** One page of a listing over a backend: prefix, delimiter, start-after and continuation as ListObjectsV2 has them. */

import { compareKeys } from '#shared/storage/key-order.ts';
import { type BucketBackend, S3Refusal, type StoredMeta } from './backend.ts';

export interface PageRequest {
  readonly prefix: string;
  readonly delimiter?: string;
  readonly startAfter?: string;
  readonly continuationToken?: string;
  readonly maxKeys?: number;
}

export interface Page {
  readonly objects: readonly StoredMeta[];
  readonly commonPrefixes: readonly string[];
  readonly truncated: boolean;
  readonly nextToken?: string;
}

const MOST_KEYS = 1000;

interface Position {
  /** The last key, or the last common prefix, of the page before. */
  readonly at: string;
  readonly isPrefix: boolean;
}

export async function listPage(bucket: BucketBackend, request: PageRequest): Promise<Page> {
  const limit = Math.min(request.maxKeys ?? MOST_KEYS, MOST_KEYS);
  const from = request.continuationToken === undefined ? undefined : readToken(request.continuationToken);
  const after = from?.at ?? request.startAfter;
  const objects: StoredMeta[] = [];
  const commonPrefixes: string[] = [];
  let skip = from?.isPrefix === true ? from.at : undefined;
  let last: Position | undefined;
  if (limit === 0) return { objects, commonPrefixes, truncated: false };
  for await (const object of bucket.scan(request.prefix, after, request.delimiter)) {
    if (skip !== undefined && object.key.startsWith(skip)) continue;
    const rolled = commonPrefixOf(object.key, request.prefix, request.delimiter);
    if (objects.length + commonPrefixes.length === limit) {
      return { objects, commonPrefixes, truncated: true, nextToken: writeToken(last as Position) };
    }
    if (rolled === undefined) {
      objects.push(object);
      last = { at: object.key, isPrefix: false };
    } else {
      commonPrefixes.push(rolled);
      last = { at: rolled, isPrefix: true };
    }
    skip = rolled;
  }
  commonPrefixes.sort(compareKeys);
  return { objects, commonPrefixes, truncated: false };
}

function commonPrefixOf(key: string, prefix: string, delimiter: string | undefined): string | undefined {
  if (!delimiter) return undefined;
  const end = key.indexOf(delimiter, prefix.length);
  return end < 0 ? undefined : key.slice(0, end + delimiter.length);
}

function writeToken(position: Position): string {
  return Buffer.from(JSON.stringify(position)).toString('base64url');
}

function readToken(token: string): Position {
  try {
    const position = JSON.parse(Buffer.from(token, 'base64url').toString()) as Position;
    if (typeof position.at === 'string') return position;
  } catch {
    // Falls through: any other token is refused as S3 does.
  }
  throw new S3Refusal(400, 'InvalidArgument', 'The continuation token provided is incorrect');
}
