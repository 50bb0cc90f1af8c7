/** Kinds of references that few tables have, each alone in a table that is cleaned. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { ALLOW_ALL, lostFiles } from '#test/support/orphan-world.ts';
import { RunWorld } from '#test/support/run-world.ts';

test('CH-13 a v1 table whose snapshots name their manifests without a list', async () => {
  const world = new RunWorld();
  const table = await world.table({ formatVersion: 1, inlineManifests: true });
  await table.append(2);
  world.tables.seed('b', 'wh/t/data/orphan.parquet', Buffer.from('orphan'), world.writeMs);

  const { record } = await world.run(ALLOW_ALL);

  assert.equal(record.deleted_files_count, 1, JSON.stringify(record.gates));
  assert.deepEqual(lostFiles({ world, table }), []);
});

test('RE-02 partition statistics', async () => {
  const world = new RunWorld();
  const table = await world.table();
  await table.append(2);
  await table.addPartitionStatistics();
  world.tables.seed('b', 'wh/t/data/orphan.parquet', Buffer.from('orphan'), world.writeMs);

  const { record } = await world.run(ALLOW_ALL);

  assert.equal(record.deleted_files_count, 1, JSON.stringify(record.gates));
  assert.deepEqual(lostFiles({ world, table }), []);
});
