/**
 * Directories as a bucket. A *plain* bucket shows the user's own directories: keys are file names as they are, below the
 * mounted directories only, regular files only, no link is ever followed. A *managed* bucket is our own: any key fits, since
 * names that a file system cannot carry are escaped.
 */
import { createHash, randomUUID } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import { link, lstat, mkdir, open, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
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
import { compareKeys } from './byte-order.ts';
import { managedNames, type NameRule, plainNames } from './file-names.ts';

export interface DirectoryBucketOptions {
  /** Key prefix '' lies here. */
  readonly directory: string;
  /** Only keys under one of these key prefixes (each ends with `/`) are served. Absent: all. */
  readonly mounts?: () => readonly string[];
  readonly managed?: boolean;
}

export class DirectoryBucket implements BucketBackend {
  readonly #directory: string;
  readonly #mounts: (() => readonly string[]) | undefined;
  readonly #names: NameRule;
  readonly #tags = new Map<string, ReadonlyMap<string, string>>();
  /** Conditional writes of this process go one after another. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(options: DirectoryBucketOptions) {
    this.#directory = options.directory;
    this.#mounts = options.mounts;
    this.#names = options.managed === true ? managedNames : plainNames;
  }

  async head(key: string): Promise<StoredMeta> {
    return metaOf(key, await this.#stat(key));
  }

  async read(key: string, start: number, end: number): Promise<Buffer> {
    await this.#stat(key);
    const file = await open(this.#path(key), 'r').catch(() => {
      throw noSuchKey(key);
    });
    try {
      const bytes = Buffer.alloc(Math.max(0, end - start));
      let filled = 0;
      while (filled < bytes.length) {
        const { bytesRead } = await file.read(bytes, filled, bytes.length - filled, start + filled);
        if (bytesRead === 0) break;
        filled += bytesRead;
      }
      return bytes.subarray(0, filled);
    } finally {
      await file.close();
    }
  }

  put(key: string, body: Buffer, conditions: PutConditions): Promise<StoredMeta> {
    return this.#oneByOne(async () => {
      const path = this.#path(key);
      const current = await this.#stat(key).catch(() => undefined);
      if (conditions.ifMatch !== undefined) {
        if (current === undefined) throw noSuchKey(key);
        if (metaOf(key, current).etag !== conditions.ifMatch) throw preconditionFailed();
      }
      if (conditions.ifNoneMatch === '*' && current !== undefined) throw preconditionFailed();
      await mkdir(dirname(path), { recursive: true });
      const temporary = join(dirname(path), `${this.#names.temporary}${randomUUID()}`);
      await writeFile(temporary, body, { flush: true });
      try {
        if (conditions.ifNoneMatch === '*') {
          // A link fails where the name exists, also against another process.
          await link(temporary, path);
          await rm(temporary);
        } else await rename(temporary, path);
      } catch (error) {
        await rm(temporary, { force: true });
        throw (error as NodeJS.ErrnoException).code === 'EEXIST' ? preconditionFailed() : error;
      }
      return metaOf(key, await this.#stat(key));
    });
  }

  delete(key: string, options: { readonly ifMatch?: string; readonly versionId?: string }): Promise<DeleteAnswer> {
    if (options.versionId !== undefined && options.versionId !== 'null') {
      throw new S3Refusal(501, 'NotImplemented', 'A directory keeps no versions');
    }
    return this.#oneByOne(async () => {
      const current = await this.#stat(key).catch((error: unknown) => {
        if (error instanceof S3Refusal && error.status === 404) return undefined;
        throw error;
      });
      if (options.ifMatch !== undefined) {
        if (current === undefined) throw noSuchKey(key);
        if (options.ifMatch !== '*' && metaOf(key, current).etag !== options.ifMatch) throw preconditionFailed();
      }
      if (current !== undefined) await rm(this.#path(key), { force: true });
      return {};
    });
  }

  async *scan(prefix: string, after: string | undefined): AsyncIterable<StoredMeta> {
    const roots = this.#mounts?.() ?? [''];
    const starts = roots
      .filter((root) => root.startsWith(prefix) || prefix.startsWith(root))
      // Mounts may lie inside each other; each file is shown once.
      .filter((root, _, all) => !all.some((other) => other !== root && root.startsWith(other)))
      .sort(compareKeys);
    for (const root of starts) {
      const base = prefix.startsWith(root) ? prefix.slice(0, prefix.lastIndexOf('/') + 1) : root;
      yield* this.#walk(base, prefix, after);
    }
  }

  // biome-ignore lint/correctness/useYield: a directory has no versions to yield.
  async *scanVersions(): AsyncIterable<VersionMeta> {
    throw new S3Refusal(501, 'NotImplemented', 'A directory keeps no versions');
  }

  versioning(): undefined {
    return undefined;
  }

  setVersioning(): void {
    throw new S3Refusal(501, 'NotImplemented', 'A directory keeps no versions');
  }

  tags(key: string): ReadonlyMap<string, string> {
    return this.#tags.get(key) ?? new Map();
  }

  setTags(key: string, tags: ReadonlyMap<string, string>): void {
    this.#tags.set(key, tags);
  }

  /** Entries of one directory in the byte order of full keys: a directory sorts as its name and `/`. */
  async *#walk(base: string, prefix: string, after: string | undefined): AsyncIterable<StoredMeta> {
    const directory = base === '' ? this.#directory : join(this.#directory, this.#names.directory(base.slice(0, -1)));
    const entries = await readdir(directory, { withFileTypes: true, encoding: 'buffer' }).catch(vanished);
    const children: { readonly name: string; readonly isDirectory: boolean }[] = [];
    for (const entry of entries) {
      const name = this.#names.decode(entry.name, entry.isDirectory());
      if (name === undefined || !(entry.isFile() || entry.isDirectory())) continue;
      children.push({ name: base + (entry.isDirectory() ? `${name}/` : name), isDirectory: entry.isDirectory() });
    }
    children.sort((left, right) => compareKeys(left.name, right.name));
    for (const { name, isDirectory } of children) {
      if (isDirectory) {
        const relevant = name.startsWith(prefix) || prefix.startsWith(name);
        const ahead = after === undefined || compareKeys(name, after) > 0 || after.startsWith(name);
        if (relevant && ahead) yield* this.#walk(name, prefix, after);
        continue;
      }
      if (!name.startsWith(prefix) || (after !== undefined && compareKeys(name, after) <= 0)) continue;
      // The walk itself enters no link, so that the file's own kind is all there is to check.
      const path = join(this.#directory, this.#names.encode(name));
      const stat = await lstat(path, { bigint: true }).catch(() => undefined);
      if (stat?.isFile()) yield metaOf(name, stat);
    }
  }

  #path(key: string): string {
    const mounts = this.#mounts?.();
    if (mounts !== undefined && !mounts.some((mount) => key.startsWith(mount))) {
      throw new S3Refusal(403, 'AccessDenied', `No directory is mounted for ${key}`);
    }
    return join(this.#directory, this.#names.encode(key));
  }

  /** Only regular files exist; neither the file nor a directory above it may be a link. */
  async #stat(key: string): Promise<BigIntStats> {
    const path = this.#path(key);
    const stat = await lstat(path, { bigint: true }).catch(() => undefined);
    if (stat === undefined || !stat.isFile() || (await this.#throughLink(key))) throw noSuchKey(key);
    return stat;
  }

  /** Whether a directory between the mount and the file is a link. */
  async #throughLink(key: string): Promise<boolean> {
    const mount = this.#mounts?.().find((candidate) => key.startsWith(candidate));
    if (mount === undefined) return false;
    for (let end = key.indexOf('/', mount.length); end >= 0; end = key.indexOf('/', end + 1)) {
      const stat = await lstat(join(this.#directory, this.#names.directory(key.slice(0, end)))).catch(() => undefined);
      if (stat === undefined || !stat.isDirectory()) return true;
    }
    return false;
  }

  #oneByOne<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(work, work);
    this.#turn = result.catch(() => undefined);
    return result;
  }
}

function metaOf(key: string, stat: BigIntStats): StoredMeta {
  // Of what a file system knows of a file without reading it: any change of the content changes it.
  const identity = `${stat.size}-${stat.mtimeNs}-${stat.ctimeNs}-${stat.ino}`;
  return {
    key,
    sizeBytes: Number(stat.size),
    lastModifiedMs: Number(stat.mtimeNs / 1_000_000n),
    etag: `"${createHash('md5').update(identity).digest('hex')}"`,
  };
}

/** A directory that is gone holds nothing; one that may not be read must not look empty. */
function vanished(error: NodeJS.ErrnoException): [] {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return [];
  if (error.code === 'EACCES' || error.code === 'EPERM') throw new S3Refusal(403, 'AccessDenied', error.message);
  throw error;
}
