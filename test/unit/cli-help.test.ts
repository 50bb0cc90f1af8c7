import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { COMMANDS } from '#infra/local/cli/arguments/commands.ts';
import { main } from '#infra/local/cli/main.ts';
import { commandHelp, generalHelp } from '#infra/local/cli/text/help-text.ts';
import { PROJECT } from '#test/support/cli-world.ts';
import { FakeTerminal } from '#test/support/fake-terminal.ts';

describe('the help', () => {
  test('begins with examples and fits 80 columns', () => {
    for (const page of [generalHelp(), ...COMMANDS.map(commandHelp)]) {
      assert.match(page, /^icesweep /);
      for (const line of page.split('\n')) assert.ok([...line].length <= 80, line);
    }
  });

  const said = async (...argv: readonly string[]): Promise<readonly [number, string]> => {
    const terminal = new FakeTerminal();
    return [await main(argv, terminal), terminal.outText + terminal.errText];
  };

  test('is the same page before and behind the name of each command', async () => {
    for (const command of COMMANDS) {
      assert.deepEqual(await said('help', command.name), [0, commandHelp(command)]);
      assert.deepEqual(await said(command.name, '--help'), [0, commandHelp(command)]);
    }
    assert.deepEqual(await said('help'), [0, generalHelp()]);
    assert.deepEqual(await said(), [64, generalHelp()]);
    assert.match((await said('help', 'pln'))[1], /no command "pln".*icesweep plan\?/);
  });

  test('--version tells the package and its version', async () => {
    const { version } = JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8'));

    assert.deepEqual(await said('--version'), [0, `icesweep ${version}\n`]);
  });
});
