import assert from 'node:assert/strict';
import test from 'node:test';
import { ALLOW_ALL, lostFiles, orphanWorld } from '#test/support/orphan-world.ts';

/** Manifests and manifest lists read from the recheck on, where a commit comes right before it. */
async function readsAfterCommit(snapshots: number): Promise<readonly string[]> {
  const { world, table } = await orphanWorld(3);
  for (let index = 0; index < snapshots; index++) await table.append(1);
  const reads: string[] = [];
  world.onStage = async (stage) => {
    if (stage !== 'recheck') return;
    await table.append(1);
    world.tables.options = {
      ...world.tables.options,
      onCall: ({ operation, key, phase }) => {
        if (operation === 'get' && phase === 'before' && key.endsWith('.avro')) reads.push(key);
      },
    };
  };

  const { record } = await world.run(ALLOW_ALL);

  assert.equal(record.verdict, 'DELETED');
  assert.deepEqual(lostFiles({ world, table }), []);
  return reads;
}

test('a recheck reads what a commit brought, whatever the length of the history', async () => {
  const [short, long] = [await readsAfterCommit(2), await readsAfterCommit(30)];

  assert.equal(short.length, 2);
  assert.equal(long.length, 2);
});

test('a recheck of an unchanged table reads no manifest', async () => {
  const { world } = await orphanWorld(3);
  const reads: string[] = [];
  world.onStage = (stage) => {
    if (stage !== 'recheck') return;
    world.tables.options = {
      ...world.tables.options,
      onCall: ({ operation, key }) => {
        if (operation === 'get' && key.endsWith('.avro')) reads.push(key);
      },
    };
  };

  await world.run(ALLOW_ALL);

  assert.deepEqual(reads, []);
});

test('a recheck that runs short of time ends the run rather than begin anew for ever', async () => {
  const { world, table, orphans } = await orphanWorld(3);
  world.onStage = async (stage) => {
    if (stage !== 'recheck') return;
    await table.append(1);
    world.remainingMs = () => 10_000;
  };

  const { failure } = await world.run(ALLOW_ALL);

  assert.equal(failure?.error, 'TableChangedError');
  assert.deepEqual(world.keys('wh/t/data/orphan'), orphans);
});
