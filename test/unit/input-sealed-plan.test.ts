import assert from 'node:assert/strict';
import test from 'node:test';
import { parseDeployment } from '#shared/run/deployment.ts';
import { resolveInput } from '#shared/run/input.ts';

test('GO-09 what would narrow a sealed plan is refused, since it would be ignored', () => {
  const deployment = parseDeployment({ local: true });
  const sealed = { table: 's3://b/wh/t', catalog: { type: 'path' }, plan: 'run-1' };
  for (const narrowing of [{ location: 'data/' }, { exclude: ['data/keep/**'] }]) {
    assert.throws(() => resolveInput({ ...sealed, ...narrowing }, deployment), { name: 'InvalidInputError' });
  }
  assert.equal(resolveInput(sealed, deployment).plan, 'run-1');
});
