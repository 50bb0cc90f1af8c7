/** An S3-like store in this process, behind the port that the stages use, with faults and a virtual clock. */
import { type BucketBackend, S3Refusal, type VersionMeta } from '#infra/local/s3/backend.ts';
import { listPage } from '#infra/local/s3/list-page.ts';
import { MemoryBucket, type MemoryBucketOptions } from '#infra/local/s3/memory-bucket.ts';
import type { RequestCounts } from '#shared/run/receipts.ts';
import { compareKeys } from '#shared/storage/key-order.ts';
import {
  type DeleteIdentifier,
  type DeleteReply,
  type ListPage,
  type ListRequest,
  type ObjectHead,
  type ObjectStore,
  type StoredObject,
  StoreError,
  type StoreFault,
  type Versioning,
  type VersionPage,
} from '#shared/storage/object-store.ts';

export type StoreOperation =
  | 'get'
  | 'head'
  | 'put'
  | 'list'
  | 'listVersions'
  | 'deleteObjects'
  | 'deleteObject'
  | 'versioning';

export interface StoreCall {
  readonly operation: StoreOperation;
  readonly bucket: string;
  /** Key or prefix; of deleteObjects the first key. */
  readonly key: string;
  readonly keys?: readonly string[];
  /** before: nothing was done yet. after: it was done, a throw loses the answer. */
  readonly phase: 'before' | 'after';
}

export interface MemoryStoreOptions {
  readonly now?: () => number;
  readonly onCall?: (call: StoreCall) => void | Promise<void>;
  /** False: `If-Match` on deletes is ignored, as some stores do. */
  readonly conditionalDeletes?: boolean;
  /** DeleteObjects is refused without Content-MD5. */
  readonly requiresMd5?: boolean;
  /** DeleteObjects is not there. */
  readonly singleDeletesOnly?: boolean;
  /** Error code for single keys inside a DeleteObjects reply. */
  readonly keyError?: (key: string) => string | undefined;
}

export class MemoryStore implements ObjectStore {
  readonly requests: { -readonly [Name in keyof RequestCounts]: number } = { get: 0, list: 0, put: 0, delete: 0 };
  /** Replaced by tests at will. */
  options: MemoryStoreOptions;
  readonly #buckets = new Map<string, MemoryBucket>();

  constructor(options: MemoryStoreOptions = {}) {
    this.options = options;
  }

  createBucket(name: string, options: MemoryBucketOptions = {}): MemoryBucket {
    const now = () => (this.options.now ?? Date.now)();
    const bucket = new MemoryBucket({ now, ...options });
    this.#buckets.set(name, bucket);
    return bucket;
  }

  /** The bucket itself, for seeding and looking without the port. */
  bucket(name: string): MemoryBucket {
    return this.#buckets.get(name) ?? this.createBucket(name);
  }

  seed(bucket: string, key: string, body: Uint8Array | number, lastModifiedMs: number): void {
    this.bucket(bucket).seed(key, typeof body === 'number' ? body : Buffer.from(body), lastModifiedMs);
  }

  /** Every current key of a bucket, in order. */
  keys(bucket: string, prefix = ''): string[] {
    return [...this.bucket(bucket).scan(prefix, undefined)].map((object) => object.key);
  }

