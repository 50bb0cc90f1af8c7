/** Names that cannot be told apart, and strangers below the roots: such a run ends in a refusal, never in a delete. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { ALLOW_ALL, lostFiles, type OrphanWorld, orphanWorld } from '#test/support/orphan-world.ts';
import { RunWorld } from '#test/support/run-world.ts';
import type { TableWriterOptions } from '#test/support/table-writer.ts';

async function refuses({ world }: Pick<OrphanWorld, 'world'>, error: string, evidence: RegExp): Promise<void> {
  const before = world.keys();
  const { record, failure } = await world.run(ALLOW_ALL);
  assert.equal(failure?.error, error, JSON.stringify(record.gates));
  assert.match(failure?.cause ?? '', evidence);
  assert.equal(record.deleted_files_count, 0);
  assert.deepEqual(world.keys(), before);
}

async function tableWithOrphan(options: Partial<TableWriterOptions>) {
  const world = new RunWorld();
  const table = await world.table(options);
  await table.append(3);
  world.tables.seed('b', 'wh/t/data/orphan.parquet', Buffer.from('orphan'), world.writeMs);
  return { world, table };
}

test('FF-06 a log of another format deep below a root', async () => {
  const made = await orphanWorld(1);
  made.world.tables.seed('b', 'wh/t/data/a/b/_delta_log/00000.json', Buffer.from('{}'), made.world.writeMs);

  await refuses(made, 'LocationConflictError', /_delta_log/);
});

test('FF-01 a metadata file of another table among the data', async () => {
  const made = await orphanWorld(1);
  const other = await made.world.table({ location: 's3://b/wh/t/data/nested', seed: 5 });
  await other.append(1);

  await refuses(made, 'LocationConflictError', /foreign_uuid/);
});

test('paths recorded with another bucket over our keys', async () => {
  const made = await tableWithOrphan({
    spell: (path) => (path.endsWith('.parquet') ? path.replace('s3://b/', 's3://copy/') : path),
  });

  await refuses(made, 'PrefixMismatchError', /s3:\/\/copy/);
});

test('paths recorded under a spelling of a root that was not listed', async () => {
  const made = await tableWithOrphan({
    spell: (path) => (path.endsWith('.parquet') ? path.replace('/data/', '/d%61ta/') : path),
  });

  await refuses(made, 'ListingIncompleteError', /d%61ta/);
});

test('an alias protects the file under its recorded name and the one under its mapped name', async () => {
  const world = new RunWorld();
  const table = await world.table();
  await table.append(1, { names: ['old/f.parquet'] });
  const twin = 'wh/t/data/new/f.parquet';
  for (const key of [twin, 'wh/t/data/orphan.parquet']) world.tables.seed('b', key, Buffer.from(key), world.writeMs);

  const { record } = await world.run({
    ...ALLOW_ALL,
    path_aliases: { 's3://b/wh/t/data/old': 's3://b/wh/t/data/new' },
  });

  assert.equal(record.deleted_files_count, 1, JSON.stringify(record.gates));
  assert.deepEqual(lostFiles({ world, table }), []);
  assert.ok(world.keys().includes(twin));
});
