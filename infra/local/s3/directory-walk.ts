/** The files below a directory in the byte order of their full keys, a directory being read only where it is needed. */
import { isUtf8 } from 'node:buffer';
import type { BigIntStats } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { compareKeys } from '#shared/storage/key-order.ts';
import { isAbsence, refusalOf } from './file-errors.ts';
import type { NameRule } from './file-names.ts';

export interface WalkRequest {
  readonly prefix: string;
  /** Only keys strictly after it. */
  readonly after: string | undefined;
  /** True: of each directory below the prefix its first file is enough, as where a delimiter rolls it up. */
  readonly rolledUp: boolean;
}

export interface WalkedFile {
  readonly key: string;
  readonly stat: BigIntStats;
}

interface Child {
  /** Its part of the key, with `/` where it is a directory: that is how it sorts. */
  readonly name: string;
  /** Below the directory; bytes where it is no text. */
  readonly path: Path;
  readonly isDirectory: boolean;
}

type Path = string | Buffer;

function below(directory: Path, path: Path): Path {
  if (typeof directory === 'string' && typeof path === 'string') return join(directory, path);
  return Buffer.concat([Buffer.from(directory), Buffer.from('/'), Buffer.from(path)]);
}

/** Directories with more entries are worth keeping between the pages of one listing. */
const LARGE = 1000;
const MOST_KEPT = 8;
/** A change within one tick of the file system's clock would leave a directory's time as it was. */
const SETTLED_NS = 2_000_000_000n;

export class DirectoryWalk {
  readonly #names: NameRule;
  readonly #leftOut: string | undefined;
  readonly #kept = new Map<string, { readonly stamp: string; readonly children: readonly Child[] }>();

  /** `leftOut`: the key, with its final slash, of a directory that is never entered. */
  constructor(names: NameRule, leftOut?: string) {
    this.#names = names;
    this.#leftOut = leftOut;
  }

  /** `base` is the key prefix of `directory`, empty or with its final slash. */
  async *files(directory: Path, base: string, request: WalkRequest): AsyncIterable<WalkedFile> {
    const { prefix, after } = request;
    for (const child of await this.#children(directory)) {
      const key = base + child.name;
      if (key === this.#leftOut) continue;
      if (after !== undefined && compareKeys(key, after) <= 0 && !(child.isDirectory && after.startsWith(key)))
        continue;
      if (!child.isDirectory) {
        const stat = key.startsWith(prefix) ? await fileStat(below(directory, child.path)) : undefined;
        if (stat !== undefined) yield { key, stat };
      } else if (key.startsWith(prefix) || prefix.startsWith(key)) {
        for await (const file of this.files(below(directory, child.path), key, request)) {
          yield file;
          if (request.rolledUp && key.startsWith(prefix)) break;
        }
      }
    }
  }

  async #children(directory: Path): Promise<readonly Child[]> {
    const stat = await lstat(directory, { bigint: true }).catch(unlessAbsent);
    const stamp = `${stat?.ino}-${stat?.mtimeNs}-${stat?.ctimeNs}`;
    const kept = this.#kept.get(String(directory));
    if (kept?.stamp === stamp) return kept.children;
    this.#kept.delete(String(directory));
    const children = await this.#read(directory);
    children.sort((left, right) => compareKeys(left.name, right.name));
    const isSettled = stat !== undefined && BigInt(Date.now()) * 1_000_000n - stat.ctimeNs > SETTLED_NS;
    // A component that continues lies in directories whose changes this one's time does not show.
    if (children.length > LARGE && isSettled && children.every(({ path }) => !path.includes('/'))) {
      this.#kept.set(String(directory), { stamp, children });
      for (const oldest of [...this.#kept.keys()].slice(0, -MOST_KEPT)) this.#kept.delete(oldest);
    }
    return children;
  }

  async #read(directory: Path): Promise<Child[]> {
    const entries = await readdir(directory, { withFileTypes: true, encoding: 'buffer' }).catch(unlessAbsent);
    const children: Child[] = [];
    for (const entry of entries ?? []) {
      const isDirectory = entry.isDirectory();
      if (!isDirectory && !entry.isFile()) continue;
      const decoded = this.#names.decode(entry.name, isDirectory);
      if (decoded === undefined) continue;
      const path = isUtf8(entry.name) ? entry.name.toString('utf8') : entry.name;
      if (!decoded.continues) {
        children.push({ name: isDirectory ? `${decoded.text}/` : decoded.text, path, isDirectory });
        continue;
      }
      for (const rest of await this.#read(below(directory, path))) {
        children.push({ ...rest, name: decoded.text + rest.name, path: below(path, rest.path) });
      }
    }
    return children;
  }
}

/** The walk itself enters no link, so that the file's own kind is all there is to check. */
async function fileStat(path: Path): Promise<BigIntStats | undefined> {
  const stat = await lstat(path, { bigint: true }).catch(unlessAbsent);
  return stat?.isFile() ? stat : undefined;
}

/** What is gone is passed over; what may not be looked at must not look empty. */
function unlessAbsent(error: unknown): undefined {
  if (isAbsence(error)) return undefined;
  throw refusalOf(error);
}
