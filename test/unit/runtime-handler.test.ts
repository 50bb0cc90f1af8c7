import assert from 'node:assert/strict';
import test, { mock } from 'node:test';
import { AccessDeniedError, GcDisabledError } from '#shared/errors.ts';
import { readDeployment, readEnv } from '#shared/runtime/env.ts';
import {
  type ExecutionEndedEvent,
  isExecutionEndedEvent,
  recordEventOf,
} from '#shared/runtime/execution-ended-event.ts';
import { leaveFailureNote } from '#shared/runtime/failure-note.ts';
import { shapeError } from '#shared/runtime/shape-error.ts';
import { stageHandler } from '#shared/runtime/stage-handler.ts';
import type { StagePorts } from '#shared/runtime/stage-ports.ts';
import { StoreError } from '#shared/storage/object-store.ts';

const ENV = { WORK_BUCKET: 'w', RUN_TABLE: 't', RUN_STATUS_INDEX: 'i', DEPLOYMENT: '{}' };
Object.assign(process.env, ENV, { AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b', POWERTOOLS_DEV: 'true' });
for (const method of ['log', 'info', 'warn', 'error'] as const) mock.method(console, method, () => {});

function context(remainingMs: number) {
  const endMs = Date.now() + remainingMs;
  return { awsRequestId: 'r', getRemainingTimeInMillis: () => endMs - Date.now() };
}

test('OR-16: the budget is what Lambda leaves, less the last net, and never a constant', async () => {
  const handler = stageHandler('list', async (_event: unknown, ports) => ports.budget.remainingMs());

  const [short, long] = [await handler({}, context(30_000)), await handler({}, context(900_000))];

  assert.ok(short > 25_000 && short < 29_000, String(short));
  assert.ok(long > 895_000 && long < 899_000, String(long));
});

test('a stage that does not look at its budget is answered for, under an error that is tried again', async () => {
  const handler = stageHandler('list', () => new Promise<never>(() => setTimeout(() => {}, 10_000).unref()));

  await assert.rejects(handler({}, context(1000)), { name: 'ServiceUnavailableError' });
});

test('an error of ours leaves the handler as it is, a store’s outage as one to try again', async () => {
  const fails = (error: Error) => stageHandler('plan', () => Promise.reject(error))({}, context(30_000));

  await assert.rejects(fails(new GcDisabledError('no')), { name: 'GcDisabledError', message: 'no' });
  await assert.rejects(fails(new StoreError('Throttled', 'slow down')), { name: 'ServiceUnavailableError' });
  await assert.rejects(fails(new StoreError('AccessDenied', 's3:GetObject on x')), { name: 'AccessDeniedError' });
});

test('errors of AWS services are told apart by name, code and status', () => {
  const sdk = (name: string, status?: number): Error =>
    Object.assign(new Error('said'), { name, $metadata: { httpStatusCode: status } });

  assert.equal(shapeError(sdk('ProvisionedThroughputExceededException', 400)).name, 'ServiceUnavailableError');
  assert.equal(shapeError(sdk('Whatever', 503)).name, 'ServiceUnavailableError');
  assert.equal(shapeError(sdk('AccessDeniedException', 400)).name, 'AccessDeniedError');
  assert.equal(shapeError(Object.assign(new Error('x'), { code: 'ECONNRESET' })).name, 'ServiceUnavailableError');
  assert.equal(shapeError(new TypeError('bug')).name, 'TypeError');
  assert.equal(shapeError(new StoreError('NotFound', 'x')).name, 'StoreError');
  assert.equal(shapeError('text').message, 'text');
});

test('a wrong environment names every variable', () => {
  assert.throws(() => readEnv('plan', { WORK_BUCKET: 'w' }), /RUN_TABLE.*RUN_STATUS_INDEX.*DEPLOYMENT/);
  assert.equal(readEnv('delete', { ...ENV, DELETE_ROLE_ARN: '' }).DELETE_ROLE_ARN, undefined);
  assert.throws(() => readDeployment('{'), { name: 'MisconfiguredError' });
});

function notesOf(): { written: Map<string, string>; ports: Pick<StagePorts, 'work' | 'workBucket' | 'clock' | 'log'> } {
  const written = new Map<string, string>();
  const put = async (_bucket: string, key: string, body: Uint8Array) => {
    written.set(key, Buffer.from(body).toString());
    return { etag: '' };
  };
  const log = { info() {}, warn() {}, error() {} };
  return {
    written,
    ports: { work: { put } as never, workBucket: 'w', clock: { now: () => 0, sleep: async () => {} }, log },
  };
}

test('a failed worker leaves a note beside the receipts, with the true error', async () => {
  const { written, ports } = notesOf();
  const event = { run: { run_id: 'r', prefix: 'runs/t/r' }, item: { shard: 7 } };

  await leaveFailureNote('scan', event, new AccessDeniedError('s3:GetObject'), ports);

  const [[key, text]] = [...written] as [[string, string]];
  assert.match(key, /^runs\/t\/r\/failures\/scan-7-/);
  assert.deepEqual(JSON.parse(text), {
    run_id: 'r',
    stage: 'scan',
    item: '7',
    error: 'AccessDeniedError',
    message: 's3:GetObject',
    at: '1970-01-01T00:00:00.000Z',
    transient: false,
  });
});

test('no note is left where there is no item, and a note that cannot be written hides nothing', async () => {
  const { written, ports } = notesOf();
  await leaveFailureNote('plan', { run: { run_id: 'r', prefix: 'p' } }, new Error('x'), ports);
  assert.equal(written.size, 0);

  const denied = { ...ports, work: { put: () => Promise.reject(new Error('denied')) } as never };
  await leaveFailureNote('scan', { run: { run_id: 'r', prefix: 'p' }, item: { shard: 0 } }, new Error('x'), denied);
});

test('an execution that was stopped is recorded under its own times and input, also where the event has none', () => {
  const event: ExecutionEndedEvent = {
    source: 'aws.states',
    detail: {
      executionArn: 'arn:e',
      stateMachineArn: 'arn:m',
      name: 'run-1',
      status: 'TIMED_OUT',
      startDate: 1_700_000_000_123,
      input: '{"table":"db.t"}',
    },
  };

  const recorded = recordEventOf(event);

  assert.ok(isExecutionEndedEvent(event) && !isExecutionEndedEvent({ record: 'run' }) && !isExecutionEndedEvent(null));
  assert.deepEqual(recorded.input, { table: 'db.t' });
  assert.equal(recorded.execution.start_time, '2023-11-14T22:13:20.123Z');
  assert.equal(recorded.state.error?.Error, 'ExecutionTimedOut');
  assert.deepEqual(recordEventOf({ ...event, detail: { ...event.detail, input: null } }).input, {});
  const failed = { ...event.detail, status: 'FAILED', error: 'States.Runtime', cause: 'x' } as const;
  assert.deepEqual(recordEventOf({ ...event, detail: failed }).state.error, { Error: 'States.Runtime', Cause: 'x' });
});
