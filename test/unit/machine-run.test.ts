import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { startScriptedMachine } from '#test/infra/scripted-machine.ts';

const scripted = await startScriptedMachine();
after(() => scripted[Symbol.asyncDispose]());

function outputOf(end: { status: string }): Record<string, unknown> {
  assert.equal(end.status, 'SUCCEEDED', JSON.stringify(end));
  return (end as unknown as { output: Record<string, unknown> }).output;
}

test('a dry run goes from the plan to its record and deletes nothing', async () => {
  const { end, states } = await scripted.play({ verdict: 'DRY_RUN' });

  assert.equal(outputOf(end)['verdict'], 'DRY_RUN');
  assert.deepEqual(states, [
    'BeginRun',
    'PlanRun',
    'WhatDidThePlanFind?',
    'ScanManifests',
    'BuildFilters',
    'ListStorage',
    'BeginEvaluation',
    'EvaluateRun',
    'WhatIsTheVerdict?',
    'RecordRun',
    'Done',
  ]);
});

test('a deleting run probes before the scan, rechecks before the deletes and hands on batches and digest', async () => {
  const { end, states } = await scripted.play({ deleting: true, verdict: 'DELETE' });

  const { run } = outputOf(end)['state'] as { run: Record<string, unknown> };
  assert.match(String(run['batches_key']), /evaluate\/batches\.jsonl$/);
  assert.equal(run['plan_digest'], 'digest');
  const order = ['ProbeDelete', 'IsThePlanSealed?', 'ScanManifests', 'RecheckTable', 'DeleteOrphans', 'RecordRun'];
  assert.deepEqual(
    states.filter((state) => order.includes(state)),
    order,
  );
});

test('a sealed plan goes from the probe to the recheck without a scan', async () => {
  const { end, states } = await scripted.play({ outcome: 'SEALED_PLAN', deleting: true });

  assert.equal(end.status, 'SUCCEEDED', JSON.stringify(end));
  assert.ok(states.includes('ProbeDelete') && states.includes('DeleteOrphans'));
  assert.ok(!states.includes('ScanManifests') && !states.includes('EvaluateRun'));
});

test('a skipped run is recorded and succeeds', async () => {
  const { end, states } = await scripted.play({ outcome: 'SKIPPED' });

  assert.equal(outputOf(end)['verdict'], 'SKIPPED');
  assert.deepEqual(states.slice(-2), ['RecordRun', 'Done']);
});

test('plan, workers and evaluation that need more time are called again with their own last answer', async () => {
  const { end, states } = await scripted.play({ planRounds: 3, rounds: 3, verdict: 'NOTHING_TO_DO' });

  const { state } = outputOf(end) as { state: { run: { next: string }; evaluation: { next: string } } };
  assert.equal(state.run.next, 'round-3');
  assert.equal(state.evaluation.next, '3');
  assert.equal(states.filter((name) => name === 'PlanRun').length, 3);
});

test('a refusal is a failed execution under the name of the error, after it was recorded', async () => {
  const { end, states } = await scripted.play({ verdict: 'REFUSED' });

  assert.equal(end.status, 'FAILED');
  assert.equal(end.status === 'FAILED' && end.error, 'ThresholdExceededError');
  assert.deepEqual(states.slice(-3), ['RecordFailure', 'WasItRefused?', 'RunRefused']);
});

test('a verdict that the machine does not know leads to a failure, never to the delete stage', async () => {
  const { end, states } = await scripted.play({ verdict: 'SURPRISE' });

  assert.equal(end.status, 'FAILED');
  assert.ok(!states.includes('RecheckTable'));
});

test('an error of the plan reaches the Fail state with its name and the function’s error as cause', async () => {
  const { end } = await scripted.play({ fail: { stage: 'plan', name: 'GcDisabledError' } });

  assert.equal(end.status, 'FAILED');
  if (end.status !== 'FAILED') return;
  assert.equal(end.error, 'GcDisabledError');
  assert.equal(JSON.parse(end.cause).errorMessage, 'plan fails as told');
});

test('one failed item of a mark stage fails the run and starts no further stage', async () => {
  for (const stage of ['scan', 'build', 'list']) {
    const { end, states } = await scripted.play({ items: 4, fail: { stage, item: 2, name: 'ScanIncompleteError' } });

    assert.equal(end.status === 'FAILED' && end.error, 'States.ExceedToleratedFailureThreshold', stage);
    assert.ok(!states.includes('EvaluateRun'));
  }
});

test('failed batches are tolerated and counted', async () => {
  const { end, events } = await scripted.play({
    deleting: true,
    items: 4,
    verdict: 'DELETE',
    fail: { stage: 'delete', item: 1, name: 'Oops' },
  });

  assert.equal(end.status, 'SUCCEEDED', JSON.stringify(end));
  const last = events.filter((event) => event.type === 'progress' && event.state === 'DeleteOrphans').pop();
  assert.deepEqual(last, { type: 'progress', state: 'DeleteOrphans', done: 3, failed: 1, total: 4 });
});

test('what a service could not answer is tried again, what is wrong is not', async () => {
  const again = await scripted.play({ fail: { stage: 'evaluate', name: 'ServiceUnavailableError', times: 2 } });
  const never = await scripted.play({
    fail: { stage: 'recheck', name: 'TableChangedError', times: 1 },
    verdict: 'DELETE',
  });

  assert.equal(again.end.status, 'SUCCEEDED', JSON.stringify(again.end));
  assert.equal(never.end.status === 'FAILED' && never.end.error, 'TableChangedError');
});

test('results of a map lie under the run’s prefix, one line per child', async () => {
  const { end } = await scripted.play({ items: 3 });

  const { run } = outputOf(end)['state'] as { run: { results_prefix: string } };
  const results = [...scripted.store.objects].filter(([key]) => key.startsWith(`/work/${run.results_prefix}/`));
  const succeeded = results.filter(([key]) => key.endsWith('SUCCEEDED_0.json'));
  assert.equal(results.filter(([key]) => key.endsWith('manifest.json')).length, 3);
  assert.equal(succeeded.length, 3);
  for (const [, body] of succeeded) assert.equal(JSON.parse(body.toString()).length, 3);
});

test('an input that is no object, or has a member named run, is still recorded', async () => {
  const forged = await scripted.play({ verdict: 'DRY_RUN' }, { run: { outcome: 'SEALED_PLAN', plan_digest: 'x' } });
  const execution = scripted.machine.run('just text');

  assert.equal(forged.end.status, 'SUCCEEDED');
  const end = await execution.result;
  assert.equal(end.status, 'SUCCEEDED', JSON.stringify(end));
});
