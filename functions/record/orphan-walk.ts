/** One walk over the sealed candidates: the rows of both lists, and the counts that the report shows. */
import { gzipSync } from 'node:zlib';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { writeOperation } from '#shared/iceberg/file-kind.ts';
import { recordedPath } from '#shared/identity/references.ts';
import type { SettledKey } from '#shared/run/outcomes.ts';
import type { Plan } from '#shared/run/plan.ts';
import type { CandidateLine } from '#shared/run/receipts.ts';
import type { NamedTally, OriginTally, SampleFile } from './report/report-view.ts';

/** Rows in one Parquet file; beyond it the JSONL list is the only one. */
export const MOST_PARQUET_ROWS = 500_000;
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

/** By key; `left` for a batch that was never begun. */
export type BatchResults = ReadonlyMap<string, SettledKey> | 'left';

const LEFT: Pick<SettledKey, 'result' | 'code' | 'version_id'> = { result: 'left' };

/** Takes the candidates chunk by chunk. Memory holds the compressed list, Parquet's columns up to their limit, and tallies. */
export class OrphanWalk {
  rows = 0;
  readonly first: CandidateLine[] = [];
  readonly sample: SampleFile[] = [];
  readonly compressed: Buffer[] = [];
  readonly #plan: Plan;
  readonly #t0: number;
  readonly #ages = AGES.map(() => ({ files: 0, bytes: 0 }));
  readonly #sizes = SIZES.map(() => ({ files: 0, bytes: 0 }));
  readonly #origins = new Map<string, Running & { first: string; last: string; example: string }>();
  readonly #columns = {
    path: [] as string[],
    size: [] as bigint[],
    modified: [] as Date[],
    kind: [] as string[],
    outcome: [] as string[],
  };

  constructor(plan: Plan, t0: number) {
    this.#plan = plan;
    this.#t0 = t0;
  }

  /** `results`: what became of the batch's keys, unless simply deleted; undefined where nothing was to be deleted. */
  take(lines: readonly CandidateLine[], results: BatchResults | undefined): void {
    let text = '';
    for (const line of lines) {
      const path = recordedPath(line.bucket, line.key, this.#plan.identity);
      const entry = results === 'left' ? LEFT : results?.get(line.key);
      const outcome = results === undefined ? undefined : (entry?.result ?? 'deleted');
      text += `${JSON.stringify({
        orphan_file_location: path,
        size_bytes: line.size,
        last_modified: line.last_modified,
        kind: line.kind,
        etag: line.etag,
        ...(outcome === undefined ? {} : { outcome }),
        ...(entry?.code === undefined ? {} : { error: entry.code }),
        ...(entry?.version_id === undefined ? {} : { version_id: entry.version_id }),
      })}\n`;
      this.#count(line, path, outcome);
    }
    // Members of a gzip file may follow each other: nothing but their compressed bytes is held.
    this.compressed.push(gzipSync(text));
  }

  #count(line: CandidateLine, path: string, outcome: string | undefined): void {
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
    if (this.rows > MOST_PARQUET_ROWS) return;
    this.#columns.path.push(path);
    this.#columns.size.push(BigInt(line.size));
    this.#columns.modified.push(new Date(line.last_modified));
    this.#columns.kind.push(line.kind);
    this.#columns.outcome.push(outcome ?? '');
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

  parquet(): Buffer | undefined {
    if (this.rows === 0 || this.rows > MOST_PARQUET_ROWS) return undefined;
    const { path, size, modified, kind, outcome } = this.#columns;
    return Buffer.from(
      parquetWriteBuffer({
        columnData: [
          { name: 'orphan_file_location', data: path, type: 'STRING' },
          { name: 'size_bytes', data: size, type: 'INT64' },
          { name: 'last_modified', data: modified, type: 'TIMESTAMP' },
          { name: 'kind', data: kind, type: 'STRING' },
          { name: 'outcome', data: outcome, type: 'STRING' },
        ],
      }),
    );
  }
}

function grow(tally: Running | undefined, bytes: number): void {
  if (tally === undefined) return;
  tally.files++;
  tally.bytes += bytes;
}
