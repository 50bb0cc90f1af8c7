/** A team's CDK app runs on its own Node, 20 or newer; only the functions and the command line have a newer one to themselves. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { PROJECT } from '#test/support/cli-world.ts';

/** The language of Node 20: ES2023, and of ES2024 the strings. `using` is compiled to what it knows. */
const LIBRARIES = ['es2023', 'es2024.string', 'esnext.disposable'];

test('the construct and all that it loads need no built-in that Node 20 lacks', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'icesweep-node20-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const config = {
    extends: join(PROJECT, 'tsconfig.json'),
    compilerOptions: {
      target: 'es2023',
      lib: LIBRARIES,
      typeRoots: [join(PROJECT, 'node_modules', '@types')],
      rootDir: PROJECT,
    },
    include: [],
    files: [join(PROJECT, 'infra', 'index.ts')],
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
  const tsc = join(PROJECT, 'node_modules', 'typescript', 'bin', 'tsc');

  const { status, stdout } = spawnSync(process.execPath, [tsc, '--project', folder], { encoding: 'utf8' });

  assert.deepEqual({ status, stdout }, { status: 0, stdout: '' });
});
