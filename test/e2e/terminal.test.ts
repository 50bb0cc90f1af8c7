/** The command line on a pseudo-terminal, as a person has it: progress, the question, Ctrl-C. */
import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { after, before, describe, test } from 'node:test';
import { BIN, type CliWorld, cliWorld } from '#test/support/cli-world.ts';

function findScript(): boolean {
  try {
    return execFileSync('script', ['--version'], { encoding: 'utf8' }).includes('util-linux');
  } catch {
    return false;
  }
}

const skip = findScript() ? false : 'needs script of util-linux';

interface Session {
  readonly text: () => string;
  type(keys: string): void;
  /** Resolves once the screen shows it. */
  shows(pattern: RegExp): Promise<void>;
  readonly exit: Promise<number | null>;
}

const WAIT_MS = 60_000;

/** `script` gives the command a terminal; 80 columns, as the texts are made for. */
function onTerminal(world: CliWorld, args: readonly string[], environment: Record<string, string> = {}): Session {
  const words = [process.execPath, BIN, ...args, '--state', world.state].map((word) => `'${word}'`).join(' ');
  const child: ChildProcess = spawn('script', ['-qefc', `stty cols 80 rows 40; ${words}`, '/dev/null'], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, TERM: 'xterm', ...environment },
  });
  let text = '';
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  return {
    text: () => text,
    type: (keys) => child.stdin?.write(keys),
    shows: async (pattern) => {
      for (let waited = 0; !pattern.test(text); waited += 50) {
        if (waited > WAIT_MS) throw new Error(`The screen never showed ${pattern}:\n${text}`);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    },
    exit: new Promise((resolve) => child.on('close', (code) => resolve(code))),
  };
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
    await session.shows(/delete {3}.*batches/);
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
