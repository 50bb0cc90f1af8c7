import assert from 'node:assert/strict';
import test from 'node:test';
import { tellStarted } from '#functions/plan/tell-started.ts';
import { artefact } from '#shared/run/artefacts.ts';
import type { PlanEvent, RunState } from '#shared/run/messages.ts';
import type { RunRecord } from '#shared/run/record.ts';
import { findRecord, recentRecords, recordsOfTable } from '#shared/run/run-store.ts';
import { storeFault } from '#test/support/memory-store.ts';
import { ALLOW_ALL, orphanWorld } from '#test/support/orphan-world.ts';
import { KilledError, type RunWorld } from '#test/support/run-world.ts';

const PATH_TABLE = { table: 's3://b/wh/t', catalog: { type: 'path' } } as const;

function leaseOwner(world: RunWorld): unknown {
  return [...world.items.items.values()].find((item) => item.pk.startsWith('LEASE#'))?.['owner'];
}

test('a record is found by run, by table and by verdict, and its summary says the same', async () => {
  const { world } = await orphanWorld(3);

  const { record } = await world.run(ALLOW_ALL, 'swept');

  assert.deepEqual(await findRecord(world.items, 'swept'), record);
  assert.deepEqual(await recordsOfTable(world.items, PATH_TABLE), [record]);
  assert.deepEqual(await recentRecords(world.items), [record]);
  const { body } = await world.work.get('work', `${record.artefacts}/${artefact.summary}`);
  assert.deepEqual(JSON.parse(body.toString()), record);
});

test('every verdict has its event, with the record in it', async () => {
  const { world } = await orphanWorld(200);

  await world.run({ ...ALLOW_ALL, dry_run: true }, 'dry');
  await world.run({ max_orphan_percent: 20 }, 'refused');
  await world.run({ ...ALLOW_ALL, max_files_per_run: 150 }, 'partial');
  await world.run(ALLOW_ALL, 'swept');

  assert.deepEqual(
    world.events.map(({ type, detail }) => [type, detail['run_id'], detail['version']]),
    [
      ['Succeeded', 'dry', '1'],
      ['Refused', 'refused', '1'],
      ['Partial', 'partial', '1'],
      ['Succeeded', 'swept', '1'],
    ],
  );
});

test('skipped, failed and aborted runs have their events too', async () => {
  const { world } = await orphanWorld(200);
  let denied = false;
  world.tables.options = {
    ...world.tables.options,
    onCall: ({ operation, phase }) => {
      if (denied && operation === 'list' && phase === 'before') throw storeFault('AccessDenied');
    },
  };
  const scheduled = { ...ALLOW_ALL, dry_run: true, scheduled_time: '2026-01-02T03:00:00Z' };
  await world.run(scheduled, 'scheduled');
  await world.run(scheduled, 'skipped');
  world.onStage = (stage) => {
    if (stage === 'delete') throw new KilledError('killed');
  };
  await assert.rejects(world.run(ALLOW_ALL, 'killed'), KilledError);
  await world.recordAbort('killed', ALLOW_ALL);
  world.onStage = (stage) => {
    denied = stage === 'list';
  };
  await world.run(ALLOW_ALL, 'failed');

  assert.deepEqual(
    world.events.map(({ type, detail }) => [type, detail['run_id'], detail['version'], detail['error']]),
    [
      ['Succeeded', 'scheduled', '1', undefined],
      ['Skipped', 'skipped', '1', 'RunInProgressError'],
      ['Aborted', 'killed', '1', 'ExecutionAborted'],
      ['Failed', 'failed', '1', 'AccessDeniedError'],
    ],
  );
});

test('a run is told as started by its first call, unless it was skipped', async () => {
  const told: [string, object][] = [];
  const events = { publish: async (type: string, detail: object) => void told.push([type, detail]) };
  const run = { run_id: 'r', table: 'db.t', deleting: true, outcome: 'MORE' } as RunState;
  const execution = { id: 'arn:x', name: 'r', start_time: '2026-11-30T03:00:00Z', state_machine: 'arn:m' };
  const event = { input: {}, execution, state: {} } as PlanEvent;

  await tellStarted(event, { ...run, outcome: 'SKIPPED' }, { events });
  await tellStarted(event, run, { events });
  await tellStarted({ ...event, state: { run } }, { ...run, outcome: 'PLANNED' }, { events });

  const started_at = execution.start_time;
  assert.deepEqual(told, [
    ['Started', { version: '1', run_id: 'r', table: 'db.t', execution: 'arn:x', started_at, deleting: true }],
  ]);
});

test('the lease is given back by a run that ended well, that was refused, and that was aborted', async () => {
  const { world } = await orphanWorld(200);
  await world.run({ max_orphan_percent: 20 }, 'refused');
  assert.equal(leaseOwner(world), '');
  world.onStage = (stage) => {
    if (stage === 'delete') throw new KilledError('killed');
  };
  await assert.rejects(world.run(ALLOW_ALL, 'killed'), KilledError);
  world.onStage = () => undefined;
  assert.equal(leaseOwner(world), 'killed');

  const record = await world.recordAbort('killed', ALLOW_ALL);

  assert.equal(record.verdict, 'ABORTED');
  assert.equal(record.dry_run, false);
  assert.equal(leaseOwner(world), '');
});

