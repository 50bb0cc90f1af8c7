import assert from 'node:assert/strict';
import test from 'node:test';
import { retriedAt } from '#test/support/retried-worker.ts';

test('a marking worker killed before and after every step and called again changes nothing', async (context) => {
  const undisturbed = await retriedAt(Number.POSITIVE_INFINITY);
  for (let point = 0; point < undisturbed.points; point++) {
    const { killed, keys, record } = await retriedAt(point);
    assert.ok(killed, `point ${point} was not reached`);
    assert.deepEqual({ keys, record }, { keys: undisturbed.keys, record: undisturbed.record }, `point ${point}`);
  }
  context.diagnostic(`${undisturbed.points} points`);
});
