import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { RunRecord } from '#shared/run/record.ts';
import { FleetWorld, RUN_TABLE, WORK_BUCKET } from '#test/support/fleet-world.ts';
import { runRecord } from '#test/support/run-record.ts';
import { refusal, STATE_MACHINE } from '#test/support/step-functions.ts';
import type { TableWriter } from '#test/support/table-writer.ts';

const FLEET = ['--run-table', RUN_TABLE, '--work-bucket', WORK_BUCKET] as const;
const oneLine = (text: string): string => text.replace(/\s+/g, ' ');

describe('a deployed fleet, started and read from the command line', () => {
  let world: FleetWorld;
  let location = '';
  let writer: TableWriter;
  let planned = '';
  before(async () => {
    world = await FleetWorld.open();
    ({ location, writer } = await world.table('orders'));
  });
  after(() => world.close());

  const standing = async (): Promise<Set<string>> => {
    const keys = new Set<string>();
    for await (const { key } of world.lake.scan('orders/', undefined)) keys.add(key);
    return keys;
  };

  test('start follows a dry run to its end and prints its record as one document', async () => {
    const { code, out, err } = await world.start(location, '--output', 'json', '--detailed-exitcode');
    const record = JSON.parse(out) as RunRecord;
    planned = record.run_id;

    assert.equal(code, 2, err);
    assert.equal(record.verdict, 'DRY_RUN');
    assert.equal(record.orphan_files_count, writer.unreferenced().size);
    assert.equal(record.run_id, world.states.latest.name);
    assert.match(err, /^Started arn:aws:states:eu-west-1:\d+:execution:sweeper:start-orders-/);
    for (const action of ['StartExecution', 'DescribeExecution', 'GetExecutionHistory', 'ListMapRuns'])
      assert.ok(world.states.asked.includes(action), action);
  });

  test('runs reads the run table: of all tables, and of one by its name', async () => {
    const all = await world.run(['runs', '--run-table', RUN_TABLE, '--output', 'json']);
    const one = await world.run(['runs', location, '--run-table', RUN_TABLE]);

    assert.deepEqual(
      (JSON.parse(all.out) as RunRecord[]).map((record) => record.run_id),
      [planned],
    );
    assert.match(one.out, new RegExp(planned));
  });

  test('report shows the lists of the work bucket, its page, and without the bucket what the record says', async () => {
    const page = join(world.folder, 'report.html');
    const whole = await world.run(['report', planned, ...FLEET]);
    const alone = await world.run(['report', planned, '--run-table', RUN_TABLE]);
    const html = await world.run(['report', planned, ...FLEET, '--html', page]);
    const unnamed = await world.run(['report', planned, '--run-table', RUN_TABLE, '--html', page]);

    assert.match(whole.out, /^\[DRY RUN\].*\n[\s\S]*orphans by kind/);
    assert.match(alone.out, /^\[DRY RUN\]/);
    assert.doesNotMatch(alone.out, /orphans by kind/);
    assert.equal(html.code, 0, html.err);
    assert.match(readFileSync(page, 'utf8'), /^<!doctype html>/);
    assert.deepEqual([unnamed.code, unnamed.err.split(':')[0]], [64, 'InvalidInputError']);
  });

  test('explain tells an orphan of the fleet from a referenced file', async () => {
    const [orphan] = [...writer.unreferenced()];
    const live = [...writer.referenced()].find((key) => key.includes('/data/'));
    const lost = await world.run(['explain', planned, `s3://lake/${orphan}`, ...FLEET]);
    const kept = await world.run(['explain', planned, `s3://lake/${live}`, ...FLEET]);

    assert.match(lost.out, /orphan: no metadata names it/, lost.err);
    assert.match(oneLine(kept.out), /kept: referenced: named as data file/, kept.err);
  });

  test('start --output jsonl lists every orphan once, and asks for the work bucket before it starts anything', async () => {
    const before = world.states.latest.name;
    const without = await world.start(location, '--output', 'jsonl');
    assert.equal(without.code, 64);
    assert.match(without.err, /^InvalidInputError: .*--work-bucket/);
    assert.equal(world.states.latest.name, before);

    const { code, out } = await world.start(location, '--output', 'jsonl', '--work-bucket', WORK_BUCKET);
    const paths = out
      .split('\n')
      .filter(Boolean)
      .map((line) => (JSON.parse(line) as { orphan_file_location: string }).orphan_file_location);
    assert.equal(code, 0);
    assert.deepEqual(paths.sort(), [...writer.unreferenced()].map((key) => `s3://lake/${key}`).sort());
  });

  test('a refusal exits 3 with its error and the sentence of its Cause, and with the run table its whole record', async () => {
    const strict = ['--max-orphan-percent', '1', '--min-files', '1'];
    const brief = await world.start(location, ...strict, '--output', 'json');
    const whole = await world.start(location, ...strict, ...FLEET);
    const { verdict, error, cause } = JSON.parse(brief.out) as Record<string, string>;

    assert.deepEqual([brief.code, whole.code], [3, 3]);
    assert.deepEqual([verdict, error], ['REFUSED', 'ThresholdExceededError']);
    assert.match(brief.err, /\nThresholdExceededError: \S+ .*\n$/);
    assert.ok(brief.err.includes(cause as string));
    assert.match(whole.out, /^\[REFUSED\].*\n[\s\S]*did not pass: /);
  });

  test('what the deployment does not allow is wrong input, and a table that is not there a failure', async () => {
    const loose = await world.start(location, '--max-orphan-percent', '99', '--quiet');
    const absent = await world.start('s3://lake/none', '--quiet', '--output', 'json');

    assert.match(loose.err, /^InvalidInputError: .*max_orphan_percent/);
    assert.deepEqual([loose.code, loose.out], [64, '']);
    assert.equal((JSON.parse(absent.out) as RunRecord).error, 'TableNotFoundError');
    assert.deepEqual([absent.code, absent.err.split(':')[0]], [1, 'TableNotFoundError']);
  });

  test('a table whose lease another job holds is skipped with exit 3, and cleaned after unlock', async () => {
    const locked = await world.run(['lock', location, '--run-table', RUN_TABLE, '--comment', 'compaction']);
    const skipped = await world.start(location, '--no-dry-run');
    const unlocked = await world.run(['unlock', location, '--run-table', RUN_TABLE]);

    assert.equal(locked.code, 0, locked.err);
    assert.match(skipped.out, /^\[SKIPPED\]/);
    assert.match(skipped.err, /RunInProgressError: .*compaction/);
    assert.equal(skipped.code, 3);
    assert.match(unlocked.out, /is unlocked/);
    assert.deepEqual(await standing(), writer.written);
  });

  test('an aborted execution exits 130, and its record is in the run table', async () => {
    world.states.fault = (action) => {
      if (action === 'GetExecutionHistory') world.states.stop();
      return undefined;
    };
    const { code, err } = await world.start(location, '--no-dry-run');
    world.states.fault = () => undefined;
    const report = await world.run(['report', world.states.latest.name, ...FLEET]);

    assert.equal(code, 130);
    assert.match(err, /\nExecutionAborted: The run was stopped/);
    assert.match(report.out, /^\[ABORTED\]/);
    assert.deepEqual(await standing(), writer.written);
  });

  test('keys that the store keeps back make the run partial, exit 4', async () => {
    const [kept] = [...writer.unreferenced()].filter((key) => key.includes('/data/'));
    world.store.fault({
      bucket: 'lake',
      operation: 'DeleteObjects',
      effect: { keyErrors: { [kept as string]: 'AccessDenied' } },
    });
    const { code, out } = await world.start(location, '--plan', planned, '--no-dry-run', ...FLEET);
    world.store.clearFaults();

    assert.match(out, /^\[PARTIAL\].* 1 remain/);
    assert.equal(code, 4);
    assert.deepEqual(await standing(), new Set([...writer.referenced(), kept]));
  });

  test('a deleting run deletes the rest, says nothing else with --quiet, and the next finds nothing to do', async () => {
    const deleted = await world.start(location, '--no-dry-run', '--quiet', '--output', 'json');
    const again = await world.start(location, '--no-dry-run', '--quiet', '--detailed-exitcode');

    assert.equal((JSON.parse(deleted.out) as RunRecord).verdict, 'DELETED');
    assert.deepEqual([deleted.code, deleted.err], [0, '']);
    assert.match(again.out, /^\[NOTHING TO DO\]/);
    assert.deepEqual([again.code, again.err], [0, '']);
    assert.deepEqual(await standing(), writer.referenced());
  });
});

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
    const run = await world.run(['explain', 'r', 'p', ...FLEET]);

    assert.match(table.err, /^InvalidInputError: DynamoDB knows no run table "nothing".*--run-table/);
    assert.match(bucket.err, /^InvalidInputError: --work-bucket alone/);
    assert.match(run.err, /^InvalidInputError: There is no run "r"/);
    assert.deepEqual([table.code, bucket.code, run.code], [64, 64, 64]);
  });
});
