/** What holds when something comes between a look, its request, its answer and the note of it. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { deleteBatch } from '#functions/delete/delete-batch.ts';
import { parseDeployment } from '#shared/run/deployment.ts';
import { CLOCK_ALLOWANCE_MS } from '#shared/run/look-at-keys.ts';
import type { RunState } from '#shared/run/messages.ts';
import { restoreRun } from '#shared/run/restore.ts';
import { RunArtefacts } from '#shared/run/run-artefacts.ts';
import { storeFault } from '#test/support/memory-store.ts';
import { ALLOW_ALL, orphanWorld } from '#test/support/orphan-world.ts';
import type { RunWorld } from '#test/support/run-world.ts';

/** What a deployment must allow so that these small tables may be cleaned. */
const LOOSE = { max_orphan_percent: 100, older_than: '1d' };

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

/** The first answer of a batch cannot be noted; tells whether that came to pass. */
function loseFirstNote(world: RunWorld): () => boolean {
  let lost = false;
  world.work.options = {
    onCall: ({ operation, key, phase }) => {
      if (operation !== 'put' || phase !== 'before' || lost || !key.endsWith('/reply-0.json')) return;
      lost = true;
      throw storeFault('Unavailable');
    },
  };
  return () => lost;
}

test('a request whose answer was never noted is settled by looking: counted once, its markers known to restore', async () => {
  const { world, orphans } = await orphanWorld(4, { versioned: true });
  const isLost = loseFirstNote(world);

  const { record } = await world.run(ALLOW_ALL);

  assert.ok(isLost());
  assert.equal(record.deleted_files_count, orphans.length);
  const restored = await restoreRun(world.tables, new RunArtefacts(world.work, 'work', record.artefacts), 10);
  assert.equal(restored.restored, orphans.length);
  assert.deepEqual(world.keys('wh/t/data/orphan'), orphans);
});

test('markers of somebody else are not claimed by a request whose answer was lost, nor removed by restore', async () => {
  const { world, orphans } = await orphanWorld(4, { versioned: true });
  // Not looked at before, since the store is known to honour conditions.
  world.deployment = parseDeployment({ dry_run: false, defaults: LOOSE });
  const [foreign, late, ...ours] = orphans as [string, string, ...string[]];
  world.onStage = async (stage) => {
    if (stage !== 'recheck') return;
    await world.tables.bucket('b').delete(foreign, {});
    world.nowMs += CLOCK_ALLOWANCE_MS + 1000;
    // Within the allowance a marker passes for ours: the store's clock may be that much behind.
    await world.tables.bucket('b').delete(late, {});
    world.nowMs += CLOCK_ALLOWANCE_MS - 1000;
  };
  const isLost = loseFirstNote(world);

  const { record } = await world.run(ALLOW_ALL);

  assert.ok(isLost());
  assert.deepEqual([record.deleted_files_count, record.already_absent_files_count], [3, 1]);
  await restoreRun(world.tables, new RunArtefacts(world.work, 'work', record.artefacts), 10);
  assert.deepEqual(world.keys('wh/t/data/orphan'), [late, ...ours]);
});

for (const [form, lose] of [
  ['is lost', () => Promise.reject(storeFault('Unavailable'))],
  ['names no key', async () => ({ deleted: [], errors: [] })],
] as const) {
  test(`OR-08 keys of a request whose answer ${form} are deleted keys to record and restore once they are gone`, async () => {
    for (const local of [true, false]) {
      const { world, orphans } = await orphanWorld(4, { versioned: true });
      world.deployment = parseDeployment({ dry_run: false, local, defaults: LOOSE });
      const { deleteObjects } = world.tables;
      let requests = 0;
      world.tables.deleteObjects = async (...request) => {
        const reply = await deleteObjects.apply(world.tables, request);
        // S3 answers a condition on a key that a marker hides as if the object had changed.
        const errors = reply.errors.map((error) => ({ ...error, code: 'PreconditionFailed' }));
        return requests++ === 0 ? lose() : { ...reply, errors };
      };

      const { record } = await world.run(ALLOW_ALL);

      assert.equal(record.deleted_files_count, orphans.length, `local: ${local}`);
      const restored = await restoreRun(world.tables, new RunArtefacts(world.work, 'work', record.artefacts), 10);
      assert.equal(restored.restored, orphans.length);
      assert.deepEqual(world.keys('wh/t/data/orphan'), orphans);
    }
  });
}

