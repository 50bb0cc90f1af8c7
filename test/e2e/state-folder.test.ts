import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type CliWorld, cliWorld } from '#test/support/cli-world.ts';

let world: CliWorld;
before(async () => {
  world = await cliWorld();
  const { code, err } = await world.run('plan', world.table, '--max-orphan-percent', '100');
  assert.equal(code, 0, err);
});
after(() => world.remove());

test('a state folder whose records are damaged is told by name, without a stack', async () => {
  writeFileSync(join(world.state, 'run-table/CURRENT'), 'x');

  const { code, out, err } = await world.run('runs');

  assert.equal(code, 1);
  assert.equal(out, '');
  assert.match(err, /^MisconfiguredError: The records in .*run-table cannot be opened: .*another --state folder\.\n$/);
});

test('a state folder with a file where a folder must be is told by name', async () => {
  rmSync(join(world.state, 'work'), { recursive: true });
  writeFileSync(join(world.state, 'work'), '');

  const { code, err } = await world.run('runs');

  assert.equal(code, 1);
  assert.match(err, /^MisconfiguredError: The state folder .* cannot be written: EEXIST.*--state DIR\.\n/);
});
