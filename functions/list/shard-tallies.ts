/** Everything that a listing shard counts. Plain data in and out, so that a continued shard goes on from its numbers. */
import type { ClassTallies, FileClass, FileGroup, ListReceipt, Tally } from '#shared/run/receipts.ts';

const MOST_NAMED = 20;
const MOST_PREFIXES = 200;
const CLASSES: readonly FileClass[] = ['referenced', 'protected', 'undated', 'young', 'waiting', 'candidate'];

export type ShardCounts = Pick<
  ListReceipt,
  | 'listed'
  | 'folder_markers'
  | 'classes'
  | 'superseded'
  | 'foreign'
  | 'foreign_count'
  | 'other_formats'
  | 'other_formats_count'
  | 'dot_segments'
  | 'dot_segments_count'
  | 'candidate_kinds'
  | 'candidate_prefixes'
>;

interface Running {
  files: number;
  bytes: number;
}

function running(tally: Tally = { files: 0, bytes: 0 }): Running {
  return { files: tally.files, bytes: tally.bytes };
}

function grow(tally: Running, bytes: number): void {
  tally.files++;
  tally.bytes += bytes;
}

export class ShardTallies {
  readonly #listed: Running;
  readonly #classes: Record<FileClass, Record<FileGroup, Running>>;
  readonly #superseded: Running;
  readonly #kinds: Map<string, Running>;
  readonly #prefixes: Map<string, Running>;
  readonly #foreign: ListReceipt['foreign'][number][];
  readonly #otherFormats: string[];
  readonly #dotSegments: string[];
  #markers: number;
  #foreignCount: number;
  #otherFormatsCount: number;
  #dotSegmentsCount: number;

  constructor(before?: ShardCounts) {
    this.#listed = running(before?.listed);
    this.#classes = Object.fromEntries(
      CLASSES.map((name) => [
        name,
        { content: running(before?.classes[name].content), metadata: running(before?.classes[name].metadata) },
      ]),
    ) as Record<FileClass, Record<FileGroup, Running>>;
    this.#superseded = running(before?.superseded);
    this.#kinds = mapOf(before?.candidate_kinds);
    this.#prefixes = mapOf(before?.candidate_prefixes);
    this.#foreign = [...(before?.foreign ?? [])];
    this.#otherFormats = [...(before?.other_formats ?? [])];
    this.#dotSegments = [...(before?.dot_segments ?? [])];
    this.#markers = before?.folder_markers ?? 0;
    this.#foreignCount = before?.foreign_count ?? 0;
    this.#otherFormatsCount = before?.other_formats_count ?? 0;
    this.#dotSegmentsCount = before?.dot_segments_count ?? 0;
  }

  marker(): void {
    this.#markers++;
  }

  file(fileClass: FileClass, group: FileGroup, bytes: number): void {
    grow(this.#listed, bytes);
    grow(this.#classes[fileClass][group], bytes);
  }

  /** Further counts of a file that was counted as a candidate. */
  candidate(kind: string, prefix: string, bytes: number, superseded: boolean): void {
    grow(entryOf(this.#kinds, kind), bytes);
    const named = this.#prefixes.has(prefix) || this.#prefixes.size < MOST_PREFIXES ? prefix : '';
    grow(entryOf(this.#prefixes, named), bytes);
    if (superseded) grow(this.#superseded, bytes);
  }

  foreign(file: ListReceipt['foreign'][number]): void {
    this.#foreignCount++;
    if (this.#foreign.length < MOST_NAMED) this.#foreign.push(file);
  }

  otherFormat(key: string): void {
    this.#otherFormatsCount++;
    if (this.#otherFormats.length < MOST_NAMED) this.#otherFormats.push(key);
  }

  dotSegment(key: string): void {
    this.#dotSegmentsCount++;
    if (this.#dotSegments.length < MOST_NAMED) this.#dotSegments.push(key);
  }

  get files(): number {
    return this.#listed.files;
  }

  counts(): ShardCounts {
    return {
      listed: this.#listed,
      folder_markers: this.#markers,
      classes: this.#classes as ClassTallies,
      superseded: this.#superseded,
      foreign: this.#foreign,
      foreign_count: this.#foreignCount,
      other_formats: this.#otherFormats,
      other_formats_count: this.#otherFormatsCount,
      dot_segments: this.#dotSegments,
      dot_segments_count: this.#dotSegmentsCount,
      candidate_kinds: Object.fromEntries(this.#kinds),
      candidate_prefixes: Object.fromEntries(this.#prefixes),
    };
  }
}

function mapOf(tallies: Readonly<Record<string, Tally>> = {}): Map<string, Running> {
  return new Map(Object.entries(tallies).map(([name, tally]) => [name, running(tally)]));
}

function entryOf(tallies: Map<string, Running>, name: string): Running {
  let tally = tallies.get(name);
  if (tally === undefined) {
    tally = running();
    tallies.set(name, tally);
  }
  return tally;
}
