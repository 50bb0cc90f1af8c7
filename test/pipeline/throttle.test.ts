import assert from 'node:assert/strict';
import test from 'node:test';
import { storeFault } from '#test/support/memory-store.ts';
import { ALLOW_ALL, lostFiles, orphanWorld } from '#test/support/orphan-world.ts';
import { throttleDeletes } from '#test/support/throttled-store.ts';

test('DA-12 a throttle slows the run down and loses no batch', async () => {
  const { world, table, orphans } = await orphanWorld(5000);
  const counts = throttleDeletes(world.tables, 500, () => world.nowMs);

  const { record } = await world.run(ALLOW_ALL);

  assert.equal(record.verdict, 'DELETED');
  assert.equal(record.deleted_files_count, orphans.length);
  assert.ok(counts.throttled > 0);
  assert.equal(counts.mostInFlight, 1);
  assert.equal(record.delete_rate?.throttles, counts.throttled);
  assert.deepEqual(lostFiles({ world, table }), []);
});

test('DA-12 SlowDown of single keys inside a 200 is back-pressure too', async () => {
  const { world, orphans } = await orphanWorld(20);
  const seen = new Set<string>();
  world.tables.options = {
    ...world.tables.options,
    keyError: (key) => {
      if (seen.has(key)) return undefined;
      seen.add(key);
      return 'SlowDown';
    },
  };

  const { record } = await world.run(ALLOW_ALL);

  assert.equal(record.deleted_files_count, orphans.length);
  assert.ok((record.delete_rate?.throttles ?? 0) > 0);
});

test('DA-12 a throttle that persists ends the run PARTIAL with the rest left for the next', async () => {
  const { world, orphans } = await orphanWorld(20);
  world.tables.options = {
    ...world.tables.options,
    onCall: ({ operation, phase, key }) => {
      // The looks at the end are throttled like the requests.
      const isOurs = operation === 'deleteObjects' || operation === 'head';
      if (isOurs && phase === 'before' && key.startsWith('wh/t/data/orphan')) throw storeFault('Throttled');
    },
  };

  const { record, failure } = await world.run(ALLOW_ALL);

  assert.equal(failure, undefined);
  assert.equal(record.verdict, 'PARTIAL');
  assert.equal(record.remaining_files_count, orphans.length);
  world.tables.options = {};
  world.nowMs += 3_600_000;
  assert.equal((await world.run(ALLOW_ALL)).record.deleted_files_count, orphans.length);
});
