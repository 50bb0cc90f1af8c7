import assert from 'node:assert/strict';
import test from 'node:test';
import { ByteGate } from '#functions/plan/byte-gate.ts';

test('work goes on together while it fits, alone where it is larger, and a failure gives its bytes back', async () => {
  const gate = new ByteGate(100);
  let held = 0;
  let most = 0;
  const work = (bytes: number) => async () => {
    held += bytes;
    most = Math.max(most, held);
    assert.ok(bytes <= 100 ? held <= 100 : held === bytes, `${held} bytes at once`);
    await new Promise((resolve) => setImmediate(resolve));
    held -= bytes;
    if (bytes === 13) throw new Error('unlucky');
    return bytes;
  };
  const sizes = [60, 30, 50, 500, 13, 99, 0, 1, 100];
  const ended = await Promise.allSettled(sizes.map((bytes) => gate.hold(bytes, work(bytes))));

  assert.deepEqual(
    ended.map((end) => (end.status === 'fulfilled' ? end.value : 'failed')),
    sizes.map((bytes) => (bytes === 13 ? 'failed' : bytes)),
  );
  assert.equal(held, 0);
  assert.equal(most, 500);
});
