import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { after, before, describe, test } from 'node:test';
import { FleetWorld, RUN_TABLE, WORK_BUCKET } from '#test/support/fleet-world.ts';
import { runRecord } from '#test/support/run-record.ts';
import { refusal, STATE_MACHINE } from '#test/support/step-functions.ts';

describe('what can become of a start', () => {
  let world: FleetWorld;
  before(async () => {
    world = await FleetWorld.open();
  });
  after(() => world.close());

  const output = JSON.stringify(runRecord({ verdict: 'NOTHING_TO_DO' }));
  const start = async (next: typeof world.states.next, fault: typeof world.states.fault = () => undefined) => {
    Object.assign(world.states, { next, fault });
    world.states.asked.length = 0;
    return world.start('sales.orders');
  };
  const succeeded = { status: 'SUCCEEDED', output } as const;
  const asked = (action: string): number => world.states.asked.filter((one) => one === action).length;
  /** The first `count` calls of the action. */
  const first = (count: number, action: string, reply: ReturnType<typeof world.states.fault>) => {
    let left = count;
    return (call: string) => (call === action && left-- > 0 ? reply : undefined);
  };

  test('an execution out of time, or stopped with words of its own, exits 130', async () => {
    const late = await start({ status: 'TIMED_OUT' });
    const stopped = await start({ status: 'ABORTED', error: 'Freeze', cause: 'change freeze' });

    assert.deepEqual([late.code, stopped.code], [130, 130]);
    assert.match(late.err, /\nExecutionTimedOut: .*ran out of time/);
    assert.match(stopped.err, /\nExecutionAborted: /);
  });

  test('a failure of the state machine itself is shown by its name', async () => {
    const { code, err } = await start({ status: 'FAILED', error: 'States.Runtime' });

    assert.equal(code, 1);
    assert.match(err, /\nStates.Runtime: no cause was given/);
  });

  test('a state machine that is none of ours is found out', async () => {
    const { code, err } = await start({ status: 'SUCCEEDED', output: '{"ok":true}' });

    assert.equal(code, 1);
    assert.match(err, /\nMisconfiguredError: .*--state-machine/);
  });

  test('a state machine that is not there is wrong input', async () => {
    const args = ['start', 'sales.orders', '--state-machine', `${STATE_MACHINE}x`];
    const { code, err } = await world.run(args);

    assert.equal(code, 64);
    assert.match(err, /^InvalidInputError: Step Functions knows no state machine .*sweeperx.*--state-machine/);
  });

  test('a role that may not see the history follows on, and is told once', async () => {
    let polls = 0;
    const { code, err } = await start('never', (action) => {
      if (action === 'DescribeExecution' && ++polls > 2) Object.assign(world.states.latest, { end: succeeded });
      return action === 'GetExecutionHistory' ? refusal('AccessDeniedException', 'not authorized') : undefined;
    });

    assert.equal(code, 0, err);
    assert.equal(err.match(/No progress is shown: states:GetExecutionHistory .*denied/g)?.length, 1);
    assert.equal(asked('GetExecutionHistory'), 1);
  });

  test('a start whose answer was lost is followed, not started twice', async () => {
    const { code, err } = await start(succeeded, first(1, 'StartExecution', 'lost'));

    assert.equal(code, 0, err);
    assert.equal(asked('StartExecution'), 2);
    assert.match(err, /^Started arn:/);
  });

  test('a name that another run has taken is not followed', async () => {
    const taken = refusal('ExecutionAlreadyExists', 'Execution Already Exists');
    const { code, err } = await start(succeeded, (action) => {
      if (action === 'StartExecution') return taken;
      return { json: { status: 'RUNNING', input: '{"table":"another"}' } };
    });

    assert.equal(code, 64);
    assert.match(err, /^InvalidInputError: The execution name .* is taken/);
  });

  test('throttling is waited out; one that persists says that the start is not known', async () => {
    const throttled = refusal('ThrottlingException', 'Rate exceeded');
    const patient = await start(succeeded, first(2, 'StartExecution', throttled));
    const never = await start(succeeded, (action) => (action === 'StartExecution' ? throttled : undefined));

    assert.equal(patient.code, 0, patient.err);
    assert.equal(never.code, 1);
    assert.match(never.err, /^ServiceUnavailableError: .*Rate exceeded.*Look for the execution start-sales-orders-/);
  });

  test('a network that is gone for a while is told, and the run followed to its end', async () => {
    // As often as the SDK tries by itself, once more than a person would not notice.
    const { code, err } = await start(succeeded, first(3, 'DescribeExecution', { cut: true }));

    assert.equal(code, 0, err);
    assert.match(err, /Step Functions did not answer DescribeExecution.*The run goes on[\s\S]*answers again/);
  });

  test('a role that may start and not look says that the run goes on', async () => {
    const { code, err } = await start(succeeded, (action) =>
      action === 'DescribeExecution' ? refusal('AccessDeniedException', 'not authorized') : undefined,
    );

    assert.equal(code, 1);
    assert.match(err, /\nAccessDeniedError: arn:\S+ was started.*states:DescribeExecution.*goes on/);
  });

  test('credentials that are expired or absent are told as such', async () => {
    const expired = await start(succeeded, () => refusal('ExpiredTokenException', 'The security token is expired'));
    const nobody = { AWS_ACCESS_KEY_ID: '', AWS_SECRET_ACCESS_KEY: '', AWS_EC2_METADATA_DISABLED: 'true' };
    const args = ['start', 'sales.orders', '--state-machine', STATE_MACHINE];
    const none = await world.run(args, undefined, nobody);
    const unknown = await world.run([...args, '--profile', 'nobody']);

    for (const { code, err } of [expired, none, unknown]) {
      assert.equal(code, 1);
      assert.match(err, /^AccessDeniedError: .*--profile/m);
    }
  });

  test('Ctrl-C leaves the execution going and says how to stop it', async () => {
    Object.assign(world.states, { next: 'never', fault: () => undefined });
    let child: ChildProcess | undefined;
    world.states.fault = (action) => {
      if (action === 'ListMapRuns') child?.kill('SIGINT');
      return undefined;
    };
    const args = ['start', 'sales.orders', '--state-machine', STATE_MACHINE];
    const { code, err } = await world.run(args, (started) => {
      child = started;
    });

    assert.equal(code, 130);
    assert.match(err, /The run goes on. Stop it with: aws stepfunctions stop-execution --execution-arn arn:/);
    assert.equal(world.states.latest.end, undefined);
    assert.equal(asked('StopExecution'), 0);
  });

  test('what only this machine has is refused before anything is started', async () => {
    world.states.asked.length = 0;
    const token = ['--catalog', 'rest', '--uri', 'http://c', '--token-env', 'T'];
    const refused = [
      await world.start('sales.orders', ...token),
      await world.start('sales.orders', '--mount', 's3://a=.'),
      await world.start('sales.orders', '--older-than', '3'),
      await world.run(['start', 'sales.orders', '--state-machine', 'sweeper']),
    ];

    assert.deepEqual(
      refused.map(({ code, err }) => [code, err.split(':')[0]]),
      refused.map(() => [64, 'InvalidInputError']),
    );
    assert.deepEqual(world.states.asked, []);
  });

  test('a run table or a work bucket that is not there is wrong input', async () => {
    const table = await world.run(['runs', '--run-table', 'nothing']);
    const bucket = await world.run(['report', 'r', '--work-bucket', 'nothing']);
    const run = await world.run(['explain', 'r', 'p', '--run-table', RUN_TABLE, '--work-bucket', WORK_BUCKET]);

    assert.match(table.err, /^InvalidInputError: DynamoDB knows no run table "nothing".*--run-table/);
    assert.match(bucket.err, /^InvalidInputError: --work-bucket alone/);
    assert.match(run.err, /^InvalidInputError: There is no run "r"/);
    assert.deepEqual([table.code, bucket.code, run.code], [64, 64, 64]);
  });
});
