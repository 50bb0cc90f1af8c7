import assert from 'node:assert/strict';
import test from 'node:test';
import { gunzipSync } from 'node:zlib';
import { artefact } from '#shared/run/artefacts.ts';
import { restoreRun } from '#shared/run/restore.ts';
import { RunArtefacts } from '#shared/run/run-artefacts.ts';
import { storeFault } from '#test/support/memory-store.ts';
import { ALLOW_ALL, type OrphanWorld, orphanWorld } from '#test/support/orphan-world.ts';
import { KilledError } from '#test/support/run-world.ts';

/** Ends the machine right after the store has done the request with this number, before anybody could note its answer. */
async function killedAfter(request: number, orphans: number): Promise<OrphanWorld> {
  const made = await orphanWorld(orphans, { versioned: true });
  const { world } = made;
  let [requests, dead] = [0, false];
  const strike = () => {
    if (dead) throw new KilledError('killed');
  };
  world.tables.options = {
    ...world.tables.options,
    onCall: ({ operation, keys, phase }) => {
      strike();
      if (operation !== 'deleteObjects' || phase !== 'after' || keys?.[0]?.includes('probe') === true) return;
      dead = ++requests === request;
      strike();
    },
  };
  world.work.options = { ...world.work.options, onCall: strike };
  const run = world.run({ ...ALLOW_ALL, delete_batch_size: 2, max_concurrent_deletes: 1 }, 'killed');
  await assert.rejects(run, KilledError);
  dead = false;
  world.tables.options = {};
  world.work.options = {};
  return made;
}

test('the record of an aborted run counts what its last request deleted, and what was left', async () => {
  const { world, orphans } = await killedAfter(2, 7);

  const record = await world.recordAbort('killed');

  assert.equal(record.verdict, 'ABORTED');
  assert.equal(record.deleted_files_count, 4);
  assert.equal(record.remaining_files_count, 3);
  assert.deepEqual(world.keys('wh/t/data/orphan'), orphans.slice(4));
});

test('the list of an aborted run says of every orphan what became of it', async () => {
  const { world } = await killedAfter(2, 7);

  const record = await world.recordAbort('killed');

  const list = await new RunArtefacts(world.work, 'work', record.artefacts).read(artefact.orphansJsonl(0));
  const outcomes = gunzipSync(list as Buffer)
    .toString()
    .trimEnd()
    .split('\n')
    .map((line) => (JSON.parse(line) as { outcome: string }).outcome);
  assert.deepEqual(outcomes, ['deleted', 'deleted', 'deleted', 'deleted', 'left', 'left', 'left']);
});

test('restore brings back what an aborted run deleted, also by the request whose answer nobody saw', async () => {
  const { world, orphans } = await killedAfter(2, 7);
  const record = await world.recordAbort('killed');

  const restored = await restoreRun(world.tables, new RunArtefacts(world.work, 'work', record.artefacts), 10);

  assert.deepEqual(restored, { restored: 4, alreadyGone: 0, covered: 0, unversioned: 0 });
  assert.deepEqual(world.keys('wh/t/data/orphan'), orphans);
});

for (const answers of [true, false]) {
  const what = answers ? 'are counted by a look at them' : 'are unknown where they cannot be looked at';
  test(`OR-08 keys of an aborted run whose request had no answer ${what}`, async () => {
    const { world } = await orphanWorld(3, { versioned: true });
    let noted = false;
    world.tables.options = {
      onCall: ({ operation, phase }) => {
        if (operation === 'deleteObjects' && phase === 'after') throw storeFault('Unavailable');
      },
    };
    // That there was no answer is noted; the machine ends before the next request.
    world.work.options = {
      onCall: ({ operation, key, phase }) => {
        if (noted) throw new KilledError('killed');
        noted = operation === 'put' && phase === 'after' && key.endsWith('/reply-0.json');
      },
    };
    await assert.rejects(world.run(ALLOW_ALL, 'killed'), KilledError);
    world.work.options = {};
    world.tables.options = {
      onCall: ({ operation }) => {
        if (operation === 'head' && !answers) throw storeFault('Unavailable');
      },
    };

    const record = await world.recordAbort('killed');

    assert.equal(record.verdict, 'ABORTED');
    assert.deepEqual([record.deleted_files_count, record.failed_deletions_count], answers ? [3, 0] : [0, 3]);
  });
}
