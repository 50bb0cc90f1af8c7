import assert from 'node:assert/strict';
import test from 'node:test';
import { storeFault } from '#test/support/memory-store.ts';
import { ALLOW_ALL, lostFiles, orphanWorld } from '#test/support/orphan-world.ts';

test('DA-01 errors of single keys inside a 200 are retried or counted, and the run is PARTIAL', async () => {
  const { world, orphans } = await orphanWorld(3);
  const [, flaky, denied] = orphans as [string, string, string];
  let strikes = 0;
  world.tables.options = {
    ...world.tables.options,
    keyError: (key) =>
      key === denied ? 'AccessDenied' : key === flaky && strikes++ === 0 ? 'InternalError' : undefined,
  };

  const { record } = await world.run(ALLOW_ALL);

  assert.equal(record.verdict, 'PARTIAL');
  assert.equal(record.deleted_files_count, 2);
  assert.equal(record.failed_deletions_count, 1);
  assert.equal(record.remaining_files_count, 1);
  assert.deepEqual(world.keys('wh/t/data/orphan'), [denied]);
});

test('DA-02 an empty reply is not success: every key is asked for again', async () => {
  const { world, orphans } = await orphanWorld(3);
  const { deleteObjects } = world.tables;
  let calls = 0;
  world.tables.deleteObjects = async (...request) => {
    const isProbe = request[1][0]?.key.includes('icesweep-probe');
    return !isProbe && calls++ === 0 ? { deleted: [], errors: [] } : deleteObjects.apply(world.tables, request);
  };

  const { record } = await world.run(ALLOW_ALL);

  assert.equal(calls, 2);
  assert.equal(record.verdict, 'DELETED');
  assert.equal(record.deleted_files_count, orphans.length);
});

test('DA-02 a reply that leaves a key out for ever ends PARTIAL with that key unknown', async () => {
  const { world, orphans } = await orphanWorld(3);
  const { deleteObjects } = world.tables;
  world.tables.deleteObjects = async (bucket, objects, options) => {
    const asked = objects.filter((object) => object.key !== orphans[1]);
    return asked.length === 0 ? { deleted: [], errors: [] } : deleteObjects.call(world.tables, bucket, asked, options);
  };

  const { record } = await world.run(ALLOW_ALL);

  assert.equal(record.verdict, 'PARTIAL');
  assert.equal(record.failed_deletions_count, 1);
  assert.equal(record.deleted_files_count, 2);
});

test('DA-05 keys with control characters go singly and sink nobody else', async () => {
  const { world, orphans } = await orphanWorld(['a\u0010.parquet', 'b.parquet', 'c.parquet']);
  const requests: (readonly string[] | undefined)[] = [];
  world.tables.options = {
    ...world.tables.options,
    onCall: ({ operation, keys, phase }) => {
      const deletes = operation === 'deleteObjects' || operation === 'deleteObject';
      if (deletes && phase === 'before' && !keys?.[0]?.includes('probe')) requests.push(keys);
    },
  };

  const { record } = await world.run(ALLOW_ALL);

  assert.equal(record.verdict, 'DELETED');
  assert.deepEqual(requests, [[orphans[1], orphans[2]], [orphans[0]]]);
});

test('DA-07 keys with < & > are deleted as they are and nothing else is', async () => {
  const { world, orphans, table } = await orphanWorld(['a<b', 'a&amp;b', 'a&b']);

  const { record } = await world.run(ALLOW_ALL);

  assert.equal(record.deleted_files_count, orphans.length);
  assert.deepEqual(lostFiles({ world, table }), []);
  assert.deepEqual(world.keys('wh/t/data/a'), []);
});

test('DA-09 a store that demands Content-MD5 gets it at the second request', async () => {
  const { world, orphans } = await orphanWorld(3);
  world.tables.options = { ...world.tables.options, requiresMd5: true };

  const { record } = await world.run(ALLOW_ALL);

  assert.equal(record.verdict, 'DELETED');
  assert.equal(record.deleted_files_count, orphans.length);
});

test('DA-09 a store that refuses both forms stops the stage after two requests', async () => {
  const { world } = await orphanWorld(3);
  let requests = 0;
  world.tables.options = {
    ...world.tables.options,
    onCall: ({ operation, key, phase }) => {
      if (operation !== 'deleteObjects' || phase !== 'before' || key.includes('icesweep-probe')) return;
      requests++;
      throw storeFault('BadRequest');
    },
  };

  const { record, failure } = await world.run(ALLOW_ALL);

  assert.equal(record.verdict, 'FAILED');
  assert.ok(failure);
  assert.equal(record.deleted_files_count, 0);
  assert.equal(requests, 2);
});

