/** A whole deleting run over one table, judged by what is gone from the bucket. */
import assert from 'node:assert/strict';
import type { RunRecord } from '#shared/run/record.ts';
import { ALLOW_ALL, lostFiles } from './orphan-world.ts';
import { RunWorld } from './run-world.ts';
import type { TableWriter, TableWriterOptions } from './table-writer.ts';

export interface Swept {
  readonly world: RunWorld;
  readonly table: TableWriter;
}

/** A table at `s3://b/wh/t` with one append, all of it old. */
export async function tableWith(options: Partial<TableWriterOptions> = {}, files = 2): Promise<Swept> {
  const world = new RunWorld();
  const table = await world.table(options);
  if (files > 0) await table.append(files);
  return { world, table };
}

/** Puts old files that no metadata names, below the table; gives their keys. */
export function stray({ world, table }: Swept, ...paths: readonly string[]): string[] {
  const keys = paths.map((path) => table.prefix + path);
  for (const key of keys) world.tables.seed('b', key, Buffer.from(key), world.writeMs);
  return keys;
}

/** Runs and asserts that exactly these keys are gone, in the bucket and in the record, and nothing that is referenced. */
export async function sweep(
  { world, table }: Swept,
  gone: readonly string[],
  input: Readonly<Record<string, unknown>> = {},
): Promise<RunRecord> {
  const before = world.keys();
  const { record, failure } = await world.run({ ...ALLOW_ALL, ...input });
  assert.equal(failure, undefined, `${failure?.error}: ${failure?.cause}`);
  const after = new Set(world.keys());
  assert.deepEqual(before.filter((key) => !after.has(key)).sort(), [...gone].sort());
  assert.equal(record.verdict, gone.length === 0 ? 'NOTHING_TO_DO' : 'DELETED');
  assert.equal(record.deleted_files_count, gone.length);
  assert.deepEqual(lostFiles({ world, table }), []);
  return record;
}

/** Runs and asserts that the run ends by this error with every key still there. */
export async function refuses(
  { world }: Pick<Swept, 'world'>,
  error: string,
  input: Readonly<Record<string, unknown>> = {},
): Promise<RunRecord> {
  const before = world.keys();
  const { record } = await world.run({ ...ALLOW_ALL, ...input });
  assert.equal(record.error, error, `${record.verdict} ${record.cause}`);
  assert.deepEqual(world.keys(), before);
  assert.equal(record.deleted_files_count, 0);
  return record;
}
