/** Kinds of references that few tables have, each alone in a table that is cleaned. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { ALLOW_ALL, lostFiles } from '#test/support/orphan-world.ts';
import { DAY_MS, RunWorld } from '#test/support/run-world.ts';

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

test('CO-07 a later version than the named one, whatever its file’s age', async () => {
  const world = new RunWorld();
  const table = await world.table();
  await table.append(1);
  const named = table.metadataFile?.recorded as string;
  // A copy tool may give any times: the later file looks older than the one that was named.
  world.writeMs -= 10 * DAY_MS;
  await table.append(1);
  world.tables.seed('b', 'wh/t/data/orphan.parquet', Buffer.from('orphan'), world.writeMs);

  const { record } = await world.run({ ...ALLOW_ALL, metadata_location: named });

  assert.equal(record.deleted_files_count, 1, JSON.stringify(record.gates));
  assert.deepEqual(lostFiles({ world, table }), []);
});
