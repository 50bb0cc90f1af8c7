import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { ExecutionRegister, serveRegister } from '#infra/local/machine/executions.ts';
import { executionArn } from '#infra/local/machine/names.ts';
import { openExecutionDirectory } from '#shared/runtime/execution-directory.ts';
import { startScriptedMachine } from '#test/infra/scripted-machine.ts';

function stateFolder(t: { after(clean: () => void): void }): string {
  const folder = mkdtempSync(join(tmpdir(), 'icesweep-executions-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

test('a stopped execution ends at once, kills its workers and is recorded by the function behind the rule', async () => {
  await using scripted = await startScriptedMachine();
  const execution = scripted.machine.run({ table: 'db.t', script: { hang: 'scan' } }, { name: 'stop-me' });
  await new Promise<void>((resolve) => execution.onEvent((event) => event.type === 'progress' && resolve()));

  execution.stop();
  const end = await execution.result;

  assert.equal(end.status, 'ABORTED');
  const recorded = JSON.parse(String(scripted.store.objects.get('/work/aborted/stop-me.json')));
  assert.equal(recorded.state.error.Error, 'ExecutionAborted');
  assert.equal(recorded.execution.id, executionArn('stop-me'));
});

test('the recorded start of a stopped execution is the one that its stages saw', async () => {
  await using scripted = await startScriptedMachine();

  const { end } = await scripted.play({ outcome: 'SKIPPED' });

  assert.equal(end.status, 'SUCCEEDED');
  const output = (end as { output: { execution: { name: string; start_time: string } } }).output;
  const known = new ExecutionRegister(scripted.stateDir).describe(output.execution.name);
  assert.equal(known?.startDate, output.execution.start_time);
  assert.equal(known?.status, 'SUCCEEDED');
});

test('a name is used once', async () => {
  await using scripted = await startScriptedMachine();
  await scripted.machine.run({ script: { outcome: 'SKIPPED' } }, { name: 'once' }).result;

  assert.throws(() => scripted.machine.run({}, { name: 'once' }), /ExecutionAlreadyExists/);
  assert.throws(() => scripted.machine.run({}, { name: 'not/a name' }), /no execution name/);
});

test('handlers ask the register under the protocol of Step Functions', async (t) => {
  const register = new ExecutionRegister(stateFolder(t));
  const server = await serveRegister(register);
  const directory = openExecutionDirectory({ region: 'us-east-1', endpoint: server.endpoint });
  register.start('runs', new Date().toISOString());
  register.start('ended', new Date().toISOString());
  register.end('ended', { status: 'SUCCEEDED' });

  const answers = await Promise.all(
    ['runs', 'ended', 'never-started'].map((name) => directory.status(executionArn(name))),
  );
  await server.close();

  assert.deepEqual(answers, ['running', 'ended', 'ended']);
  assert.equal(await directory.status(executionArn('runs')), 'unknown', 'nobody answers');
});

test('an execution whose process was killed no longer runs', async (t) => {
  const folder = stateFolder(t);
  const child = fork(join(import.meta.dirname, '../infra/start-and-stay.ts'), [folder]);
  await new Promise<void>((resolve) => child.once('message', () => resolve()));
  const register = new ExecutionRegister(folder);
  assert.equal(register.describe('stays')?.status, 'RUNNING');

  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await gone;

  assert.equal(register.describe('stays')?.status, 'ABORTED');
});

test('a note of an execution that is half-written tells of none that runs, and keeps nobody from the others', (t) => {
  const folder = stateFolder(t);
  const register = new ExecutionRegister(folder);
  register.start('half', new Date().toISOString(), {});

  for (const damaged of ['', '{"name":"ha', 'null']) {
    writeFileSync(join(folder, 'executions/half.json'), damaged);

    assert.equal(register.describe('half'), undefined);
    assert.deepEqual(register.killed(), []);
  }
});

test('an execution whose process was killed is recorded once by the machine that comes after it', async (t) => {
  const stateDir = stateFolder(t);
  const child = fork(join(import.meta.dirname, '../infra/start-and-stay.ts'), [stateDir]);
  await new Promise<void>((resolve) => child.once('message', () => resolve()));
  await using scripted = await startScriptedMachine({ stateDir });
  const register = new ExecutionRegister(stateDir);
  await scripted.machine.recordKilled('stays');
  assert.deepEqual(register.killed(), []);
  assert.equal(scripted.store.objects.has('/work/aborted/stays.json'), false, 'it still runs');
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await gone;
  assert.deepEqual(register.killed(), ['stays']);

  await scripted.machine.recordKilled('stays');

  assert.ok(scripted.store.objects.has('/work/aborted/stays.json'));
  assert.deepEqual(register.killed(), []);
  assert.equal(register.describe('stays')?.status, 'ABORTED');
});

test('records outlive the machine that wrote them', async (t) => {
  const stateDir = stateFolder(t);
  const item = { pk: 'TABLE#t', sk: 'RUN#1', status_pk: 'RUNS', status_sk: '1' };
  {
    await using first = await startScriptedMachine({ stateDir });
    assert.equal(await first.machine.items.put(item, [[{ absent: true }]]), true);
  }
  await using second = await startScriptedMachine({ stateDir });

  assert.deepEqual(await second.machine.items.get(item), item);
  assert.deepEqual(await second.machine.items.queryByStatus({ statusPk: 'RUNS' }), [item]);
});
