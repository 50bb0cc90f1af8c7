/** The last look before a request: what it asks, what it reads, how long it is good for. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { commitAltered } from '#test/support/altered-run.ts';
import { ALLOW_ALL, lostFiles, type OrphanWorld, orphanWorld } from '#test/support/orphan-world.ts';
import { DAY_MS, RunWorld, type StageName } from '#test/support/run-world.ts';

/** Acts once, right before the first call of a stage. */
function once(world: RunWorld, stage: StageName, act: () => void | Promise<void>): void {
  let done = false;
  world.onStage = async (called) => {
    if (called !== stage || done) return;
    done = true;
    await act();
  };
}

/** Acts once, after the run wrote an artefact whose key matches. */
function onceWritten(world: RunWorld, pattern: RegExp, act: () => void | Promise<void>): void {
  let done = false;
  world.work.options = {
    ...world.work.options,
    onCall: async ({ operation, key, phase }) => {
      if (done || operation !== 'put' || phase !== 'after' || !pattern.test(key)) return;
      done = true;
      await act();
    },
  };
}

function stealLease(world: RunWorld): () => void {
  const before = new Map(world.items.items);
  for (const [name, item] of before) {
    if (item.pk.startsWith('LEASE#')) world.items.items.set(name, { ...item, owner: 'another-job', token: 99 });
  }
  return () => {
    for (const [name, item] of before) if (item.pk.startsWith('LEASE#')) world.items.items.set(name, item);
  };
}

test('a lease that is lost after the batch began stops its request', async () => {
  const { world, orphans } = await orphanWorld(3);
  once(world, 'delete', () => {
    world.work.options = {
      onCall: ({ operation, key }) => {
        if (operation === 'get' && key.includes('/candidates/')) stealLease(world);
      },
    };
  });

  const { failure } = await world.run(ALLOW_ALL);

  assert.equal(failure?.error, 'LeaseLostError');
  assert.deepEqual(world.keys('wh/t/data/orphan'), orphans);
});

test('what stopped one batch stops every later one, whether or not it has passed', async () => {
  const { world, orphans } = await orphanWorld(3);
  // The chunks of two listing shards, which make two batches.
  const stray = 'wh/t/metadata/stray.stats';
  world.tables.seed('b', stray, Buffer.from('stray'), world.writeMs);
  let batches = 0;
  let giveBack = () => {};
  world.onStage = (stage) => {
    if (stage !== 'delete') return;
    if (++batches === 1) giveBack = stealLease(world);
    else giveBack();
  };

  const { failure } = await world.run({ ...ALLOW_ALL, delete_batch_size: 3 });

  assert.ok(batches > 1);
  assert.equal(failure?.error, 'LeaseLostError');
  assert.deepEqual(world.keys('wh/t/data/orphan'), orphans);
  assert.ok(world.keys().includes(stray));
});

test('a file that only a deletion vector of a new commit refers to is rescued', async () => {
  const world = new RunWorld();
  const table = await world.table({ formatVersion: 3 });
  await table.append(2);
  const keys = ['a', 'b'].map((name) => `wh/t/data/${name}.parquet`);
  for (const key of keys) world.tables.seed('b', key, Buffer.from(key), world.writeMs);
  const [key = ''] = keys;
  once(world, 'recheck', async () => {
    await table.deletionVector([{ bucket: 'b', key, recorded: `s3://b/${key}` }]);
  });

  const { record } = await world.run(ALLOW_ALL);

  assert.deepEqual([record.deleted_files_count, record.rescued_files_count], [1, 1]);
  assert.ok(world.keys().includes(key));
});

test('a file that new metadata names directly is rescued', async () => {
  const { world, table, orphans } = await orphanWorld(3);
  once(world, 'recheck', async () => {
    await table.addStatistics('data/orphan-00001.parquet');
  });

  const { record } = await world.run(ALLOW_ALL);

  assert.deepEqual([record.deleted_files_count, record.rescued_files_count], [2, 1]);
  assert.deepEqual(world.keys('wh/t/data/orphan'), [orphans[1]]);
});

