/** What operations are given beside the request, and what they answer. */
import type { BucketBackend } from './backend.ts';

export interface S3Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export interface Buckets {
  get(name: string): BucketBackend;
  create(name: string): void;
  delete(name: string): void;
  names(): readonly string[];
}

const NAMESPACE = 'xmlns="http://s3.amazonaws.com/doc/2006-03-01/"';

export function answer(
  status: number,
  headers: Readonly<Record<string, string>> = {},
  body: Buffer = Buffer.alloc(0),
): S3Answer {
  return { status, headers, body };
}

export function xmlAnswer(root: string, content: string, status = 200): S3Answer {
  const text = `<?xml version="1.0" encoding="UTF-8"?>\n<${root} ${NAMESPACE}>${content}</${root}>`;
  return answer(status, { 'content-type': 'application/xml' }, Buffer.from(text));
}
