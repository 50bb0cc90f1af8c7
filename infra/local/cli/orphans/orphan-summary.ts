/** What the list of orphans comes to: counted once while it streams by, in memory that does not grow with it. */
import type { OrphanLine } from './orphan-line.ts';

export interface KindTotal {
  readonly name: string;
  readonly files: number;
  readonly bytes: number;
}

export interface OrphanSummary {
  readonly files: number;
  readonly bytes: number;
  /** ISO 8601; null without orphans. */
  readonly oldest: string | null;
  readonly newest: string | null;
  /** Largest first. */
  readonly kinds: readonly KindTotal[];
  /** Up to three paths, of different folders where there are such. */
  readonly sample: readonly string[];
}

const SAMPLE = 3;

const folderOf = (path: string): string => path.slice(0, path.lastIndexOf('/') + 1);

/** Collects lines and gives their summary. Times compare as ISO 8601 text in UTC, which sorts as time does. */
export class OrphanCounter {
  #files = 0;
  #bytes = 0;
  #oldest: string | null = null;
  #newest: string | null = null;
  readonly #kinds = new Map<string, { files: number; bytes: number }>();
  readonly #sample: string[] = [];
  readonly #spare: string[] = [];

  add(line: OrphanLine): void {
    this.#files += 1;
    this.#bytes += line.size_bytes;
    if (this.#oldest === null || line.last_modified < this.#oldest) this.#oldest = line.last_modified;
    if (this.#newest === null || line.last_modified > this.#newest) this.#newest = line.last_modified;
    const kind = this.#kinds.get(line.kind) ?? { files: 0, bytes: 0 };
    kind.files += 1;
    kind.bytes += line.size_bytes;
    this.#kinds.set(line.kind, kind);
    this.#sampleOf(line.orphan_file_location);
  }

  /** Paths of different folders say more than three neighbours do. */
  #sampleOf(path: string): void {
    const folder = folderOf(path);
    if (this.#sample.length < SAMPLE && !this.#sample.some((known) => folderOf(known) === folder))
      this.#sample.push(path);
    else if (this.#spare.length < SAMPLE) this.#spare.push(path);
  }

  summary(): OrphanSummary {
    const kinds = [...this.#kinds].map(([name, total]) => ({ name, ...total }));
    return {
      files: this.#files,
      bytes: this.#bytes,
      oldest: this.#oldest,
      newest: this.#newest,
      kinds: kinds.sort((a, b) => b.files - a.files || (a.name < b.name ? -1 : 1)),
      sample: [...this.#sample, ...this.#spare].slice(0, SAMPLE),
    };
  }
}
