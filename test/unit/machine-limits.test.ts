import assert from 'node:assert/strict';
import test from 'node:test';
import { LambdaPool } from '#infra/local/machine/lambda-pool.ts';
import { functionArn } from '#infra/local/machine/names.ts';
import type { MachineFile } from '#infra/local/machine/types.ts';
import { scriptedMachineFile, startScriptedMachine } from '#test/infra/scripted-machine.ts';

/** The machine with one function's limits made small. */
async function limited(
  name: string,
  limits: { memoryMegabytes?: number; timeoutSeconds?: number },
): Promise<MachineFile> {
  const file = await scriptedMachineFile();
  const arn = functionArn(name);
  const spec = file.functions[arn];
  assert.ok(spec);
  return { ...file, functions: { ...file.functions, [arn]: { ...spec, ...limits } } };
}

function errorOf(end: { status: string; error?: string; cause?: string }): string {
  assert.equal(end.status, 'FAILED', JSON.stringify(end));
  return `${end.error} ${end.cause}`;
}

test('a worker whose heap outgrows its memory dies, twice more at most, and fails its item', async () => {
  await using scripted = await startScriptedMachine({ machineFile: await limited('scan', { memoryMegabytes: 96 }) });

  const { end } = await scripted.play({ items: 1, eat: 'heap' });

  assert.match(errorOf(end as never), /ExceedToleratedFailureThreshold/);
  const failed = [...scripted.store.objects].find(([key]) => key.endsWith('FAILED_0.json'));
  assert.match(String(failed?.[1]), /Runtime\.(ExitError|OutOfMemory)/);
});

test('a worker that outgrows its memory with Buffers dies too, though its heap is small', async () => {
  await using scripted = await startScriptedMachine({ machineFile: await limited('scan', { memoryMegabytes: 256 }) });

  const { end } = await scripted.play({ items: 1, eat: 'buffers' });

  assert.match(errorOf(end as never), /ExceedToleratedFailureThreshold/);
  const failed = [...scripted.store.objects].find(([key]) => key.endsWith('FAILED_0.json'));
  assert.match(String(failed?.[1]), /Runtime\.OutOfMemory/);
});

test('after a death the next call finds a fresh process', async () => {
  await using scripted = await startScriptedMachine({ machineFile: await limited('scan', { memoryMegabytes: 256 }) });

  await scripted.play({ items: 1, eat: 'buffers' });
  const { end } = await scripted.play({ items: 1 });

  assert.equal(end.status, 'SUCCEEDED');
});

test('a function that outlasts its timeout is killed and its task fails as on Lambda', async () => {
  await using scripted = await startScriptedMachine({ machineFile: await limited('evaluate', { timeoutSeconds: 1 }) });

  const { end } = await scripted.play({ hang: 'evaluate' });

  assert.match(errorOf(end as never), /Sandbox\.Timedout.*timed out after 1\.00 seconds/);
});

test('the time that a call waits for a process is not taken from its own', async () => {
  const file = await limited('scan', { timeoutSeconds: 1 });
  const spec = file.functions[functionArn('scan')];
  assert.ok(spec);
  const pool = new LambdaPool({
    functions: { scan: spec },
    environment: {},
    logDir: '/tmp',
    processesPerFunction: 1,
  });
  const event = (hang: boolean) => ({
    run: { script: hang ? { hang: 'scan' } : {} },
    item: { shard: 0 },
    step: { next: '' },
  });

  const [first, second] = await Promise.allSettled([
    pool.invoke('scan', event(true)),
    pool.invoke('scan', event(false)),
  ]);
  pool.close();

  assert.equal(first.status, 'rejected');
  assert.equal(second.status, 'fulfilled');
});

test('a state above 256 KiB ends the execution and no Catch keeps it alive', async () => {
  await using scripted = await startScriptedMachine();

  const { end, states } = await scripted.play({ padding: 0 }, { comment: 'x'.repeat(300_000) });

  assert.match(errorOf(end as never), /States\.DataLimitExceeded/);
  assert.ok(!states.includes('RecordFailure'));
});
