/** Between the look and the request an object may be replaced: the condition of the request itself must hold it. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { ALLOW_ALL, orphanWorld } from '#test/support/orphan-world.ts';

for (const [form, names] of [
  ['deleteObjects', ['orphan-a.parquet', 'orphan-b.parquet', 'orphan-c.parquet']],
  // Keys that XML cannot carry go singly.
  ['deleteObject', ['orphan-\u0001.parquet', 'orphan-\u0002.parquet', 'orphan-\u0003.parquet']],
] as const) {
  test(`an object that is replaced while ${form} is on its way stays`, async () => {
    const { world, orphans } = await orphanWorld(names);
    let replaced = false;
    world.tables.options = {
      ...world.tables.options,
      onCall: ({ operation, key, phase }) => {
        if (operation !== form || phase !== 'before' || replaced || !key.startsWith('wh/t/data/orphan')) return;
        replaced = true;
        world.tables.seed('b', orphans[0] as string, Buffer.from('another'), world.nowMs);
      },
    };

    const { record } = await world.run(ALLOW_ALL);

    assert.deepEqual(world.keys('wh/t/data/orphan'), [orphans[0]]);
    assert.deepEqual([record.deleted_files_count, record.changed_files_count], [2, 1]);
  });
}
