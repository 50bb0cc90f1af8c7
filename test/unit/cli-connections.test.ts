import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { readConnection, saveConnection } from '#infra/local/state/connections.ts';

test('a damaged note of how a run reached its table is a named error, an absent one is none', (context) => {
  const state = mkdtempSync(join(tmpdir(), 'icesweep-connections-'));
  context.after(() => rmSync(state, { recursive: true }));
  const connection = { directories: ['/lake'] };
  saveConnection(state, 'run-1', connection);
  assert.deepEqual(readConnection(state, 'run-1'), connection);
  assert.equal(readConnection(state, 'run-2'), undefined);

  const [file] = readdirSync(join(state, 'connections'));
  for (const damaged of ['{', '', 'null', '{}']) {
    writeFileSync(join(state, 'connections', file as string), damaged);

    assert.throws(() => readConnection(state, 'run-1'), { name: 'MisconfiguredError' }, damaged);
  }
});