test('an end from outside never replaces what a run told of itself', async () => {
  const { world } = await orphanWorld(3);
  const { record } = await world.run(ALLOW_ALL, 'swept');
  const events = world.events.length;

  const standing = await world.recordAbort('swept', ALLOW_ALL, Date.parse(record.started_at));

  assert.deepEqual(standing, record);
  assert.equal(world.events.length, events);
  const { body } = await world.work.get('work', `${record.artefacts}/${artefact.summary}`);
  assert.equal((JSON.parse(body.toString()) as RunRecord).verdict, 'DELETED');
});

test('an execution that failed past every state of its own is recorded from outside, with what it deleted', async () => {
  const { world, orphans } = await orphanWorld(3);
  world.onStage = (stage) => {
    if (stage === 'record') throw new KilledError('both record states fail');
  };
  await assert.rejects(world.run(ALLOW_ALL, 'broken'), KilledError);
  world.onStage = () => undefined;
  const error = { Error: 'States.DataLimitExceeded', Cause: 'The state returned a result that is too large.' };

  const record = await world.recordAbort('broken', ALLOW_ALL, world.nowMs, error);

  assert.deepEqual([record.verdict, record.error], ['FAILED', 'States.DataLimitExceeded']);
  assert.equal(record.deleted_files_count, orphans.length);
  assert.equal(world.events.at(-1)?.type, 'Failed');
  assert.equal(leaseOwner(world), '');
});

test('a failed run that told its own end is not told again', async () => {
  const { world } = await orphanWorld(200);
  const { record } = await world.run({ max_orphan_percent: 20 }, 'refused');
  const events = world.events.length;
  const error = { Error: record.error as string, Cause: record.cause as string };

  const standing = await world.recordAbort('refused', {}, Date.parse(record.started_at), error);

  assert.deepEqual(standing, record);
  assert.equal(world.events.length, events);
});

test('a receipt of no plan fails the run by name, and the record is written all the same', async () => {
  const { world } = await orphanWorld(3);
  world.onStage = async (stage) => {
    if (stage !== 'evaluate') return;
    const receipt = world.work.keys('work').find((key) => key.endsWith(artefact.listReceipt(0)));
    await world.work.put('work', receipt as string, Buffer.from('{}'));
  };

  const { record } = await world.run(ALLOW_ALL, 'harmed');

  assert.deepEqual([record.verdict, record.error], ['FAILED', 'ListingIncompleteError']);
  assert.deepEqual(await findRecord(world.items, 'harmed'), record);
});

test('the error of a record is that of the worker, not that of the map', async () => {
  const { world } = await orphanWorld(3);
  world.tables.options = {
    ...world.tables.options,
    onCall: ({ operation, phase }) => {
      if (operation === 'list' && phase === 'before' && world.nowMs > 0 && listing) throw storeFault('AccessDenied');
    },
  };
  let listing = false;
  world.onStage = (stage) => {
    listing = stage === 'list';
  };

  const { record, failure } = await world.run(ALLOW_ALL);

  assert.equal(record.error, 'AccessDeniedError');
  assert.equal(failure?.error, 'AccessDeniedError');
  assert.match(record.next_step ?? '', /permission/);
  assert.match(failure?.cause ?? '', /never redriven/);
});

test('a report that cannot be written hides nothing of how the run ended', async () => {
  const { world } = await orphanWorld(3);
  world.work.options = {
    ...world.work.options,
    onCall: ({ operation, key, phase }) => {
      if (operation === 'put' && phase === 'before' && key.endsWith('report.html')) throw storeFault('BadRequest');
    },
  };

  const { record } = await world.run(ALLOW_ALL);

  assert.equal(record.verdict, 'DELETED');
  assert.equal(record.report, null);
  assert.match(record.warnings.join(' '), /report page could not be written/);
});

test('a mended fault of an earlier stage does not make a throttled-out run a failed one', async () => {
  const { world } = await orphanWorld(3);
  let faults = 1;
  let stageNow = '';
  world.onStage = (stage) => {
    stageNow = stage;
  };
  world.tables.options = {
    ...world.tables.options,
    onCall: ({ operation, phase }) => {
      if (phase !== 'before') return;
      if (operation === 'list' && stageNow === 'list' && faults-- > 0) throw storeFault('Unavailable');
      if (operation === 'deleteObjects' && stageNow === 'delete') throw storeFault('Throttled');
    },
  };

  const { record } = await world.run(ALLOW_ALL);

  assert.equal(record.verdict, 'PARTIAL');
  assert.equal(record.remaining_files_count, 3);
});
