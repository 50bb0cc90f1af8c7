import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { BIN, PROJECT } from '#test/support/cli-world.ts';

/** A Node of the host that is older than ours, behind the one that npm puts first. */
function olderNode(): string | undefined {
  const path = (process.env['PATH'] ?? '').split(':').filter((part) => !part.includes('node_modules'));
  for (const folder of path) {
    try {
      const version = execFileSync(join(folder, 'node'), ['--version'], {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      if (Number(/^v(\d+)/.exec(version)?.[1]) < 24) return join(folder, 'node');
    } catch {
      // No Node there.
    }
  }
  return undefined;
}

const older = olderNode();

describe('the entry on an older Node', {
  skip: older === undefined ? 'needs a Node older than 24 on the host' : false,
}, () => {
  test('goes on with the Node of the install and passes exit code and streams on', () => {
    const { status, stderr } = spawnSync(older as string, [BIN, 'pln'], { cwd: PROJECT, encoding: 'utf8' });

    assert.equal(status, 64);
    assert.match(stderr, /^InvalidInputError: .*Did you mean icesweep plan\?/);
  });

  test('says in one line what to do where no Node came with the install', () => {
    const folder = mkdtempSync(join(tmpdir(), 'icesweep-bin-'));
    mkdirSync(join(folder, 'local'));
    writeFileSync(join(folder, 'package.json'), '{"type": "module"}');
    copyFileSync(BIN, join(folder, 'local/bin.js'));
    const { status, stderr } = spawnSync(older as string, [join(folder, 'local/bin.js'), '--help'], {
      encoding: 'utf8',
    });
    rmSync(folder, { recursive: true });

    assert.equal(status, 1);
    assert.match(stderr, /^icesweep needs Node 24 or newer .*install Node 24.*\n$/);
  });
});

test('a fault that nobody could catch is told in one line, without a stack', () => {
  const folder = mkdtempSync(join(tmpdir(), 'icesweep-bin-'));
  mkdirSync(join(folder, 'local/cli'), { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{"type": "module"}');
  copyFileSync(BIN, join(folder, 'local/bin.js'));
  writeFileSync(
    join(folder, 'local/cli/main.js'),
    'export const main = () => new Promise(() => setImmediate(() => { throw new Error("no space"); }));',
  );
  const { status, stderr } = spawnSync(process.execPath, [join(folder, 'local/bin.js')], { encoding: 'utf8' });
  rmSync(folder, { recursive: true });

  assert.equal(status, 1);
  assert.equal(stderr, 'UnexpectedFault: no space. Mend it and run the same command again.\n');
});
