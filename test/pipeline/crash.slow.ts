import assert from 'node:assert/strict';
import test from 'node:test';
import { crashAt } from '#test/support/crash-points.ts';
import { crashWorld } from '#test/support/crash-world.ts';

for (const versioned of [false, true]) {
  test(`a run killed before and after every step of deleting loses nothing but time (versioned: ${versioned})`, async (context) => {
    const undisturbed = await crashAt(() => crashWorld(versioned), Number.POSITIVE_INFINITY);
    for (let point = 0; point < undisturbed.points; point++) {
      const crashed = await crashAt(() => crashWorld(versioned), point);
      assert.ok(crashed.killed, `point ${point} was not reached`);
      assert.deepEqual(crashed.keys, undisturbed.keys, `point ${point}`);
      assert.equal(crashed.deleted, undisturbed.deleted, `point ${point}`);
    }
    context.diagnostic(`${undisturbed.points} points`);
  });
}
