import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { BIN } from '#test/support/cli-world.ts';

const NOBODY = 65534;

function skipped(): string | false {
  if (process.getuid?.() !== 0) return 'only root can run a program as somebody else';
  const readable = spawnSync(process.execPath, ['--version'], { uid: NOBODY, gid: NOBODY }).status === 0;
  const entered = spawnSync('test', ['-r', BIN], { uid: NOBODY, gid: NOBODY }).status === 0;
  return readable && entered ? false : 'this folder is closed to others';
}

test('where the packages belong to somebody else, bundles go to the user’s own cache', { skip: skipped() }, () => {
  const home = mkdtempSync(join(tmpdir(), 'icesweep-home-'));
  try {
    chownSync(home, NOBODY, NOBODY);
    const { XDG_CACHE_HOME: _, ...environment } = process.env;
    const { status, stdout, stderr } = spawnSync(process.execPath, [BIN, 'runs', '--state', join(home, 'state')], {
      uid: NOBODY,
      gid: NOBODY,
      cwd: home,
      encoding: 'utf8',
      env: { ...environment, HOME: home },
    });

    assert.equal(status, 0, stderr);
    assert.match(stdout, /^No runs yet/);
    assert.ok(existsSync(join(home, '.cache/icesweep/machines')));
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
});
