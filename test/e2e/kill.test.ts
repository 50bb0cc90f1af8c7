import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { KillWorld } from '#test/support/kill-world.ts';

// The sample of `kill.slow.ts`: one kill as soon as the run has begun, one as soon as the first orphan is gone.
test('a command line killed in the middle loses nothing; the next run finishes, the one after has nothing to do', async () => {
  const world = await KillWorld.open(400);
  try {
    const files = { atFirst: 0 };
    const { killed, left } = await world.kill(
      (_, table, state) => {
        files.atFirst ||= readdirSync(join(table, 'data')).length;
        return existsSync(join(state, 'executions')) && readdirSync(join(state, 'executions')).length > 0;
      },
      (_, table) => readdirSync(join(table, 'data')).length < files.atFirst,
    );

    assert.equal(killed, 2);
    assert.ok(left < world.orphans, 'the second was killed before it deleted anything');
  } finally {
    world.close();
  }
});
