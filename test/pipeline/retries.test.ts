import assert from 'node:assert/strict';
import test from 'node:test';
import { retriedAt } from '#test/support/retried-worker.ts';

test('a marking worker killed at any step and called again changes nothing (sample)', async () => {
  const undisturbed = await retriedAt(Number.POSITIVE_INFINITY);
  assert.ok(undisturbed.points >= 100, `${undisturbed.points} points`);
  assert.equal(undisturbed.record.deleted_files_count, 8);

  for (let point = 0; point < undisturbed.points; point += 9) {
    const { killed, keys, record } = await retriedAt(point);
    assert.ok(killed, `point ${point} was not reached`);
    assert.deepEqual({ keys, record }, { keys: undisturbed.keys, record: undisturbed.record }, `point ${point}`);
  }
});
