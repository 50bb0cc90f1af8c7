/** Each gate of the plan both ways: what it refuses, and what it lets pass. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { artefact } from '#shared/run/artefacts.ts';
import { parseDeployment } from '#shared/run/deployment.ts';
import { storeFault } from '#test/support/memory-store.ts';
import { DAY_MS, OLD_MS, PlanWorld, T0_MS } from '#test/support/plan-world.ts';
import { TableWriter } from '#test/support/table-writer.ts';

const MANIFESTS = /\/(?:snap-[^/]*|[^/]*-m\d+)\.avro$/;

/** Runs the plan stage, which must refuse by name, before any manifest or manifest list was opened. */
async function refusesBeforeManifests(
  world: PlanWorld,
  name: string,
  pattern: RegExp,
  input: object = {},
): Promise<void> {
  world.calls.length = 0;
  await assert.rejects(world.run({ ...input }), (error: Error) => {
    assert.equal(error.name, name);
    assert.match(error.message, pattern);
    return true;
  });
  const opened = world.calls.filter(({ operation, key }) => operation === 'get' && MANIFESTS.test(key));
  assert.deepEqual(opened, []);
}

async function worldWith(properties: Record<string, string>): Promise<PlanWorld> {
  const world = new PlanWorld();
  await world.table({ properties });
  return world;
}

test('CS-11 CO-02 a wrong input costs no call to the storage', async () => {
  const world = new PlanWorld();
  await world.table();
  for (const older_than of ['2030-01-01T00:00:00Z', '1h', '0']) await assert.rejects(world.run({ older_than }));
  assert.deepEqual(world.calls, []);
});

for (const value of ['false', 'FALSE', 'False', '', 'no', '0']) {
  test(`FF-09 SA-16 SP-04 AM-05 gc.enabled=${JSON.stringify(value)} refuses, dry run or not, and no manifest is read`, async () => {
    const world = await worldWith({ 'gc.enabled': value });
    await refusesBeforeManifests(world, 'GcDisabledError', /GC is disabled/);
    await refusesBeforeManifests(world, 'GcDisabledError', /GC is disabled/, { dry_run: false });
  });
}

for (const value of ['true', 'TRUE', 'True']) {
  test(`FF-09 gc.enabled=${value} passes`, async () => {
    const world = await worldWith({ 'gc.enabled': value });
    assert.equal((await world.run()).outcome, 'PLANNED');
  });
}

test('CA-04 DR-14 properties of a catalog with many heads refuse', async () => {
  const world = await worldWith({ 'nessie.catalog.content-id': 'x' });
  await refusesBeforeManifests(world, 'UnsupportedTableError', /several current versions/);
});

test('an encrypted table refuses', async () => {
  const world = await worldWith({ 'encryption.key-id': 'k1' });
  await refusesBeforeManifests(world, 'UnsupportedTableError', /encrypted/);
});

test('FF-11 RP-01 a table at the root of its bucket refuses', async () => {
  const world = new PlanWorld();
  const writer = new TableWriter(world.sink, { location: 's3://b/', place: { bucket: 'b', prefix: 'meta' } });
  await writer.create();
  const key = world.store.keys('b').find((each) => each.endsWith('.metadata.json'));
  await refusesBeforeManifests(world, 'LocationConflictError', /root of the bucket/, {
    metadata_location: `s3://b/${key}`,
  });
});

test('a bucket of S3 Tables, and a directory bucket, refuse by name', async () => {
  for (const bucket of ['x--table-s3', 'x--use1-az4--x-s3']) {
    const world = new PlanWorld();
    world.store.createBucket(bucket);
    await world.table({ location: `s3://${bucket}/wh/t` });
    await refusesBeforeManifests(world, 'UnsupportedTableError', /bucket/, { table: `s3://${bucket}/wh/t` });
  }
});

for (const log of ['_delta_log/00000000000000000000.json', '.hoodie/hoodie.properties', 'data/_delta_log/0.json']) {
  test(`FF-06 ${log} beside the data refuses`, async () => {
    const world = new PlanWorld();
    await world.table();
    world.seed(`wh/t/${log}`);
    await refusesBeforeManifests(world, 'LocationConflictError', /another table format/);
  });
}

test('FF-01 the metadata file of another table in the metadata folder refuses', async () => {
  const world = new PlanWorld();
  await world.table();
  await new TableWriter(world.sink, { location: 's3://b/wh/t', seed: 9 }).create();
  // The other table's file has a lower version, so that the pin is ours.
  await refusesBeforeManifests(world, 'LocationConflictError', /another table/);
});

test('FF-01 a metadata file that cannot be read refuses', async () => {
  const world = new PlanWorld();
  await world.table();
  world.seed('wh/t/metadata/00001-z.metadata.json', Buffer.from('not json'));
  await refusesBeforeManifests(world, 'LocationConflictError', /cannot be read/);
});

test('leavings of a dropped table may go where the deployment names its uuid', async () => {
  const world = new PlanWorld();
  await world.table();
  const dropped = await new TableWriter(world.sink, { location: 's3://b/wh/t', seed: 9 }).create();
  world.deployment = parseDeployment({
    tables: { 's3://b/wh/t': { former_table_uuids: [dropped.tableUuid!.toUpperCase()] } },
  });
  const { plan } = await world.plan();
  assert.equal(plan.metadata_roots.length, 1);
});

