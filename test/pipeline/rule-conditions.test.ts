/** What holds when something comes between a look, its request, its answer and the note of it. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { deleteBatch } from '#functions/delete/delete-batch.ts';
import type { RunState } from '#shared/run/messages.ts';
import { restoreRun } from '#shared/run/restore.ts';
import { RunArtefacts } from '#shared/run/run-artefacts.ts';
import { storeFault } from '#test/support/memory-store.ts';
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

test('a request whose answer was never noted is settled by looking: counted once, its markers known to restore', async () => {
  const { world, orphans } = await orphanWorld(4, { versioned: true });
  let lost = false;
  world.work.options = {
    onCall: ({ operation, key, phase }) => {
      if (operation !== 'put' || phase !== 'before' || lost || !key.endsWith('/reply-0.json')) return;
      lost = true;
      throw storeFault('Unavailable');
    },
  };

  const { record } = await world.run(ALLOW_ALL);

  assert.ok(lost);
  assert.equal(record.deleted_files_count, orphans.length);
  const restored = await restoreRun(world.tables, new RunArtefacts(world.work, 'work', record.artefacts), 10);
  assert.equal(restored.restored, orphans.length);
  assert.deepEqual(world.keys('wh/t/data/orphan'), orphans);
});

test('a batch that is repeated after its outcome was written answers it, whatever has become of the run', async () => {
  const { world } = await orphanWorld(2);
  const { state } = await world.run(ALLOW_ALL);
  const step = { done: false, next: '', wait_seconds: 0 };

  // The lease was given back at the run's end: whoever asked for it now would end as lost.
  const answer = await deleteBatch({ run: state as RunState, item: { batch: 0 }, step }, world.ports);

  assert.deepEqual(answer, { done: true, next: '', wait_seconds: 0 });
});