test('a store without DeleteObjects gets single deletes', async () => {
  const { world, orphans } = await orphanWorld(30);
  world.tables.options = { ...world.tables.options, singleDeletesOnly: true };

  const { record } = await world.run(ALLOW_ALL);

  assert.equal(record.verdict, 'DELETED');
  assert.equal(record.deleted_files_count, orphans.length);
});

test('DA-11 all keys denied is a failed run that names the permission', async () => {
  const { world } = await orphanWorld(3);
  world.tables.options = { ...world.tables.options, keyError: () => 'AccessDenied' };

  const { record, failure } = await world.run(ALLOW_ALL);

  assert.equal(record.verdict, 'FAILED');
  assert.equal(failure?.error, 'AccessDeniedError');
  assert.match(failure?.cause ?? '', /s3:DeleteObject/);
});

test('DA-11 a key that is denied by a policy of its own fails alone, also as the only key of its request', async () => {
  const { world, orphans } = await orphanWorld(3);
  world.tables.options = {
    ...world.tables.options,
    keyError: (key) => (key === orphans[2] ? 'AccessDenied' : undefined),
  };

  const { record } = await world.run({ ...ALLOW_ALL, delete_batch_size: 2 });

  assert.equal(record.verdict, 'PARTIAL');
  assert.deepEqual([record.deleted_files_count, record.failed_deletions_count], [2, 1]);
});

test('DA-11 a request of many keys, all of them denied, ends the stage at once', async () => {
  const { world } = await orphanWorld(30);
  let requests = 0;
  world.tables.options = {
    ...world.tables.options,
    keyError: () => 'AccessDenied',
    onCall: ({ operation, keys, phase }) => {
      if (operation === 'deleteObjects' && phase === 'before' && !keys?.[0]?.includes('probe')) requests++;
    },
  };

  const { failure } = await world.run({ ...ALLOW_ALL, delete_batch_size: 10 });

  assert.equal(failure?.error, 'AccessDeniedError');
  assert.equal(requests, 1);
});

test('DA-11 a missing delete permission ends a deleting run before the scan', async () => {
  const { world } = await orphanWorld(3);
  const stages: string[] = [];
  world.onStage = (stage) => void stages.push(stage);
  world.tables.options = {
    ...world.tables.options,
    onCall: ({ operation, phase }) => {
      if (operation === 'deleteObject' && phase === 'before') throw storeFault('AccessDenied');
    },
  };

  const { failure } = await world.run(ALLOW_ALL);

  assert.equal(failure?.error, 'AccessDeniedError');
  assert.deepEqual(stages, ['plan', 'probe', 'record']);
});

test('every key failed for another reason is DeletesFailedError', async () => {
  const { world } = await orphanWorld(3);
  world.tables.options = { ...world.tables.options, keyError: () => 'ObjectLocked' };

  const { record, failure } = await world.run(ALLOW_ALL);

  assert.equal(failure?.error, 'DeletesFailedError');
  assert.equal(record.failed_deletions_count, 3);
});

test('DA-13 2,001 orphans go in requests of 1,000, 1,000 and 1', async () => {
  const { world, orphans } = await orphanWorld(2001);
  const sizes: number[] = [];
  world.tables.options = {
    ...world.tables.options,
    onCall: ({ operation, keys, phase }) => {
      const isProbe = keys?.[0]?.includes('icesweep-probe');
      if (operation === 'deleteObjects' && phase === 'before' && !isProbe) sizes.push(keys?.length ?? 0);
    },
  };

  const { record } = await world.run(ALLOW_ALL);

  assert.deepEqual(sizes, [1000, 1000, 1]);
  assert.equal(record.deleted_files_count, orphans.length);
});

test('an object that was replaced after the listing is not deleted', async () => {
  for (const conditionalDeletes of [true, false]) {
    const { world, orphans } = await orphanWorld(3);
    world.tables.options = { ...world.tables.options, conditionalDeletes };
    world.onStage = (stage) => {
      if (stage === 'recheck') world.tables.seed('b', orphans[1] as string, Buffer.from('another'), world.nowMs);
    };

    const { record } = await world.run(ALLOW_ALL);

    assert.deepEqual(world.keys('wh/t/data/orphan'), [orphans[1]], `conditional: ${conditionalDeletes}`);
    assert.equal(record.changed_files_count, 1);
    assert.equal(record.deleted_files_count, 2);
  }
});

