import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KillWorld } from '#test/support/kill-world.ts';
import { random } from '#test/support/random.ts';

const KILLS = Number(process.env['KILLS'] ?? 30);
const SEED = Number(process.env['SEED'] ?? 7);

test(`${KILLS} kills at random moments of a run over 3,000 orphans lose nothing`, async (context) => {
  const world = await KillWorld.open(3000);
  try {
    let wholeMs = 0;
    const undisturbed = await world.kill((ageMs) => {
      wholeMs = ageMs;
      return false;
    });
    assert.equal(undisturbed.left, 0);
    const next = random(SEED);
    let [killed, amidst] = [0, 0];
    for (let at = 0; at < KILLS; at += 1) {
      const dueMs = next() * wholeMs;
      const survivor = await world.kill((ageMs) => ageMs >= dueMs);
      killed += survivor.killed;
      amidst += survivor.left > 0 && survivor.left < world.orphans ? 1 : 0;
    }
    context.diagnostic(`${killed} of ${KILLS} were killed, ${amidst} in the middle of deleting`);
    assert.ok(killed > 0);
  } finally {
    world.close();
  }
});