test('a key is rescued in whatever spelling new metadata names it', async () => {
  const { world, table, orphans } = await orphanWorld(['or%70han.parquet', 'other.parquet']);
  once(world, 'recheck', () => table.adopt([orphans[0] as string]));

  const { record } = await world.run(ALLOW_ALL);

  assert.deepEqual(lostFiles({ world, table }), []);
  assert.deepEqual([record.deleted_files_count, record.rescued_files_count], [1, 1]);
});

test('a manifest that was gone during the scan and is named again is read by the recheck', async () => {
  const { world, table } = await orphanWorld(2);
  const [first] = table.snapshots;
  await table.overwrite(1);
  const all = table.snapshots;
  const manifest = first?.manifests[0]?.key as string;
  const { body } = await world.tables.get('b', manifest);
  world.onStage = async (stage) => {
    if (stage === 'scan') {
      await table.expire(1);
      await world.tables.bucket('b').delete(manifest, {});
    }
    if (stage === 'recheck') {
      world.tables.seed('b', manifest, body, world.writeMs);
      table.snapshots = all;
      await table.setProperties({ restored: 'true' });
    }
  };

  const { record } = await world.run(ALLOW_ALL);

  assert.equal(record.skipped_manifests_count, 1);
  assert.deepEqual(lostFiles({ world, table }), []);
  // The three data files, and the metadata file of the expiry, which the restored table's log names.
  assert.equal(record.rescued_files_count, 4);
  assert.equal(record.deleted_files_count, 2);
});

test('a commit during the look is read too, before a request goes', async () => {
  const { world, table, orphans } = await orphanWorld(3);
  once(world, 'delete', async () => {
    await table.adopt([orphans[0] as string]);
    onceWritten(world, /delete\/recheck\/[^/]*\.json$/, () => table.adopt([orphans[1] as string]));
  });

  const { record } = await world.run(ALLOW_ALL);

  assert.deepEqual(lostFiles({ world, table }), []);
  assert.deepEqual([record.deleted_files_count, record.rescued_files_count], [1, 2]);
});

test('what a commit adopted stays adopted when it is rolled back during the look', async () => {
  const { world, table, orphans } = await orphanWorld(3);
  once(world, 'delete', async () => {
    await table.adopt([orphans[0] as string]);
    const adopting = table.metadataFile?.key as string;
    onceWritten(world, /delete\/recheck\/[^/]*\.json$/, async () => {
      await world.tables.bucket('b').delete(adopting, {});
    });
  });

  const { record } = await world.run(ALLOW_ALL);

  assert.deepEqual([record.deleted_files_count, record.rescued_files_count], [2, 1]);
  assert.ok(world.keys().includes(orphans[0] as string));
});

test('a look is good for five seconds: later than that it is repeated', async () => {
  const { world, table, orphans } = await orphanWorld(3);
  onceWritten(world, /intent-0\.json$/, async () => {
    world.nowMs += 6000;
    await table.adopt([orphans[0] as string]);
  });

  const { record } = await world.run(ALLOW_ALL);

  assert.deepEqual(lostFiles({ world, table }), []);
  assert.deepEqual([record.deleted_files_count, record.rescued_files_count], [2, 1]);
});

for (const [what, change] of [
  ['uuid', { 'table-uuid': '11111111-2222-4333-8444-555555555555' }],
  ['place', { location: 's3://b/wh/moved' }],
] as const) {
  test(`a commit that gives the table another ${what} stops the run`, async () => {
    const { world, orphans } = await orphanWorld(3);
    once(world, 'recheck', () => commitAltered(world, (metadata) => ({ ...metadata, ...change })));

    const { failure } = await world.run(ALLOW_ALL);

    assert.equal(failure?.error, 'TableChangedError');
    assert.deepEqual(world.keys('wh/t/data/orphan'), orphans);
  });
}

test('files that wait for their writer are adopted by its commit, however late in the run', async () => {
  const { world, table }: OrphanWorld = await orphanWorld(1);
  const late = 'wh/t/data/late.parquet';
  world.tables.seed('b', late, Buffer.from('late'), world.nowMs - 4 * DAY_MS);
  once(world, 'delete', () => table.adopt([late]));

  await world.run(ALLOW_ALL);

  assert.deepEqual(lostFiles({ world, table }), []);
});
