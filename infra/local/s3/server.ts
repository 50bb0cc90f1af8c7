/**
 * The embedded S3 server: loopback only, path-style addressing. Signatures are not computed, but a request must carry one: a
 * web page in the user's browser can send requests here, and cannot add that header to them. It exists so that the bundled
 * handlers run unchanged against directories, and so that tests can order faults.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Buckets, type S3Answer, xmlAnswer } from './answer.ts';
import { type BucketBackend, S3Refusal } from './backend.ts';
import { type Fault, FaultBook, type FaultEffect } from './faults.ts';
import { MemoryBucket } from './memory-bucket.ts';
import { operations } from './operations.ts';
import { readRequest } from './request.ts';
import { elements } from './xml.ts';

export interface S3ServerOptions {
  readonly buckets: Readonly<Record<string, BucketBackend>>;
  readonly port?: number;
  /** If given, only requests signed under this id are answered: other users of the machine reach the port too. */
  readonly accessKeyId?: string;
  /** The time of what is written to buckets that requests create; absent: the machine's. */
  readonly clock?: () => number;
}

export interface RequestNote {
  readonly operation: string;
  readonly bucket: string;
  readonly key: string;
}

export interface S3Server {
  readonly endpoint: string;
  fault(fault: Fault): void;
  clearFaults(): void;
  /** Requests since the start, or since the last call of `forgetRequests`. */
  requests(): readonly RequestNote[];
  forgetRequests(): void;
  close(): Promise<void>;
}

const MOST_NOTES = 100_000;

class BucketTable implements Buckets {
  readonly #buckets: Map<string, BucketBackend>;
  readonly #clock: () => number;

  constructor({ buckets, clock }: S3ServerOptions) {
    this.#buckets = new Map(Object.entries(buckets));
    this.#clock = clock ?? Date.now;
  }

  get(name: string): BucketBackend {
    const bucket = this.#buckets.get(name);
    if (bucket === undefined) throw new S3Refusal(404, 'NoSuchBucket', `The specified bucket does not exist: ${name}`);
    return bucket;
  }

  create(name: string): void {
    if (this.#buckets.has(name)) throw new S3Refusal(409, 'BucketAlreadyOwnedByYou');
    this.#buckets.set(name, new MemoryBucket({ now: this.#clock }));
  }

  delete(name: string): void {
    this.#buckets.delete(name);
  }

  names(): readonly string[] {
    return [...this.#buckets.keys()];
  }
}

export async function startS3Server(options: S3ServerOptions): Promise<S3Server> {
  const buckets = new BucketTable(options);
  const faults = new FaultBook();
  const notes: RequestNote[] = [];
  const server = createServer((message, response) => {
    void serve(message, response, { buckets, faults, accessKeyId: options.accessKeyId }, (note) => {
      if (notes.length < MOST_NOTES) notes.push(note);
    });
  });
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    endpoint: `http://127.0.0.1:${port}`,
    fault: (fault) => faults.add(fault),
    clearFaults: () => faults.clear(),
    requests: () => notes,
    forgetRequests: () => notes.splice(0),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

interface Serving {
  readonly buckets: Buckets;
  readonly faults: FaultBook;
  readonly accessKeyId: string | undefined;
}

function checkSigned(message: IncomingMessage, accessKeyId: string | undefined): void {
  const given = /^AWS4-\S+ Credential=([^/]+)\//.exec(message.headers.authorization ?? '')?.[1];
  if (given === undefined) throw new S3Refusal(403, 'AccessDenied', 'The request is not signed');
  if (accessKeyId !== undefined && given !== accessKeyId) throw new S3Refusal(403, 'InvalidAccessKeyId');
}

async function serve(
  message: IncomingMessage,
  response: ServerResponse,
  { buckets, faults, accessKeyId }: Serving,
  note: (note: RequestNote) => void,
): Promise<void> {
  let effect: FaultEffect | undefined;
  try {
    checkSigned(message, accessKeyId);
    const request = await readRequest(message);
    const key = request.key === '' ? (request.query.get('prefix') ?? '') : request.key;
    note({ operation: request.operation, bucket: request.bucket, key });
    effect = faults.take(request.operation, request.bucket, key);
    if (effect !== undefined && 'delayMs' in effect) await delay(effect.delayMs);
    if (effect !== undefined && 'drop' in effect) return void message.socket.destroy();
    if (effect !== undefined && 'error' in effect) throw new S3Refusal(effect.error.status, effect.error.code);
    const operation = operations[request.operation];
    if (operation === undefined) {
      throw new S3Refusal(501, 'NotImplemented', `${request.operation} is not implemented by the embedded server`);
    }
    const keyErrors = effect !== undefined && 'keyErrors' in effect ? effect.keyErrors : {};
    const answer = await operation(request, buckets, keyErrors);
    if (effect !== undefined && 'loseAnswer' in effect) return void message.socket.destroy();
    if (effect !== undefined && 'body' in effect) {
      return send(message, response, { ...answer, status: 200, body: Buffer.from(effect.body) }, undefined);
    }
    send(message, response, answer, effect !== undefined && 'truncateTo' in effect ? effect.truncateTo : undefined);
  } catch (error) {
    const refusal = error instanceof S3Refusal ? error : new S3Refusal(500, 'InternalError', String(error));
    const content = elements({ Code: refusal.code, Message: refusal.message, RequestId: 'embedded' });
    const answer = xmlAnswer('Error', content, refusal.status);
    send(
      message,
      response,
      { ...answer, body: Buffer.from(answer.body.toString().replace(/ xmlns="[^"]*"/, '')) },
      undefined,
    );
  }
}

function send(
  message: IncomingMessage,
  response: ServerResponse,
  answer: S3Answer,
  truncateTo: number | undefined,
): void {
  const headers: Record<string, string> = { 'x-amz-request-id': 'embedded', ...answer.headers };
  const bodyless = message.method === 'HEAD' || answer.status === 204 || answer.status === 304;
  headers['content-length'] ??= bodyless ? '0' : String(answer.body.length);
  if (answer.status === 204 || answer.status === 304) delete headers['content-length'];
  response.writeHead(answer.status, headers);
  if (bodyless) return void response.end();
  if (truncateTo === undefined) return void response.end(answer.body);
  response.write(answer.body.subarray(0, truncateTo), () => message.socket.destroy());
}

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
