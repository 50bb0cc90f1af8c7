/** The counts over all orphans of a run that its report shows, and the first few of them. */
import { writeOperation } from '#shared/iceberg/file-kind.ts';
import type { CandidateLine } from '#shared/run/receipts.ts';
import type { OrphanRow } from './orphan-part.ts';
import type { NamedTally, OriginTally, SampleFile } from './report/report-view.ts';

const MOST_SAMPLE = 2000;
const MOST_ORIGINS = 200;
const DAY_MS = 86_400_000;

const AGES: readonly (readonly [string, number])[] = [
  ['under 7 days', 7],
  ['7 to 30 days', 30],
  ['30 to 90 days', 90],
  ['90 days to a year', 365],
  ['over a year', Number.POSITIVE_INFINITY],
];
const SIZES: readonly (readonly [string, number])[] = [
  ['under 64 KiB', 2 ** 16],
  ['64 KiB to 1 MiB', 2 ** 20],
  ['1 to 16 MiB', 2 ** 24],
  ['16 to 128 MiB', 2 ** 27],
  ['128 MiB to 1 GiB', 2 ** 30],
  ['over 1 GiB', Number.POSITIVE_INFINITY],
];

interface Running {
  files: number;
  bytes: number;
}

/** Takes the orphans one by one. Memory holds bounded tallies and samples. */
export class OrphanWalk {
  rows = 0;
  readonly first: CandidateLine[] = [];
  readonly sample: SampleFile[] = [];
  readonly #t0: number;
  readonly #ages = AGES.map(() => ({ files: 0, bytes: 0 }));
  readonly #sizes = SIZES.map(() => ({ files: 0, bytes: 0 }));
  readonly #origins = new Map<string, Running & { first: string; last: string; example: string }>();

  constructor(t0: number) {
    this.#t0 = t0;
  }

  take({ line, path, outcome }: OrphanRow): void {
    this.rows++;
    if (this.first.length < 20) this.first.push(line);
    if (this.sample.length < MOST_SAMPLE) {
      const file = { path, bytes: line.size, last_modified: line.last_modified, kind: line.kind };
      this.sample.push(outcome === undefined ? file : { ...file, outcome });
    }
    const days = (this.#t0 - Date.parse(line.last_modified)) / DAY_MS;
    grow(this.#ages[AGES.findIndex(([, limit]) => days < limit)], line.size);
    grow(this.#sizes[SIZES.findIndex(([, limit]) => line.size < limit)], line.size);
    this.#origin(line, path);
  }

  #origin(line: CandidateLine, path: string): void {
    const operation = writeOperation(line.key);
    if (operation === null) return;
    const known = this.#origins.get(operation);
    if (known === undefined) {
      if (this.#origins.size >= 20_000) return;
      this.#origins.set(operation, {
        files: 1,
        bytes: line.size,
        first: line.last_modified,
        last: line.last_modified,
        example: path,
      });
      return;
    }
    grow(known, line.size);
    if (line.last_modified < known.first) known.first = line.last_modified;
    if (line.last_modified > known.last) known.last = line.last_modified;
  }

  get ages(): NamedTally[] {
    return AGES.map(([name], index) => ({ name, ...(this.#ages[index] as Running) }));
  }

  get sizes(): NamedTally[] {
    return SIZES.map(([name], index) => ({ name, ...(this.#sizes[index] as Running) }));
  }

  get origins(): OriginTally[] {
    return [...this.#origins]
      .map(([name, tally]) => ({ name, writer: 'write operation', ...tally }))
      .sort((left, right) => right.bytes - left.bytes)
      .slice(0, MOST_ORIGINS);
  }
}

function grow(tally: Running | undefined, bytes: number): void {
  if (tally === undefined) return;
  tally.files++;
  tally.bytes += bytes;
}