test('OR-08 where versions are suspended, keys of a request whose answer is lost are deleted keys, too', async () => {
  for (const replaced of [false, true]) {
    const { world, orphans } = await orphanWorld(3);
    world.tables.createBucket('b', { versioning: 'Suspended' });
    const table = await world.table();
    await table.append(3);
    for (const key of orphans) world.tables.seed('b', key, Buffer.from(key), world.writeMs);
    world.deployment = parseDeployment({ dry_run: false, defaults: LOOSE });
    const { deleteObjects } = world.tables;
    let requests = 0;
    world.tables.deleteObjects = async (...request) => {
      const reply = await deleteObjects.apply(world.tables, request);
      const errors = reply.errors.map((error) => ({ ...error, code: 'PreconditionFailed' }));
      if (requests++ > 0) return { ...reply, errors };
      if (replaced) world.tables.seed('b', orphans[0] as string, Buffer.from('another'), world.nowMs);
      throw storeFault('Unavailable');
    };

    const { record } = await world.run(ALLOW_ALL);

    const counts = [record.deleted_files_count, record.changed_files_count];
    assert.deepEqual(counts, replaced ? [2, 1] : [3, 0]);
    assert.deepEqual(world.keys('wh/t/data/orphan'), replaced ? [orphans[0]] : []);
  }
});

for (const [gone, counts] of [
  [true, [3, 0]],
  [false, [0, 3]],
] as const) {
  test(`OR-08 keys that no request got an answer for are looked at in the end: ${gone ? 'gone' : 'still there'}`, async () => {
    const { world } = await orphanWorld(3);
    const { deleteObjects } = world.tables;
    world.tables.deleteObjects = async (...request) => {
      if (request[1][0]?.key.includes('icesweep-probe')) return deleteObjects.apply(world.tables, request);
      if (gone) await deleteObjects.apply(world.tables, request);
      return { deleted: [], errors: [] };
    };
    world.deployment = parseDeployment({ dry_run: false, defaults: LOOSE });

    const { record } = await world.run(ALLOW_ALL);

    assert.deepEqual([record.deleted_files_count, record.failed_deletions_count], counts);
    assert.equal(record.verdict, gone ? 'DELETED' : 'FAILED');
  });
}

test('OR-08 a worker whose time is short leaves the last look to the next call', async () => {
  const { world } = await orphanWorld(3);
  let [requests, wasShort] = [0, false];
  world.tables.options = {
    ...world.tables.options,
    onCall: ({ operation, phase, key }) => {
      if (operation !== 'deleteObjects' || phase !== 'after' || key.includes('icesweep-probe')) return;
      requests++;
      throw storeFault('Unavailable');
    },
  };
  world.deployment = parseDeployment({ dry_run: false, defaults: LOOSE });
  let stage = '';
  world.onStage = (entered) => {
    stage = entered;
  };
  world.remainingMs = () => {
    const isShort = stage === 'delete' && requests === 5 && !wasShort;
    wasShort ||= isShort;
    return isShort ? 10_000 : 900_000;
  };

  const { record } = await world.run({ ...ALLOW_ALL, delete_batch_size: 1, max_files_per_run: 1 });

  assert.ok(wasShort);
  assert.deepEqual([record.deleted_files_count, record.remaining_files_count], [1, 2]);
});

test('OR-08 where every answer is lost, what the store did before it was left alone is told', async () => {
  const { world, orphans } = await orphanWorld(6);
  world.tables.options = {
    ...world.tables.options,
    onCall: ({ operation, phase, key }) => {
      const isLost = operation === 'deleteObjects' && phase === 'after' && !key.includes('icesweep-probe');
      if (isLost) throw storeFault('Unavailable');
    },
  };

  const { record } = await world.run({ ...ALLOW_ALL, delete_batch_size: 3 });

  // Two are asked for too often, the third still waits for its second turn when the store is left alone.
  assert.deepEqual(world.keys('wh/t/data/orphan'), orphans.slice(3));
  assert.equal(record.deleted_files_count, 3);
  assert.equal(record.remaining_files_count, orphans.length - 3);
});

test('a batch that is repeated after its outcome was written answers it, whatever has become of the run', async () => {
  const { world } = await orphanWorld(2);
  const { state } = await world.run(ALLOW_ALL);
  const step = { done: false, next: '', wait_seconds: 0 };

  // The lease was given back at the run's end: whoever asked for it now would end as lost.
  const answer = await deleteBatch({ run: state as RunState, item: { batch: 0 }, step }, world.ports);

  assert.deepEqual(answer, { done: true, next: '', wait_seconds: 0 });
});
