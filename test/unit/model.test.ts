import assert from 'node:assert/strict';
import test from 'node:test';
import { modelRun, modelTable, totalUsd } from '#infra/model.ts';

test('a run costs some fourteen dollars per billion files, requests more than anything else', () => {
  const run = modelRun(1e9);
  assert.ok(totalUsd(run) > 10 && totalUsd(run) < 20, String(totalUsd(run)));
  assert.ok(run.usd.requests > run.usd.lambda && run.usd.requests > run.usd.transitions);
});

test('cost grows with the files, and the work of a shard does not', () => {
  const [small, large] = [modelRun(1e7), modelRun(1e8)];
  const ratio = totalUsd(large) / totalUsd(small);
  assert.ok(ratio > 8 && ratio < 12, String(ratio));
  assert.ok(large.seconds.scan <= small.seconds.scan * 1.3);
});

test('the table has a row for each size', () => {
  assert.match(modelTable([1e6, 1e9]), /\| 1M \|[^\n]+\n\| 1B \|/);
});
