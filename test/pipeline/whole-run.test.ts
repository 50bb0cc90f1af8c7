import assert from 'node:assert/strict';
import test from 'node:test';
import { DAY_MS, RunWorld, START_MS } from '#test/support/run-world.ts';

/** A table with every kind of file, and old orphans of every kind. */
async function busyWorld() {
  const world = new RunWorld();
  const table = await world.table();
  await table.append(3);
  await table.overwrite(2);
  await table.branch('audit');
  await table.append(2);
  await table.stage(1);
  await table.positionDelete();
  await table.addStatistics();
  const orphans = await table.plantOrphans();
  return { world, table, orphans };
}

test('a run deletes every planted orphan and nothing that the table references', async () => {
  const { world, table } = await busyWorld();
  const before = world.keys();

  const { record, failure } = await world.run({ max_orphan_percent: 100 });

  assert.equal(failure, undefined);
  assert.equal(record.verdict, 'DELETED', JSON.stringify(record, null, 1));
  const after = new Set(world.keys());
  const lost = [...table.referenced()].filter((key) => !after.has(key));
  assert.deepEqual(lost, []);
  assert.equal(before.length - after.size, record.deleted_files_count);
  assert.ok(record.deleted_files_count > 0);
});

test('a second run finds nothing to do', async () => {
  const { world } = await busyWorld();
  await world.run({ max_orphan_percent: 100 });
  world.nowMs += DAY_MS;

  const { record } = await world.run({ max_orphan_percent: 100 });

  assert.equal(record.verdict, 'NOTHING_TO_DO');
});

test('CS-09 a dry run lists what a run deletes, and its plan can be deleted later', async () => {
  const { world } = await busyWorld();
  const before = world.keys();
  const dry = await world.run({ dry_run: true, max_orphan_percent: 100 }, 'dry');
  assert.equal(dry.record.verdict, 'DRY_RUN');
  assert.deepEqual(world.keys(), before);

  world.nowMs = START_MS + 2 * DAY_MS;
  const later = await world.run({ plan: 'dry', max_orphan_percent: 100 }, 'later');

  assert.equal(later.record.verdict, 'DELETED', JSON.stringify(later.failure));
  assert.equal(later.record.deleted_files_count, dry.record.orphan_files_count);
  const again = await world.run({ plan: 'dry' }, 'again');
  assert.equal(again.record.error, 'PlanNotDeletableError');
});
