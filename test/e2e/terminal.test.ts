/** The command line on a pseudo-terminal, as a person has it: progress, the question, Ctrl-C. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { BIN, type CliWorld, cliWorld } from '#test/support/cli-world.ts';
import { hasTerminals, onTerminal as runOnTerminal, type TerminalSession } from '#test/support/pty.ts';

const skip = hasTerminals() ? false : 'needs script of util-linux';

function onTerminal(world: CliWorld, args: readonly string[], environment = {}): TerminalSession {
  const words = [process.execPath, BIN, ...args, '--state', world.state].map((word) => `'${word}'`);
  return runOnTerminal(words.join(' '), { environment });
}

describe('on a terminal', { skip }, () => {
  let world: CliWorld;
  before(async () => {
    world = await cliWorld(40);
  });
  after(() => world.remove());

  test('progress redraws one line per stage, and a no at the question deletes nothing', async () => {
    const before = world.remaining();
    const session = onTerminal(world, ['run', world.table]);
    await session.shows(/Type the table's name, orders, to go on: /);
    session.type('no\r');

    assert.equal(await session.exit, 3);
    assert.ok(session.text().includes('\r\u001b[Kscan     '));
    assert.match(session.text(), /Delete 53 orphan files \(.*\) from s3:\/\/lake\/sales\/orders\?/);
    assert.match(session.text(), /oldest .* UTC[\s\S]*newest .* UTC/);
    assert.match(session.text(), /Not confirmed; nothing was deleted\./);
    assert.deepEqual(world.remaining(), before);
  });

  test('Ctrl-C at the question is a no', async () => {
    const session = onTerminal(world, ['run', world.table, '--quiet']);
    await session.shows(/to go on: /);
    session.type('\u0003');

    assert.equal(await session.exit, 3);
    assert.match(session.text(), /Not confirmed/);
  });

  test('NO_COLOR leaves no colour, and without it the verdict has one', async () => {
    const plain = onTerminal(world, ['plan', world.table, '--quiet'], { NO_COLOR: '1' });
    assert.equal(await plain.exit, 0);
    const coloured = onTerminal(world, ['plan', world.table, '--quiet']);
    assert.equal(await coloured.exit, 0);

    assert.ok(!plain.text().includes('\u001b[1;'));
    assert.ok(coloured.text().includes('\u001b[1;36m[DRY RUN]\u001b[0m'));
  });

  test('Ctrl-C while deleting ends the batch, writes the record and says how to go on; the next run does the rest', async () => {
    const before = world.remaining().length;
    const pace = ['--delete-batch-size', '5', '--delete-cooldown-seconds', '2'];
    const session = onTerminal(world, ['run', world.table, '--yes', ...pace]);
    await session.shows(/delete {3}.*files/);
    session.type('\u0003');

    assert.equal(await session.exit, 130);
    assert.match(session.text(), /Stopping: the running work is finished/);
    assert.match(session.text(), /\[(?:ABORTED|FAILED)\]/);
    assert.match(session.text(), /Run the same command again/);
    const gone = before - world.remaining().length;
    assert.ok(gone > 0 && gone < world.orphans.length, `${gone} deleted`);
    for (const path of world.referenced) assert.ok(world.remaining().includes(path), path);

    const { code } = await world.run('run', world.table, '--yes', '--quiet');
    assert.equal(code, 0);
    assert.equal(world.remaining().length, before - world.orphans.length);
  });
});
