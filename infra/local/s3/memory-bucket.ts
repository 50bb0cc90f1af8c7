/** A bucket in memory, with versions and delete markers. */
import { createHash } from 'node:crypto';
import { compareKeys } from '#shared/storage/key-order.ts';
import {
  type BucketBackend,
  type DeleteAnswer,
  noSuchKey,
  type PutConditions,
  preconditionFailed,
  S3Refusal,
  type StoredMeta,
  type VersionMeta,
} from './backend.ts';

interface Version {
  readonly versionId: string;
  /** Undefined: a delete marker. */
  readonly body?: Buffer;
  readonly sizeBytes: number;
  readonly etag: string;
  readonly lastModifiedMs: number;
}

export interface MemoryBucketOptions {
  readonly now?: () => number;
  readonly versioning?: 'Enabled' | 'Suspended';
}

const NULL_VERSION = 'null';

export class MemoryBucket implements BucketBackend {
  readonly #now: () => number;
  #versioning: 'Enabled' | 'Suspended' | undefined;
  /** Newest version first; empty where everything was deleted, so that the sorted keys need no change. */
  readonly #objects = new Map<string, Version[]>();
  readonly #tags = new Map<string, ReadonlyMap<string, string>>();
  #sorted: string[] | undefined = [];
  #emptied = 0;
  #versionCount = 0;

  constructor(options: MemoryBucketOptions = {}) {
    this.#now = options.now ?? Date.now;
    this.#versioning = options.versioning;
  }

