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

test('an alias that leads to no bucket is refused before anything is read', () => {
  const deployment = parseDeployment({ local: true });
  const input = { table: 's3://b/wh/t', catalog: { type: 'path' } };
  for (const target of ['', '/srv/copy', 's3://', 's3:///copy', 'hdfs://nn/copy']) {
    const path_aliases = { 'hdfs://nn/wh/t': target };
    assert.throws(() => resolveInput({ ...input, path_aliases }, deployment), { name: 'InvalidInputError' }, target);
  }
  const path_aliases = { 'hdfs://nn/wh/t': 's3://b/copy' };
  assert.deepEqual(resolveInput({ ...input, path_aliases }, deployment).path_aliases, path_aliases);
});
