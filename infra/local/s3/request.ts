/** A request as S3 sees it: operation, bucket, byte-exact key, query, checked body. */
import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { crc32 } from 'node:zlib';
import { S3Refusal } from './backend.ts';
import { crc32c } from './crc32c.ts';

export interface S3Request {
  readonly operation: string;
  readonly bucket: string;
  readonly key: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

const MOST_BODY_BYTES = 5 * 1024 ** 3;

export async function readRequest(message: IncomingMessage): Promise<S3Request> {
  const url = message.url ?? '/';
  const cut = url.indexOf('?');
  const path = cut < 0 ? url : url.slice(0, cut);
  const query = new URLSearchParams(cut < 0 ? '' : url.slice(cut + 1));
  const slash = path.indexOf('/', 1);
  const bucket = decodePath(slash < 0 ? path.slice(1) : path.slice(1, slash));
  const key = slash < 0 ? '' : decodePath(path.slice(slash + 1));
  const raw = await readBody(message);
  const chunked = String(message.headers['content-encoding'] ?? '').includes('aws-chunked');
  const body = chunked ? joinChunks(raw) : raw;
  const announced = message.headers['x-amz-decoded-content-length'];
  if (chunked && announced !== undefined && Number(announced) !== body.length) {
    throw new S3Refusal(400, 'IncompleteBody', `${body.length} bytes came where ${announced} were announced`);
  }
  checkBody(message.headers, body, chunked ? trailerOf(raw) : {});
  const isCopy = message.headers['x-amz-copy-source'] !== undefined;
  const operation = isCopy ? 'CopyObject' : operationOf(message.method ?? 'GET', bucket, key, query);
  return { operation, bucket, key, query, headers: message.headers, body };
}

function decodePath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    throw new S3Refusal(400, 'InvalidURI', `Couldn't parse the specified URI: ${path}`);
  }
}

/** Taken for a plain PUT or GET, a request of one of these would overwrite the object or answer something else. */
const OTHER_RESOURCES = [
  ...['acl', 'attributes', 'legal-hold', 'retention', 'torrent', 'restore', 'select', 'renameObject'],
  ...['accelerate', 'analytics', 'cors', 'encryption', 'intelligent-tiering', 'inventory', 'lifecycle', 'logging'],
  ...['metrics', 'notification', 'object-lock', 'ownershipControls', 'policy', 'policyStatus', 'publicAccessBlock'],
  ...['replication', 'requestPayment', 'session', 'website', 'uploads', 'uploadId', 'partNumber'],
];

function operationOf(method: string, bucket: string, key: string, query: URLSearchParams): string {
  const other = OTHER_RESOURCES.find((name) => query.has(name));
  if (other !== undefined) return `${method} ?${other}`;
  if (bucket === '') return method === 'GET' ? 'ListBuckets' : 'Unknown';
  if (key === '') {
    if (method === 'POST' && query.has('delete')) return 'DeleteObjects';
    if (query.has('tagging')) return 'BucketTagging';
    if (query.has('versioning')) return method === 'PUT' ? 'PutBucketVersioning' : 'GetBucketVersioning';
    if (method === 'GET' && query.has('versions')) return 'ListObjectVersions';
    if (method === 'GET' && query.has('location')) return 'GetBucketLocation';
    if (method === 'GET' && query.get('list-type') === '2') return 'ListObjectsV2';
    return { PUT: 'CreateBucket', DELETE: 'DeleteBucket', HEAD: 'HeadBucket' }[method] ?? 'Unknown';
  }
  if (query.has('tagging')) return `${{ GET: 'Get', PUT: 'Put', DELETE: 'Delete' }[method] ?? 'Unknown'}ObjectTagging`;
  return { GET: 'GetObject', HEAD: 'HeadObject', PUT: 'PutObject', DELETE: 'DeleteObject' }[method] ?? 'Unknown';
}

async function readBody(message: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of message as AsyncIterable<Buffer>) {
    length += part.length;
    if (length > MOST_BODY_BYTES) throw new S3Refusal(400, 'EntityTooLarge');
    parts.push(part);
  }
  return Buffer.concat(parts);
}

/** The SDK's `aws-chunked` form: `<hex length>[;…]\r\n<bytes>\r\n … 0\r\n<trailers>`. */
function joinChunks(raw: Buffer): Buffer {
  const parts: Buffer[] = [];
  let at = 0;
  for (;;) {
    const end = raw.indexOf('\r\n', at);
    const length = end < 0 ? Number.NaN : Number.parseInt(raw.toString('latin1', at, end).split(';')[0] as string, 16);
    if (!Number.isSafeInteger(length)) throw new S3Refusal(400, 'IncompleteBody');
    if (length === 0) return Buffer.concat(parts);
    if (end + 2 + length > raw.length) throw new S3Refusal(400, 'IncompleteBody');
    parts.push(raw.subarray(end + 2, end + 2 + length));
    at = end + 2 + length + 2;
  }
}

function trailerOf(raw: Buffer): Record<string, string> {
  const tail = raw.toString('latin1', Math.max(0, raw.length - 512));
  return Object.fromEntries(
    [...tail.matchAll(/(x-amz-checksum-[a-z0-9]+):([^\r\n]+)/g)].map(([, name, value]) => [name, value]),
  );
}

function checkBody(headers: IncomingMessage['headers'], body: Buffer, trailer: Readonly<Record<string, string>>): void {
  const given = { ...headers, ...trailer };
  const check = (name: string, actual: () => string) => {
    const expected = given[name];
    if (typeof expected === 'string' && expected !== actual()) {
      throw new S3Refusal(400, 'BadDigest', `The ${name} you specified did not match what we received.`);
    }
  };
  check('content-md5', () => createHash('md5').update(body).digest('base64'));
  check('x-amz-checksum-sha256', () => createHash('sha256').update(body).digest('base64'));
  check('x-amz-checksum-sha1', () => createHash('sha1').update(body).digest('base64'));
  check('x-amz-checksum-crc32', () => bigEndian(crc32(body)));
  check('x-amz-checksum-crc32c', () => bigEndian(crc32c(body)));
}

function bigEndian(value: number): string {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes.toString('base64');
}
