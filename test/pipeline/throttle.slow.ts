import assert from 'node:assert/strict';
import test from 'node:test';
import { ALLOW_ALL, lostFiles, orphanWorld } from '#test/support/orphan-world.ts';
import { throttleDeletes } from '#test/support/throttled-store.ts';

test('100,000 orphans under a store that allows 500 keys a second: no key lost, the rate printed', async (context) => {
  const { world, table, orphans } = await orphanWorld(100_000);
  const counts = throttleDeletes(world.tables, 500, () => world.nowMs);
  const start = world.nowMs;

  const { record } = await world.run(ALLOW_ALL);

  const seconds = (world.nowMs - start) / 1000;
  context.diagnostic(
    `${Math.round(orphans.length / seconds)} keys a second reached, 500 allowed; ${counts.throttled} throttles, ${counts.mostInFlight} request in flight`,
  );
  assert.equal(record.verdict, 'DELETED', JSON.stringify(record.delete_rate));
  assert.equal(record.deleted_files_count, orphans.length);
  assert.deepEqual(lostFiles({ world, table }), []);
  assert.equal(counts.mostInFlight, 1);
  assert.ok(orphans.length / seconds >= 450, 'less than 90 % of what the store allows');
});
