/**
 * Directories as a bucket. A *plain* bucket shows the user's own directories: keys are file names as they are, below the
 * mounted directories only, regular files only, no link is ever followed. A *managed* bucket is our own: any key fits, since
 * names that a file system cannot carry are escaped.
 */
import { createHash, randomUUID } from 'node:crypto';
import { type BigIntStats, constants } from 'node:fs';
import { access, copyFile, link, lstat, mkdir, open, rename, rm, unlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
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
import { DirectoryWalk } from './directory-walk.ts';
import { isAbsence, refusalOf, writeRefusalOf } from './file-errors.ts';
import { managedNames, type NameRule, plainNames } from './file-names.ts';

export interface DirectoryBucketOptions {
  /** Key prefix '' lies here. */
  readonly directory: string;
  /** Only keys under one of these key prefixes (each ends with `/`) are served. Absent: all. */
  readonly mounts?: () => readonly string[];
  readonly managed?: boolean;
  /** Key prefix, with its final slash, of a directory that listings do not show. */
  readonly leftOut?: string;
}

export class DirectoryBucket implements BucketBackend {
  readonly #directory: string;
  readonly #mounts: (() => readonly string[]) | undefined;
  readonly #names: NameRule;
  readonly #walk: DirectoryWalk;
  readonly #tags = new Map<string, ReadonlyMap<string, string>>();
  /** Conditional writes of this process go one after another. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(options: DirectoryBucketOptions) {
    this.#directory = options.directory;
    this.#mounts = options.mounts;
    this.#names = options.managed === true ? managedNames : plainNames;
    this.#walk = new DirectoryWalk(this.#names, options.leftOut);
  }

  async head(key: string): Promise<StoredMeta> {
    return metaOf(key, await this.#stat(key));
  }

  async read(key: string, start: number, end: number): Promise<Buffer> {
    await this.#stat(key);
    const file = await open(this.#path(key), constants.O_RDONLY | constants.O_NOFOLLOW).catch((error: unknown) => {
      throw isAbsence(error) ? noSuchKey(key) : refusalOf(error);
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
      const current = await this.#standing(key);
      if (conditions.ifMatch !== undefined) {
        if (current === undefined) throw noSuchKey(key);
        if (metaOf(key, current).etag !== conditions.ifMatch) throw preconditionFailed();
      }
      if (conditions.ifNoneMatch === '*' && current !== undefined) throw preconditionFailed();
      const temporary = join(dirname(path), `${this.#names.temporary}${randomUUID()}`);
      try {
        await mkdir(dirname(path), { recursive: true });
        await writeFile(temporary, body, { flush: true });
        if (conditions.ifNoneMatch === '*') await moveIfNothing(temporary, path);
        else await rename(temporary, path);
      } catch (error) {
        await rm(temporary, { force: true }).catch(() => undefined);
        throw writeRefusalOf(error);
      }
      this.#tags.delete(key);
      return metaOf(key, await this.#stat(key));
    });
  }

  delete(key: string, options: { readonly ifMatch?: string; readonly versionId?: string }): Promise<DeleteAnswer> {
    if (options.versionId !== undefined && options.versionId !== 'null') {
      throw new S3Refusal(501, 'NotImplemented', 'A directory keeps no versions');
    }
    return this.#oneByOne(async () => {
      // Asked before any condition, as S3 does: who may not delete here is told so even where there is nothing to delete.
      await access(dirname(this.#path(key)), constants.W_OK | constants.X_OK).catch((error: unknown) => {
        if (!isAbsence(error)) throw refusalOf(error);
      });
      const current = await this.#stat(key).catch((error: unknown) => {
        if (error instanceof S3Refusal && error.status === 404) return undefined;
        throw error;
      });
      if (options.ifMatch !== undefined) {
        if (current === undefined) throw noSuchKey(key);
        if (options.ifMatch !== '*' && metaOf(key, current).etag !== options.ifMatch) throw preconditionFailed();
      }
      if (current === undefined) return {};
      await unlink(this.#path(key)).catch((error: unknown) => {
        if (!isAbsence(error)) throw refusalOf(error);
      });
      this.#tags.delete(key);
      return {};
    });
  }

  async *scan(prefix: string, after: string | undefined, delimiter?: string): AsyncIterable<StoredMeta> {
    const roots = this.#mounts?.() ?? [''];
    const starts = roots
      .filter((root) => root.startsWith(prefix) || prefix.startsWith(root))
      // Mounts may lie inside each other; each file is shown once.
      .filter((root, _, all) => !all.some((other) => other !== root && root.startsWith(other)));
    for (const root of [...new Set(starts)].sort(compareKeys)) {
      const base = prefix.startsWith(root) ? directoryOf(prefix) : root;
      if ((await this.#above(base)) !== 'directories') continue;
      const directory = base === '' ? this.#directory : join(this.#directory, this.#names.directory(base.slice(0, -1)));
      const request = { prefix, after, rolledUp: delimiter === '/' };
      for await (const { key, stat } of this.#walk.files(directory, base, request)) yield metaOf(key, stat);
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

  #path(key: string): string {
    if (this.#mounts !== undefined && this.#mountOf(key) === undefined) {
      throw new S3Refusal(403, 'AccessDenied', `No directory is mounted for ${key}`);
    }
    return join(this.#directory, this.#names.encode(key));
  }

  #mountOf(key: string): string | undefined {
    return this.#mounts?.().find((mount) => key.startsWith(mount));
  }

  /** Only regular files exist; neither the file nor a directory above it may be a link. */
  async #stat(key: string): Promise<BigIntStats> {
    const path = this.#path(key);
    if ((await this.#above(key)) !== 'directories') throw noSuchKey(key);
    const stat = await lstat(path, { bigint: true }).catch((error: unknown) => {
      throw isAbsence(error) ? noSuchKey(key) : refusalOf(error);
    });
    if (!stat.isFile()) throw noSuchKey(key);
    return stat;
  }

  /** The file that a write would replace; a link is neither replaced nor written through. */
  async #standing(key: string): Promise<BigIntStats | undefined> {
    const path = this.#path(key);
    const above = await this.#above(key);
    if (above === 'another kind') throw new S3Refusal(403, 'AccessDenied', `${key} does not lie in plain directories`);
    const stat = await lstat(path, { bigint: true }).catch((error: unknown) => {
      if (!isAbsence(error)) throw refusalOf(error);
      return undefined;
    });
    if (stat === undefined || stat.isFile()) return stat;
    throw stat.isDirectory()
      ? new S3Refusal(400, 'InvalidArgument', `A directory of files cannot hold the key ${key}: it is a directory`)
      : new S3Refusal(403, 'AccessDenied', `${key} is no regular file`);
  }

  /** What stands between the mount and a key. Below a managed bucket's own directory nobody makes links. */
  async #above(key: string): Promise<'directories' | 'nothing' | 'another kind'> {
    const mount = this.#mountOf(key);
    if (mount === undefined) return 'directories';
    for (let end = key.indexOf('/', mount.length); end >= 0; end = key.indexOf('/', end + 1)) {
      const stat = await lstat(join(this.#directory, this.#names.directory(key.slice(0, end)))).catch(
        (error: unknown) => {
          if (!isAbsence(error)) throw refusalOf(error);
          return undefined;
        },
      );
      if (stat === undefined) return 'nothing';
      if (!stat.isDirectory()) return 'another kind';
    }
    return 'directories';
  }

  #oneByOne<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(work, work);
    this.#turn = result.catch(() => undefined);
    return result;
  }
}

/** The last directory of a prefix. What is shown below `./` lies in the directory itself. */
function directoryOf(prefix: string): string {
  const real = prefix.replace(/(^|\/)\.\/.*$/s, '$1');
  return real.slice(0, real.lastIndexOf('/') + 1);
}

/** A link fails where the name exists, also against another process; so does a copy, where a file system has no links. */
async function moveIfNothing(temporary: string, path: string): Promise<void> {
  const taken = (error: NodeJS.ErrnoException) => {
    throw error.code === 'EEXIST' ? preconditionFailed() : error;
  };
  await link(temporary, path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EEXIST') return taken(error);
    return copyFile(temporary, path, constants.COPYFILE_EXCL).catch(taken);
  });
  await rm(temporary);
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
