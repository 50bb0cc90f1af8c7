import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { RunRecord } from '#shared/run/record.ts';
import { BIN, cliWorld } from '#test/support/cli-world.ts';

const NOBODY = 65534;

function skipped(): string | false {
  if (process.getuid?.() !== 0) return 'only root can run a program as somebody else';
  const readable = spawnSync(process.execPath, ['--version'], { uid: NOBODY, gid: NOBODY }).status === 0;
  const entered = spawnSync('test', ['-r', BIN], { uid: NOBODY, gid: NOBODY }).status === 0;
  return readable && entered ? false : 'this folder is closed to others';
}

test('where the packages belong to somebody else, bundles go to the user’s own cache', {
  skip: skipped(),
}, async () => {
  const { folder: home, table, state, remove } = await cliWorld();
  try {
    const owned = spawnSync('chown', ['-R', `${NOBODY}:${NOBODY}`, home]);
    assert.equal(owned.status, 0, String(owned.stderr));
    const { XDG_CACHE_HOME: _, ...environment } = process.env;
    const line = [BIN, 'plan', table, '--state', state, '--max-orphan-percent', '100', '--output', 'json'];
    const { status, stdout, stderr } = spawnSync(process.execPath, line, {
      uid: NOBODY,
      gid: NOBODY,
      cwd: home,
      encoding: 'utf8',
      env: { ...environment, HOME: home },
    });

    assert.equal(status, 0, stderr);
    assert.equal((JSON.parse(stdout) as RunRecord).verdict, 'DRY_RUN');
    assert.ok(existsSync(join(home, '.cache/icesweep/machines')));
  } finally {
    remove();
  }
});