test('of a plan older than a day every key is looked at, so that a re-upload of the same bytes is kept', async () => {
  const { world, orphans } = await orphanWorld(3);
  await world.run({ ...ALLOW_ALL, dry_run: true }, 'dry');
  world.nowMs += 2 * 86_400_000;
  world.tables.seed('b', orphans[0] as string, Buffer.from(orphans[0] as string), world.nowMs);

  const { record } = await world.run({ plan: 'dry', ...ALLOW_ALL });

  assert.deepEqual(world.keys('wh/t/data/orphan'), [orphans[0]]);
  assert.equal(record.changed_files_count, 1);
});

test('CO-08 an orphan that vanished meanwhile is counted as absent, not as failed', async () => {
  const { world, orphans } = await orphanWorld(3);
  world.onStage = async (stage) => {
    if (stage === 'recheck') await world.tables.bucket('b').delete(orphans[0] as string, {});
  };

  const { record } = await world.run(ALLOW_ALL);

  assert.equal(record.verdict, 'DELETED');
  assert.equal(record.already_absent_files_count, 1);
  assert.equal(record.deleted_files_count, 2);
});

test('CO-09 what was submitted is deleted or accounted for, whatever the batch size', async () => {
  const { world, orphans } = await orphanWorld(7);

  const { record } = await world.run({ ...ALLOW_ALL, delete_batch_size: 2 });

  assert.equal(record.deleted_files_count + record.failed_deletions_count, orphans.length);
});

test('OR-16 a batch that runs short of time says so, and goes on where it stood', async () => {
  const { world, orphans } = await orphanWorld(6);
  let calls = 0;
  // Enough for one request per call, whatever the Wait state would allow.
  world.onStage = (stage) => {
    if (stage === 'delete') calls++;
    let left = stage === 'delete' ? 1 : Number.POSITIVE_INFINITY;
    world.remainingMs = () => (left-- > 0 ? 900_000 : 30_000);
  };

  const { record } = await world.run({ ...ALLOW_ALL, delete_batch_size: 2, delete_cooldown_seconds: 0 });

  assert.ok(calls >= 3, `${calls} calls`);
  assert.equal(record.deleted_files_count, orphans.length);
});

test('OR-17 a cap ends the run PARTIAL with what remains, and the third run has none left', async () => {
  const { world } = await orphanWorld(2500);
  const input = { ...ALLOW_ALL, max_files_per_run: 1000 };

  const first = await world.run(input);
  const second = await world.run(input);
  const third = await world.run(input);

  assert.equal(first.record.verdict, 'PARTIAL');
  assert.deepEqual(
    [first, second, third].map(({ record }) => [record.deleted_files_count, record.remaining_files_count]),
    [
      [1000, 1500],
      [1000, 500],
      [500, 0],
    ],
  );
  assert.equal(third.record.verdict, 'DELETED');
});

test('OR-08 a batch that is executed twice is counted once', async () => {
  const { world, orphans } = await orphanWorld(3, { versioned: true });
  const { run } = world;
  let repeated = 0;
  world.onStage = () => undefined;
  world.work.options = {
    ...world.work.options,
    onCall: ({ operation, key, phase }) => {
      // The outcome was written, its answer is lost: the worker is retried.
      if (operation === 'put' && key.endsWith('/outcome.json') && phase === 'after' && repeated++ === 0) {
        throw storeFault('Unavailable');
      }
    },
  };

  const { record } = await run.call(world, ALLOW_ALL);

  assert.equal(record.deleted_files_count, orphans.length);
  const versions = [...world.tables.bucket('b').scanVersions('wh/t/data/orphan')];
  assert.equal(versions.filter((version) => version.isDeleteMarker).length, orphans.length);
});

test('a delete whose answer is lost is looked at, counted once, and makes one marker per key', async () => {
  const { world, orphans } = await orphanWorld(4, { versioned: true });
  let lost = 0;
  world.tables.options = {
    ...world.tables.options,
    onCall: ({ operation, phase }) => {
      if (operation === 'deleteObjects' && phase === 'after' && lost++ === 0) throw storeFault('Unavailable');
    },
  };

  const { record } = await world.run(ALLOW_ALL);

  assert.deepEqual([record.deleted_files_count, record.already_absent_files_count], [orphans.length, 0]);
  const versions = [...world.tables.bucket('b').scanVersions('wh/t/data/orphan')];
  assert.equal(versions.filter((version) => version.isDeleteMarker).length, orphans.length);
});