test('old metadata files of ours, out of the log, are no conflict and no roots', async () => {
  const world = new PlanWorld();
  const writer = await world.table({ previousVersionsMax: 1 }, [{}, {}, {}]);
  const { plan } = await world.plan();
  assert.equal(plan.metadata_roots.length, 1);
  assert.equal(plan.pin.key, writer.metadataFile?.key);
  assert.equal(plan.superseded_metadata_files, 2);
});

test('FF-13 DR-17 DR-18 a table without metadata files is not found, never empty', async () => {
  const world = new PlanWorld();
  world.seed('wh/t/data/a.parquet');
  await refusesBeforeManifests(world, 'TableNotFoundError', /no file/);
  world.seed('wh/t/metadata/snap-1.avro');
  await refusesBeforeManifests(world, 'TableNotFoundError', /no metadata file/);
});

test('CA-06 DR-21 a denied listing or read ends the run, and is never taken for nothing', async () => {
  const world = new PlanWorld();
  await world.table();
  const denied = new Set(['list wh/t/metadata/', 'list wh/t/', 'list wh/t/data/']);
  for (const call of denied) {
    world.onTableCall = ({ operation, key }) => {
      if (`${operation} ${key}` === call) throw storeFault('AccessDenied');
    };
    await assert.rejects(world.run({}, `run ${call}`), { name: 'AccessDeniedError' });
  }
  world.onTableCall = ({ operation }) => {
    if (operation === 'get') throw storeFault('AccessDenied');
  };
  await assert.rejects(world.run({}, 'run get'), { name: 'AccessDeniedError' });
});

test('a throttled or broken store is a passing fault', async () => {
  const world = new PlanWorld();
  await world.table();
  world.onTableCall = () => {
    throw storeFault('Throttled');
  };
  await assert.rejects(world.run(), { name: 'ServiceUnavailableError' });
});

test('a table-uuid that is asked for must be the one that is found', async () => {
  const world = new PlanWorld();
  const writer = await world.table();
  const { plan } = await world.plan({ table_uuid: writer.tableUuid }, 'run-0');
  assert.equal(plan.pin.table_uuid, writer.tableUuid);
  await refusesBeforeManifests(world, 'TableNotFoundError', /no metadata file of table 11111111/, {
    table_uuid: '11111111-2222-4333-8444-555555555555',
  });
});

test('CS-07 CH-12 CH-23 a location outside the roots refuses', async () => {
  const world = new PlanWorld();
  await world.table();
  for (const location of [
    's3://b/wh/u/',
    's3://b/wh/t2/',
    '/absolute',
    's3://other/wh/t/data/',
    'checkpoint/',
    'dat',
  ]) {
    await refusesBeforeManifests(world, 'InvalidInputError', /outside this table/, { location });
  }
  for (const location of ['data/', './data/', 'data/p=1', 's3://b/wh/t/data/', 's3a://b/wh/t/data']) {
    const { plan } = await world.plan({ location }, `run-${location}`);
    assert.equal(plan.roots.length, 1, location);
    assert.ok(plan.roots[0]!.prefix.startsWith('wh/t/data/'), location);
  }
});

test('the gates that passed stand in the plan, with cut-off and writer time', async () => {
  const world = new PlanWorld();
  await world.table();
  const { plan } = await world.plan();
  assert.deepEqual(
    plan.gates.map(({ name }) => name),
    [
      'older_than',
      'table_uuid',
      'format_version',
      'encryption',
      'gc.enabled',
      'single_head',
      'location',
      'bucket',
      'catalog_agrees',
      'other_formats',
      'unlogged_metadata_files',
      'overlapping_tables',
    ],
  );
  assert.equal(plan.cutoff, new Date(T0_MS - 3 * DAY_MS).toISOString());
  assert.ok(Date.parse(plan.writer_time!) < OLD_MS + DAY_MS);
});

test('CO-10 a deleting run whose table is leased ends SKIPPED and says why', async () => {
  const world = new PlanWorld();
  await world.table();
  const first = await world.run({ dry_run: false }, 'run-a');
  const second = await world.run({ dry_run: false }, 'run-b');

  assert.equal(first.outcome, 'PLANNED');
  assert.equal(first.fencing_token, 1);
  assert.equal(second.outcome, 'SKIPPED');
  const note = await world.artefacts(second).readJson<{ message: string }>(artefact.skipped);
  assert.match(note!.message, /held by run-a/);
});

test('CO-10 a dry run takes no lease and is not kept off by one', async () => {
  const world = new PlanWorld();
  await world.table();
  await world.run({ dry_run: false }, 'run-a');
  assert.equal((await world.run({}, 'run-b')).outcome, 'PLANNED');
  assert.equal(world.items.items.size, 1);
});

test('OR-07 a scheduled time is taken once, and again by the same run', async () => {
  const world = new PlanWorld();
  await world.table();
  const input = { scheduled_time: '2026-02-01T03:00:00Z' };
  assert.equal((await world.run(input, 'run-a')).outcome, 'PLANNED');
  world.calls.length = 0;
  assert.equal((await world.run(input, 'run-b')).outcome, 'SKIPPED');
  assert.deepEqual(world.calls, []);
  assert.equal((await world.run(input, 'run-a')).outcome, 'PLANNED');
});

test('a key of the input named like the state is refused, not believed', async () => {
  const world = new PlanWorld();
  await world.table();
  await assert.rejects(world.run({ run: { outcome: 'MORE', next: 'x' } }), { name: 'InvalidInputError' });
});
