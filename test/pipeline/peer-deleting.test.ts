/** Verdicts, deletes and their accounts, over whole runs. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { storeFault } from '#test/support/memory-store.ts';
import { ALLOW_ALL, lostFiles, orphanWorld } from '#test/support/orphan-world.ts';
import { DAY_MS, RunWorld } from '#test/support/run-world.ts';
import { refuses, stray, sweep, tableWith } from '#test/support/sweep.ts';

const INPUTS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  'SP-06 DR-09 a number where a duration belongs': { older_than: 2.2 },
  'SP-06 an empty table name': { table: '' },
  'SP-08 no concurrency': { max_concurrent_deletes: 0 },
  'SP-08 a negative concurrency': { max_concurrent_deletes: -1 },
  'SA-17 IK-03 SP-08 a list of files in place of a listing': { file_list_view: 'inventory' },
  'TR-07 a duration without unit': { older_than: '33' },
  'TR-07 a duration of an unknown unit': { older_than: '33mb' },
  'CS-05 an age of nothing': { older_than: '0d' },
  'DR-01 an unknown word': { older_then: '7d' },
  'DR-09 an instant without a zone': { older_than: '2026-01-01 00:00:00' },
  'CH-12 a location with a parent segment': { location: '../escape' },
  'GO-33 an unknown mode': { prefix_mismatch_mode: '999' },
};

for (const [name, input] of Object.entries(INPUTS)) {
  test(`${name} is refused before any call to the storage`, async () => {
    const made = await orphanWorld(2);
    const requests = { ...made.world.tables.requests };

    await refuses(made, 'InvalidInputError', input);
    assert.deepEqual(made.world.tables.requests, requests);
  });
}

const AGES = { 'CO-01 DR-16': '3h', 'CO-02 CH-11': '2030-01-01T00:00:00Z', 'CO-02 SA-06': '23h' };
for (const [id, olderThan] of Object.entries(AGES)) {
  test(`${id} CS-11 an age of ${olderThan} is refused before any call, dry run or not`, async () => {
    const made = await orphanWorld(2);
    const requests = { ...made.world.tables.requests };
    for (const dryRun of [true, false]) {
      await refuses(made, 'OlderThanTooRecentError', { older_than: olderThan, dry_run: dryRun });
    }
    assert.deepEqual(made.world.tables.requests, requests);
  });
}

for (const name of ['s3://b/wh/t@123', 's3://b/wh/t$files', 's3://b/wh/nobody']) {
  test(`TR-08 TR-09 SP-06 DV-01 ${name} is no table: nothing is deleted`, async () => {
    const made = await orphanWorld(2);
    const { record } = await made.world.run({ ...ALLOW_ALL, table: name });
    assert.equal(record.error, 'TableNotFoundError');
    assert.equal(record.deleted_files_count, 0);
    assert.deepEqual(lostFiles(made), []);
  });
}

test('FF-09 SA-16 SP-04 AM-05 CH-10 DR-13 gc.enabled=FALSE refuses with no manifest read, dry run or not', async () => {
  const made = await tableWith({ properties: { 'gc.enabled': 'FALSE' } });
  stray(made, 'data/dead.parquet');
  for (const dryRun of [true, false]) {
    const record = await refuses(made, 'GcDisabledError', { dry_run: dryRun });
    assert.equal(record.processed_manifests_count, 0);
  }
});

test('SA-01 SP-03 GO-42 the dry run finds what the run deletes, and the next run finds nothing', async () => {
  const made = await orphanWorld(3);
  const dry = await made.world.run({ ...ALLOW_ALL, dry_run: true });
  const real = await made.world.run(ALLOW_ALL);
  const again = await made.world.run(ALLOW_ALL);

  assert.deepEqual(
    [dry, real, again].map(({ record }) => [record.verdict, record.orphan_files_count, record.deleted_files_count]),
    [
      ['DRY_RUN', 3, 0],
      ['DELETED', 3, 3],
      ['NOTHING_TO_DO', 0, 0],
    ],
  );
});

for (const concurrent of [1, 2, 4]) {
  test(`SA-03 SP-07 GO-42 with ${concurrent} concurrent deletes every stray goes, once`, async () => {
    const made = await orphanWorld(9);
    await sweep(made, made.orphans, { max_concurrent_deletes: concurrent, delete_batch_size: 2 });
  });
}

test('GO-37 a store without DeleteObjects gets single deletes, and none where there is nothing to delete', async () => {
  const made = await orphanWorld(3);
  const singles: string[] = [];
  made.world.tables.options = {
    ...made.world.tables.options,
    singleDeletesOnly: true,
    onCall: ({ operation, key, phase }) => {
      if (operation === 'deleteObject' && phase === 'after' && key.includes('orphan-')) singles.push(key);
    },
  };

  await sweep(made, made.orphans);
  await sweep(made, []);
  assert.deepEqual(singles.sort(), [...made.orphans]);
});

test('FM-22 FM-23 FM-24 a file that is gone already is no failure, one that cannot be deleted is counted', async () => {
  const made = await orphanWorld(3);
  const [absent, denied] = made.orphans as [string, string];
  made.world.onStage = async (stage) => {
    if (stage === 'recheck') await made.world.tables.bucket('b').delete(absent, {});
  };
  made.world.tables.options = {
    ...made.world.tables.options,
    keyError: (key) => (key === denied ? 'AccessDenied' : undefined),
  };

  const { record, failure } = await made.world.run(ALLOW_ALL);

  assert.equal(failure, undefined);
  assert.equal(record.verdict, 'PARTIAL');
  assert.equal(record.failed_deletions_count, 1);
  assert.equal(record.deleted_files_count + record.already_absent_files_count, 2);
  assert.deepEqual(made.world.keys('wh/t/data/orphan'), [denied]);
});

test('DR-22 NP-10 an unexpected error of single deletes is tolerated, one of the metadata ends the run', async () => {
  const tolerated = await orphanWorld(3);
  tolerated.world.tables.options = {
    ...tolerated.world.tables.options,
    keyError: (key) => (key === tolerated.orphans[0] ? 'SomethingOdd' : undefined),
  };
  assert.equal((await tolerated.world.run(ALLOW_ALL)).record.deleted_files_count, 2);

  const fatal = await orphanWorld(3);
  fatal.world.tables.options = {
    ...fatal.world.tables.options,
    onCall: ({ key, phase }) => {
      if (key.endsWith('.avro') && phase === 'before') throw new Error('something odd');
    },
  };
  const { record } = await fatal.world.run(ALLOW_ALL);
  assert.equal(record.verdict, 'FAILED');
  assert.deepEqual(fatal.world.keys('wh/t/data/orphan'), fatal.orphans);
});

test('FM-25 FM-26 FM-03 TR-01 TR-15 one unreadable manifest among many: nothing goes, and the next run starts afresh', async () => {
  const made = await orphanWorld(3);
  for (let commit = 0; commit < 4; commit++) await made.table.append(1);
  const lists = made.table.snapshots.flatMap(({ manifests }) => manifests);
  const { body } = await made.world.tables.get('b', lists[2]?.key as string);
  made.world.tables.seed('b', lists[2]?.key as string, body.subarray(0, body.length - 30), made.world.writeMs);

  await refuses(made, 'MetadataUnreadableError');
  made.world.tables.seed('b', lists[2]?.key as string, body, made.world.writeMs);
  await sweep(made, made.orphans);
});

test('DR-23 a table that is denied does not keep the others from being cleaned', async () => {
  const world = new RunWorld();
  const names = ['t1', 't2', 't3'];
  const seeds = names.map((name, index) => ({ name, seed: 11 + index }));
  for (const { name, seed } of seeds) {
    const table = await world.table({ location: `s3://b/wh/${name}`, seed });
    await table.append(1);
    stray({ world, table }, 'data/dead.parquet');
  }
  world.tables.options = {
    ...world.tables.options,
    onCall: ({ key, phase }) => {
      if (key.startsWith('wh/t2/') && phase === 'before') throw storeFault('AccessDenied');
    },
  };

  const verdicts: string[] = [];
  for (const name of names)
    verdicts.push((await world.run({ ...ALLOW_ALL, table: `s3://b/wh/${name}` })).record.verdict);

  assert.deepEqual(verdicts, ['DELETED', 'FAILED', 'DELETED']);
  assert.deepEqual(
    world.keys().filter((key) => key.endsWith('dead.parquet')),
    ['wh/t2/data/dead.parquet'],
  );
});

for (const option of [{ scope: 'TABLE' }, { older_than: '2d' }, { prefix_mismatch_mode: 'IGNORE' }]) {
  test(`GO-08 GO-09 ${JSON.stringify(option)} does not widen a sealed plan: what came later stays`, async () => {
    const made = await orphanWorld(['planned.parquet']);
    await made.world.run({ ...ALLOW_ALL, dry_run: true }, 'plan');
    stray(made, 'data/later.parquet', 'elsewhere/later.parquet');

    await sweep(made, made.orphans, { older_than: undefined, max_orphan_percent: undefined, plan: 'plan', ...option });
  });
}

test('NR-01 an object that was replaced after the listing is left alone and counted as changed', async () => {
  const made = await orphanWorld(3);
  const [replaced] = made.orphans as [string];
  made.world.onStage = (stage) => {
    if (stage === 'recheck') made.world.tables.seed('b', replaced, Buffer.from('another'), made.world.writeMs);
  };

  const { record } = await made.world.run(ALLOW_ALL);

  assert.equal(record.changed_files_count, 1);
  assert.equal(record.deleted_files_count, 2);
  assert.deepEqual(made.world.keys('wh/t/data/orphan'), [replaced]);
});

test('NP-3 a file that add-files, a rollback or a cherry-pick brings back between listing and delete stays', async () => {
  const made = await tableWith();
  const old = [...made.table.referenced()].filter((key) => key.endsWith('.parquet'));
  await made.table.overwrite(2);
  await made.table.expire(1);
  const gone = [...made.table.unreferenced()].filter((key) => !key.endsWith('.metadata.json'));
  assert.ok(old.every((key) => gone.includes(key)));
  made.world.onStage = async (stage) => {
    if (stage === 'recheck') await made.table.adopt(old);
  };

  const { record } = await made.world.run(ALLOW_ALL);

  assert.equal(record.rescued_files_count, old.length);
  assert.equal(record.deleted_files_count, gone.length - old.length);
  assert.deepEqual(lostFiles(made), []);
});

test('CO-10 NR-01 what another run started meanwhile does ends SKIPPED; the first goes on undisturbed', async () => {
  const made = await orphanWorld(3);
  const { world } = made;
  let second: string | undefined;
  world.onStage = async (stage) => {
    if (stage !== 'scan' || second !== undefined) return;
    second = 'started';
    second = (await world.run(ALLOW_ALL, 'second')).record.verdict;
  };

  await sweep(made, made.orphans);
  assert.equal(second, 'SKIPPED');
});

test('NP-6 CS-01 a ratio above the limit deletes nothing; of the whole table it is 20 percent, whatever one prefix loses', async () => {
  const made = await tableWith({ partitionFields: ['p'] }, 170);
  const dead = Array.from({ length: 30 }, (_, index) => `data/p=gone/dead-${index}.parquet`);
  const gone = stray(made, ...dead);
  // All of one partition, 15 % of the table: the limit is judged over the whole table.
  await sweep(made, gone, { max_orphan_percent: 20 });

  stray(made, ...Array.from({ length: 50 }, (_, index) => `data/p=p1/dead-${index}.parquet`));
  const refused = await refuses(made, 'ThresholdExceededError', { max_orphan_percent: 20 });
  const percent = refused.orphan_percent.content ?? 0;
  assert.ok(percent > 20 && percent < 25, `${percent}`);
  await refuses(made, 'ThresholdExceededError', { max_orphan_files: 49 });
  await refuses(made, 'ThresholdExceededError', { max_orphan_bytes: 100 });
});

test('NP-5 SM-09 a filter that does not fit what it holds ends the run', async () => {
  const made = await orphanWorld(3);
  made.world.onStage = async (stage) => {
    if (stage !== 'list') return;
    const shard = made.world.work.keys('work').find((key) => key.includes('/filters/') && !key.endsWith('.json'));
    const { body } = await made.world.work.get('work', shard as string);
    made.world.work.seed('work', shard as string, body.subarray(0, body.length >> 1), made.world.nowMs);
  };

  await refuses(made, 'FilterMismatchError');
});

test('NP-13 on a versioned bucket each orphan gets one marker, and the record says that no bytes are reclaimed', async () => {
  const made = await orphanWorld(4, { versioned: true });
  const record = await sweep(made, made.orphans);

  assert.equal(record.bytes_reclaimed, false);
  const versions = [...made.world.tables.bucket('b').scanVersions('wh/t/data/orphan')];
  assert.equal(versions.length, 8);
  assert.equal(versions.filter(({ isDeleteMarker }) => isDeleteMarker).length, 4);
});

test('NP-13 keys under Object Lock are counted as failed, the rest goes', async () => {
  const made = await orphanWorld(3);
  made.world.tables.options = {
    ...made.world.tables.options,
    keyError: (key) => (key === made.orphans[1] ? 'AccessDenied' : undefined),
  };
  const { record } = await made.world.run(ALLOW_ALL);
  assert.equal(record.verdict, 'PARTIAL');
  assert.equal(record.failed_deletions_count, 1);
});

test('CO-11 what an expiry released last night stays until it is old enough', async () => {
  const made = await tableWith({}, 0);
  const { table, world } = made;
  world.writeMs = world.nowMs - DAY_MS / 2;
  table.nowMs = world.writeMs;
  const [released] = await table.append(1);
  await table.overwrite(1);
  await table.expire(1);
  const { key } = released as { key: string };

  await sweep(made, [], { older_than: '7d' });
  assert.ok(world.keys().includes(key));
  world.nowMs += 8 * DAY_MS;
  world.writeMs = world.nowMs - 1000;
  table.nowMs = world.writeMs;
  await table.append(1);
  table.nowMs += DAY_MS;
  const { record } = await world.run({ ...ALLOW_ALL, older_than: '7d', max_writer_lag: 'P1D' });
  assert.ok(!world.keys().includes(key), JSON.stringify([record.kept, record.error]));
  assert.deepEqual(lostFiles(made), []);
});

test('CO-08 a manifest that an expiry removes during the scan is skipped and counted, and the run goes on', async () => {
  const made = await orphanWorld(2);
  const { table, world } = made;
  await table.overwrite(1);
  let isExpired = false;
  world.onStage = async (stage) => {
    if (stage !== 'scan' || isExpired) return;
    isExpired = true;
    await table.expire(1);
    const gone = [...table.unreferenced()].filter((key) => key.endsWith('.avro') || key.endsWith('.parquet'));
    for (const key of gone) await world.tables.bucket('b').delete(key, {});
  };

  const { record, failure } = await world.run({ ...ALLOW_ALL, max_missing_percent: 100 });

  assert.equal(failure, undefined, failure?.cause);
  assert.ok(record.skipped_manifests_count >= 1);
  assert.equal(record.deleted_files_count, 2);
  assert.deepEqual(lostFiles(made), []);
});

test('SM-01 many orphans leave the process in chunks, and the record holds a sample', async () => {
  const made = await orphanWorld(2500);
  const record = await sweep(made, made.orphans);

  assert.ok(made.world.work.keys('work').filter((key) => key.includes('/candidates/')).length >= 3);
  assert.equal(record.sample.length, 20);
  assert.ok(JSON.stringify(record).length < 50_000);
});
