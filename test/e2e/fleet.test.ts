import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { RunRecord } from '#shared/run/record.ts';
import { FleetWorld, RUN_TABLE, WORK_BUCKET } from '#test/support/fleet-world.ts';
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