  /** Puts an object of any age, without conditions; a number stands for that many zero bytes that are never made. */
  seed(key: string, body: Buffer | number, lastModifiedMs: number): void {
    const sizeBytes = typeof body === 'number' ? body : body.length;
    const etag = typeof body === 'number' ? etagOf(Buffer.from(`${key}:${body}`)) : etagOf(body);
    this.#push(key, {
      versionId: this.#nextVersionId(),
      body: typeof body === 'number' ? Buffer.alloc(0) : body,
      sizeBytes,
      etag,
      lastModifiedMs,
    });
  }

  async head(key: string, versionId?: string): Promise<StoredMeta> {
    return this.#meta(key, this.#find(key, versionId));
  }

  async read(key: string, start: number, end: number, versionId?: string): Promise<Buffer> {
    return (this.#find(key, versionId).body as Buffer).subarray(start, end);
  }

  async put(key: string, body: Buffer, conditions: PutConditions): Promise<StoredMeta> {
    const current = this.#current(key);
    if (conditions.ifNoneMatch === '*' && current !== undefined) throw preconditionFailed();
    if (conditions.ifMatch !== undefined) {
      if (current === undefined) throw noSuchKey(key);
      if (current.etag !== conditions.ifMatch) throw preconditionFailed();
    }
    const version = {
      versionId: this.#nextVersionId(),
      body: Buffer.from(body),
      sizeBytes: body.length,
      etag: etagOf(body),
      lastModifiedMs: this.#now(),
    };
    this.#push(key, version);
    return this.#meta(key, version);
  }

  async delete(
    key: string,
    options: { readonly ifMatch?: string; readonly versionId?: string },
  ): Promise<DeleteAnswer> {
    if (options.versionId !== undefined) return this.#deleteVersion(key, options.versionId);
    const current = this.#current(key);
    if (options.ifMatch !== undefined) {
      if (current === undefined) throw noSuchKey(key);
      if (options.ifMatch !== '*' && current.etag !== options.ifMatch) throw preconditionFailed();
    }
    if (this.#versioning === undefined) {
      if (current !== undefined) this.#keep(key, []);
      return {};
    }
    const versionId = this.#nextVersionId();
    this.#push(key, { versionId, sizeBytes: 0, etag: '', lastModifiedMs: this.#now() });
    return { versionId, deleteMarker: true };
  }

  *scan(prefix: string, after: string | undefined, delimiter?: string): Iterable<StoredMeta> {
    const keys = this.#keys();
    for (let index = lowerBound(keys, prefix, after); index < keys.length; index++) {
      const key = keys[index] as string;
      if (!key.startsWith(prefix)) return;
      const current = this.#current(key);
      if (current === undefined) continue;
      yield this.#meta(key, current);
      const end = delimiter ? key.indexOf(delimiter, prefix.length) : -1;
      if (end >= 0) index = firstBeyond(keys, key.slice(0, end + (delimiter as string).length), index) - 1;
    }
  }

  *scanVersions(prefix: string): Iterable<VersionMeta> {
    const keys = this.#keys();
    for (let at = lowerBound(keys, prefix, undefined); at < keys.length; at++) {
      const key = keys[at] as string;
      if (!key.startsWith(prefix)) return;
      for (const [index, version] of (this.#objects.get(key) ?? []).entries()) {
        yield {
          ...this.#meta(key, version),
          versionId: version.versionId,
          isLatest: index === 0,
          isDeleteMarker: version.body === undefined,
        };
      }
    }
  }

  versioning(): 'Enabled' | 'Suspended' | undefined {
    return this.#versioning;
  }

  setVersioning(status: 'Enabled' | 'Suspended'): void {
    this.#versioning = status;
  }

  tags(key: string): ReadonlyMap<string, string> {
    this.#find(key);
    return this.#tags.get(key) ?? new Map();
  }

  setTags(key: string, tags: ReadonlyMap<string, string>): void {
    this.#find(key);
    this.#tags.set(key, tags);
  }

  #deleteVersion(key: string, versionId: string): DeleteAnswer {
    const versions = this.#objects.get(key) ?? [];
    const version = versions.find((candidate) => candidate.versionId === versionId);
    if (version === undefined) return { versionId };
    this.#keep(
      key,
      versions.filter((candidate) => candidate !== version),
    );
    return version.body === undefined ? { versionId, deleteMarker: true } : { versionId };
  }

  #keep(key: string, versions: Version[]): void {
    this.#objects.set(key, versions);
    this.#tags.delete(key);
    if (versions.length > 0) return;
    this.#emptied++;
    if (this.#emptied * 2 < this.#objects.size) return;
    for (const [name, left] of this.#objects) if (left.length === 0) this.#objects.delete(name);
    this.#emptied = 0;
    this.#sorted = undefined;
  }

  #nextVersionId(): string {
    return this.#versioning === 'Enabled' ? `v${String(++this.#versionCount).padStart(12, '0')}` : NULL_VERSION;
  }

  #push(key: string, version: Version): void {
    const before = this.#objects.get(key);
    if (before === undefined) {
      const sorted = this.#sorted;
      // Keys often come in order: then the sorted list only grows.
      if (sorted !== undefined && (sorted.length === 0 || compareKeys(sorted.at(-1) as string, key) < 0))
        sorted.push(key);
      else this.#sorted = undefined;
    }
    if (before?.length === 0) this.#emptied--;
    this.#tags.delete(key);
    const kept = (before ?? []).filter((candidate) => candidate.versionId !== version.versionId);
    this.#objects.set(key, this.#versioning === undefined ? [version] : [version, ...kept]);
  }

  #keys(): string[] {
    this.#sorted ??= [...this.#objects.keys()].sort(compareKeys);
    return this.#sorted;
  }

  #current(key: string): Version | undefined {
    const [latest] = this.#objects.get(key) ?? [];
    return latest?.body === undefined ? undefined : latest;
  }

  #find(key: string, versionId?: string): Version {
    const version =
      versionId === undefined
        ? this.#current(key)
        : this.#objects.get(key)?.find((candidate) => candidate.versionId === versionId);
    if (version === undefined) {
      throw versionId === undefined ? noSuchKey(key) : new S3Refusal(404, 'NoSuchVersion', `No such version of ${key}`);
    }
    if (version.body === undefined) throw new S3Refusal(405, 'MethodNotAllowed', 'That version is a delete marker');
    return version;
  }

  #meta(key: string, version: Version): StoredMeta {
    const { sizeBytes, etag, lastModifiedMs, versionId } = version;
    const base = { key, sizeBytes, etag, lastModifiedMs };
    return this.#versioning === undefined ? base : { ...base, versionId };
  }
}

function etagOf(body: Buffer): string {
  return `"${createHash('md5').update(body).digest('hex')}"`;
}

/** First index whose key may have the prefix and lies strictly after `after`. */
function lowerBound(keys: readonly string[], prefix: string, after: string | undefined): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const key = keys[middle] as string;
    const before = compareKeys(key, prefix) < 0 || (after !== undefined && compareKeys(key, after) <= 0);
    if (before) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** First index from `from` whose key does not begin with the prefix; the one at `from` does. */
function firstBeyond(keys: readonly string[], prefix: string, from: number): number {
  let low = from;
  let high = keys.length;
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if ((keys[middle] as string).startsWith(prefix)) low = middle;
    else high = middle;
  }
  return high;
}
