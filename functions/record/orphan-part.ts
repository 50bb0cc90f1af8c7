/** One part of a run's full lists: the same rows as gzipped JSONL and as Parquet, with Spark's column name. */
import { gzipSync } from 'node:zlib';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { recordedPath } from '#shared/identity/references.ts';
import type { SettledKey } from '#shared/run/outcomes.ts';
import type { Plan } from '#shared/run/plan.ts';
import type { CandidateLine } from '#shared/run/receipts.ts';

/** By key; `left` for a batch that was never begun. */
export type BatchResults = ReadonlyMap<string, SettledKey> | 'left';

export interface OrphanRow {
  readonly line: CandidateLine;
  readonly path: string;
  /** What became of the file; undefined in a run that was to delete nothing. */
  readonly outcome?: string;
  readonly error?: string;
  readonly versionId?: string;
}

const LEFT: Pick<SettledKey, 'result' | 'code' | 'version_id'> = { result: 'left' };

/** `results`: what became of the batch's keys, unless simply deleted; undefined where nothing was to be deleted. */
export function rowOf(line: CandidateLine, results: BatchResults | undefined, plan: Plan): OrphanRow {
  const entry = results === 'left' ? LEFT : results?.get(line.key);
  const outcome = results === undefined ? undefined : (entry?.result ?? 'deleted');
  return {
    line,
    path: recordedPath(line.bucket, line.key, plan.identity),
    ...(outcome === undefined ? {} : { outcome }),
    ...(entry?.code === undefined ? {} : { error: entry.code }),
    ...(entry?.version_id === undefined ? {} : { versionId: entry.version_id }),
  };
}

export class OrphanPart {
  readonly #compressed: Buffer[] = [];
  readonly #columns = {
    path: [] as string[],
    size: [] as bigint[],
    modified: [] as Date[],
    kind: [] as string[],
    outcome: [] as string[],
  };

  get rows(): number {
    return this.#columns.path.length;
  }

  /** Members of a gzip file may follow each other: of the text only its compressed bytes are held. */
  add(rows: readonly OrphanRow[]): void {
    this.#compressed.push(gzipSync(rows.map(jsonLine).join('')));
    const { path, size, modified, kind, outcome } = this.#columns;
    for (const row of rows) {
      path.push(row.path);
      size.push(BigInt(row.line.size));
      modified.push(new Date(row.line.last_modified));
      kind.push(row.line.kind);
      outcome.push(row.outcome ?? '');
    }
  }

  jsonl(): Buffer {
    return Buffer.concat(this.#compressed);
  }

  parquet(): Buffer {
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

function jsonLine({ line, path, outcome, error, versionId }: OrphanRow): string {
  return `${JSON.stringify({
    orphan_file_location: path,
    size_bytes: line.size,
    last_modified: line.last_modified,
    kind: line.kind,
    etag: line.etag,
    ...(outcome === undefined ? {} : { outcome }),
    ...(error === undefined ? {} : { error }),
    ...(versionId === undefined ? {} : { version_id: versionId }),
  })}\n`;
}