  get(
    bucket: string,
    key: string,
    options: { readonly range?: { start: number; end: number } } = {},
  ): Promise<StoredObject> {
    this.requests.get++;
    return this.#call('get', bucket, key, async (backend) => {
      const meta = await backend.head(key);
      const { start, end } = options.range ?? { start: 0, end: meta.sizeBytes - 1 };
      const body = start >= meta.sizeBytes ? Buffer.alloc(0) : await backend.read(key, start, end + 1);
      return {
        body: Buffer.from(body),
        sizeBytes: meta.sizeBytes,
        etag: meta.etag,
        lastModifiedMs: meta.lastModifiedMs,
      };
    });
  }

  head(bucket: string, key: string): Promise<ObjectHead> {
    this.requests.get++;
    return this.#call('head', bucket, key, (backend) => backend.head(key));
  }

  put(
    bucket: string,
    key: string,
    body: Uint8Array,
    options: { readonly ifNoneMatch?: '*'; readonly ifMatch?: string } = {},
  ): Promise<{ etag: string; versionId?: string }> {
    this.requests.put++;
    return this.#call('put', bucket, key, (backend) => backend.put(key, Buffer.from(body), options));
  }

  list(request: ListRequest): Promise<ListPage> {
    this.requests.list++;
    return this.#call('list', request.bucket, request.prefix, async (backend) => {
      const page = await listPage(backend, request);
      const base = { objects: page.objects, commonPrefixes: page.commonPrefixes, truncated: page.truncated };
      return page.nextToken === undefined ? base : { ...base, continuationToken: page.nextToken };
    });
  }

  listVersions(request: Parameters<ObjectStore['listVersions']>[0]): Promise<VersionPage> {
    this.requests.list++;
    return this.#call('listVersions', request.bucket, request.prefix, async (backend) => {
      const all = [...(backend as MemoryBucket).scanVersions(request.prefix)];
      const start = firstAfter(all, request.keyMarker, request.versionIdMarker);
      const versions = all.slice(start, start + Math.min(request.maxKeys ?? 1000, 1000));
      const last = versions.at(-1);
      if (last === undefined || start + versions.length === all.length) return { versions, truncated: false };
      return { versions, truncated: true, nextKeyMarker: last.key, nextVersionIdMarker: last.versionId };
    });
  }

  deleteObjects(
    bucket: string,
    objects: readonly DeleteIdentifier[],
    options: { readonly checksum?: 'crc32' | 'md5' } = {},
  ): Promise<DeleteReply> {
    this.requests.delete++;
    const keys = objects.map((object) => object.key);
    return this.#call(
      'deleteObjects',
      bucket,
      keys[0] ?? '',
      async (backend) => {
        if (this.options.singleDeletesOnly) throw new S3Refusal(501, 'NotImplemented');
        if (this.options.requiresMd5 && options.checksum !== 'md5') throw new S3Refusal(400, 'MissingContentMD5');
        if (objects.length === 0 || objects.length > 1000) throw new S3Refusal(400, 'MalformedXML');
        const deleted: { key: string; versionId?: string; deleteMarker?: boolean }[] = [];
        const errors: { key: string; code: string; message: string }[] = [];
        for (const { key, etag } of objects) {
          try {
            const injected = this.options.keyError?.(key);
            if (injected !== undefined) throw new S3Refusal(200, injected);
            deleted.push({ key, ...(await backend.delete(key, this.#condition(etag))) });
          } catch (error) {
            if (!(error instanceof S3Refusal)) throw error;
            errors.push({ key, code: error.code, message: error.message });
          }
        }
        return { deleted, errors };
      },
      keys,
    );
  }

  deleteObject(
    bucket: string,
    key: string,
    options: { readonly ifMatch?: string; readonly versionId?: string } = {},
  ): Promise<{ versionId?: string; deleteMarker?: boolean }> {
    this.requests.delete++;
    return this.#call(
      'deleteObject',
      bucket,
      key,
      (backend) => {
        const condition = this.#condition(options.ifMatch);
        return backend.delete(key, options.versionId === undefined ? condition : { versionId: options.versionId });
      },
      [key],
    );
  }

  versioning(bucket: string): Promise<Versioning> {
    return this.#call('versioning', bucket, '', async (backend) => backend.versioning() ?? 'Unversioned');
  }

  #condition(etag: string | undefined): { ifMatch?: string } {
    return etag === undefined || this.options.conditionalDeletes === false ? {} : { ifMatch: etag };
  }

  async #call<T>(
    operation: StoreOperation,
    bucket: string,
    key: string,
    work: (backend: BucketBackend) => Promise<T>,
    keys?: readonly string[],
  ): Promise<T> {
    const call = { operation, bucket, key, ...(keys === undefined ? {} : { keys }) };
    await this.options.onCall?.({ ...call, phase: 'before' });
    let answer: T;
    try {
      answer = await work(this.bucket(bucket));
    } catch (error) {
      throw error instanceof S3Refusal ? storeError(error) : error;
    }
    await this.options.onCall?.({ ...call, phase: 'after' });
    return answer;
  }
}

/** Index past the marker: past the very version where one is named, else past every version of the key. */
function firstAfter(
  all: readonly VersionMeta[],
  keyMarker: string | undefined,
  versionMarker: string | undefined,
): number {
  if (keyMarker === undefined) return 0;
  const named = all.findIndex(({ key, versionId }) => key === keyMarker && versionId === versionMarker);
  if (named >= 0) return named + 1;
  const next = all.findIndex(({ key }) => compareKeys(key, keyMarker) > 0);
  return next < 0 ? all.length : next;
}

/** The store error that a fault hook throws. */
export function storeFault(fault: StoreFault, message = `injected ${fault}`): StoreError {
  return new StoreError(fault, message);
}

function storeError({ status, code, message }: S3Refusal): StoreError {
  const faults: Readonly<Record<number, StoreFault>> = {
    403: 'AccessDenied',
    404: 'NotFound',
    405: 'NotImplemented',
    412: 'PreconditionFailed',
    501: 'NotImplemented',
    503: 'Throttled',
  };
  return new StoreError(faults[status] ?? (status >= 500 ? 'Unavailable' : 'BadRequest'), message, { code, status });
}
