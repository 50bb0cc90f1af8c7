import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { App, Duration, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { ScheduleExpression } from 'aws-cdk-lib/aws-scheduler';
import { scheduleFault } from '#infra/constructs/check-tables.ts';
import { executionNamePart } from '#infra/constructs/table-schedules.ts';
import { type CleanupTableProps, OrphanCleanup, type OrphanCleanupProps } from '#infra/index.ts';
import { readTablesFile, tablesFileJsonSchema } from '#infra/tables-file.ts';
import { parseDeployment } from '#shared/run/deployment.ts';
import { FAKE_FUNCTIONS } from './scripted-machine.ts';
import { deploy, flat, LOCATION, nestedTemplates, type Resource, resourcesOf } from './synthesized.ts';

const NIGHTLY = ScheduleExpression.cron({ hour: '3', minute: '0' });

function schedulesOf(props: Partial<OrphanCleanupProps>): Resource[] {
  return nestedTemplates(deploy(props).stack).flatMap((template) =>
    resourcesOf(template, 'AWS::Scheduler::Schedule').map(([, schedule]) => schedule),
  );
}

/** Writes the whole assembly and answers the settings that the functions will read. */
function settingsOf(props: Partial<OrphanCleanupProps>): ReturnType<typeof parseDeployment> {
  const outdir = mkdtempSync(join(tmpdir(), 'icesweep-synth-'));
  try {
    const app = new App({ outdir, analyticsReporting: false, context: { 'icesweep:functions': FAKE_FUNCTIONS } });
    new OrphanCleanup(new Stack(app, 'Fleet'), 'Cleanup', { tableLocations: [LOCATION], ...props });
    app.synth();
    const folder = readdirSync(outdir).find((name) => name.startsWith('deployment.')) as string;
    return parseDeployment(JSON.parse(readFileSync(join(outdir, folder, 'deployment.json'), 'utf8')));
  } finally {
    rmSync(outdir, { recursive: true, force: true });
  }
}

test('a schedule starts the machine in a window, with few retries, a dead-letter queue and the scheduled time in the input', () => {
  const [schedule] = schedulesOf({ tables: [{ table: 'db.orders', schedule: NIGHTLY }] });
  const { FlexibleTimeWindow, Target, ScheduleExpression: expression, State, GroupName } = schedule?.Properties ?? {};
  const input = JSON.parse(flat(Target.Input));

  assert.equal(expression, 'cron(0 3 * * ? *)');
  assert.equal(State, 'ENABLED');
  assert.ok(GroupName);
  assert.deepEqual(FlexibleTimeWindow, { Mode: 'FLEXIBLE', MaximumWindowInMinutes: 60 });
  assert.deepEqual(Target.RetryPolicy, { MaximumRetryAttempts: 3, MaximumEventAgeInSeconds: 7200 });
  assert.ok(Target.DeadLetterConfig.Arn);
  assert.match(flat(Target.Arn), /aws-sdk:sfn:startExecution$/);
  assert.deepEqual(JSON.parse(input.Input), { table: 'db.orders', scheduled_time: '<aws.scheduler.scheduled-time>' });
});

test('OR-07: an execution is named after table and scheduler execution, the scheduled time is in the input alone', () => {
  const [schedule] = schedulesOf({ tables: [{ table: 'db.orders', schedule: NIGHTLY }] });
  const { Name } = JSON.parse(flat(schedule?.Properties.Target.Input));

  assert.equal(Name, 'db-orders-<aws.scheduler.execution-id>');
  assert.equal(executionNamePart('s3://lake/warehouse/db/orders/'), 's3-lake-warehouse-db-orders');
  assert.equal(executionNamePart(`db.${'x'.repeat(200)}`).length, 40);
  assert.match(executionNamePart('дб.таблица'), /^[A-Za-z0-9_-]+$/);
});

test('OR-13: 600 tables synthesize, no stack has more than 500 resources, and all are scheduled', () => {
  const tables = Array.from({ length: 600 }, (_, i) => ({ table: `db.table_${i}`, schedule: NIGHTLY, dryRun: false }));
  const { stack } = deploy({ tables });
  const templates = [Template.fromStack(stack), ...nestedTemplates(stack)];
  const counts = templates.map((template) => Object.keys(template.toJSON().Resources).length);

  assert.ok(
    counts.every((count) => count <= 500),
    counts.join(),
  );
  assert.equal(templates.flatMap((template) => resourcesOf(template, 'AWS::Scheduler::Schedule')).length, 600);
  assert.ok(templates.every((template) => JSON.stringify(template.toJSON()).length < 1_000_000));
});

test('the settings of 600 tables reach the functions as a file, not as variables', () => {
  const tables = Array.from({ length: 600 }, (_, i) => ({
    table: `db.table_${i}`,
    maxOrphanPercent: 30,
    exclude: ['x/**'],
  }));
  const settings = settingsOf({ tables });

  assert.equal(Object.keys(settings.tables).length, 600);
  assert.deepEqual(settings.tables['db.table_599'], { max_orphan_percent: 30, exclude: ['x/**'] });
});

test('props become settings under the names of the input, and a table may loosen or tighten its own', () => {
  const settings = settingsOf({
    olderThan: Duration.days(5),
    olderThanFloor: Duration.hours(36),
    maxOrphanPercent: 10,
    dryRunByDefault: false,
    maxConcurrentDeletesCeiling: 4,
    glueCatalogId: '123456789012',
    tables: [{ table: 'db.a', olderThan: Duration.hours(40), dryRun: true, formerTableUuids: ['u'] }],
  });

  assert.equal(settings.dry_run, false);
  assert.equal(settings.floor_ms, 36 * 3_600_000);
  assert.equal(settings.ceilings.max_concurrent_deletes, 4);
  assert.deepEqual(settings.defaults, { older_than: 'P5D', max_orphan_percent: 10 });
  assert.deepEqual(settings.catalog, { type: 'glue', catalog_id: '123456789012' });
  assert.deepEqual(settings.tables['db.a'], { older_than: 'PT40H', dry_run: true, former_table_uuids: ['u'] });
});

test('tables added later are in the settings too', () => {
  const outdir = mkdtempSync(join(tmpdir(), 'icesweep-synth-'));
  const app = new App({ outdir, analyticsReporting: false, context: { 'icesweep:functions': FAKE_FUNCTIONS } });
  const cleanup = new OrphanCleanup(new Stack(app, 'Fleet'), 'Cleanup', { tableLocations: [LOCATION] });
  cleanup.addTable({ table: 'db.late', minFiles: 7 });
  app.synth();
  const folder = readdirSync(outdir).find((name) => name.startsWith('deployment.')) as string;
  const settings = JSON.parse(readFileSync(join(outdir, folder, 'deployment.json'), 'utf8'));
  rmSync(outdir, { recursive: true, force: true });

  assert.deepEqual(settings.tables, { 'db.late': { min_files: 7 } });
});

test('a scheduled table that deletes has an alarm on the days since its last cleanup, one that only judges has none', () => {
  const alarms = (table: Partial<CleanupTableProps>): Resource[] =>
    nestedTemplates(deploy({ tables: [{ table: 'db.a', schedule: NIGHTLY, ...table }] }).stack).flatMap((template) =>
      resourcesOf(template, 'AWS::CloudWatch::Alarm').map(([, alarm]) => alarm),
    );
  const [alarm] = alarms({ dryRun: false });

  assert.equal(alarm?.Properties.MetricName, 'DaysSinceSuccess');
  assert.equal(alarm?.Properties.TreatMissingData, 'breaching');
  assert.ok(alarm?.Properties.Period * alarm?.Properties.EvaluationPeriods <= 7 * 86_400);
  assert.deepEqual(alarms({ dryRun: true }), []);
  assert.deepEqual(alarms({}), []);
});

test('tables whose names differ in signs only have schedules of their own', () => {
  const tables = ['db.a_b', 'd.ba_b', 'db-a_b', 'db.a-b'].map((table) => ({ table, schedule: NIGHTLY }));

  assert.equal(schedulesOf({ tables }).length, 4);
});

const wrong: readonly [string, Partial<OrphanCleanupProps>, RegExp][] = [
  ['a table twice', { tables: [{ table: 'a.b' }, { table: 'a.b' }] }, /table a\.b: a\.b is there twice/],
  [
    'an age below the floor',
    { tables: [{ table: 'a.b', olderThan: Duration.hours(2) }] },
    /below the floor of 24 hours/,
  ],
  ['a floor below 24 hours', { olderThanFloor: Duration.hours(1) }, /floor_ms/],
  ['a percentage above 100', { maxOrphanPercent: 120 }, /max_orphan_percent/],
  ['an age with minutes', { olderThan: Duration.minutes(4000) }, /whole number of hours/],
  ['no location', { tableLocations: [] }, /tableLocations is empty/],
  ['a location with a wildcard', { tableLocations: ['s3://lake/*'] }, /wildcard/],
  ['a location that is no prefix', { tableLocations: ['lake/warehouse'] }, /no table location/],
  ['a REST catalog without address', { catalogType: 'REST' }, /restCatalogUri/],
  [
    'a schedule that is none',
    { tables: [{ table: 'a.b', schedule: ScheduleExpression.expression('cron(0 25 * * ? *)') }] },
    /field 2, 25, is out of range/,
  ],
  [
    'two tables in each other',
    {
      tables: [
        { table: 'a.b', tableLocation: 's3://lake/x' },
        { table: 'a.c', tableLocation: 's3a://lake/x/y/' },
      ],
    },
    /overlap/,
  ],
];

for (const [what, props, message] of wrong) {
  test(`synthesis refuses ${what}`, () => {
    assert.throws(() => deploy(props).template(), message);
  });
}

test('neighbours with a common prefix and allowed overlaps pass', () => {
  const tables = [
    { table: 'a.b', tableLocation: 's3://lake/x' },
    { table: 'a.c', tableLocation: 's3://lake/x_2' },
    { table: 'a.d', tableLocation: 's3://lake/x/inner', overlapsAllowed: ['a.b'] },
  ];

  assert.doesNotThrow(() => deploy({ tables }));
});

test('schedule expressions are read as EventBridge Scheduler reads them', () => {
  for (const good of [
    'rate(1 day)',
    'rate(12 hours)',
    'cron(0 3 ? * MON-FRI *)',
    'cron(0/15 3,4 1 * ? 2027)',
    'at(2027-01-31T00:00:00)',
  ]) {
    assert.equal(scheduleFault(good), undefined, good);
  }
  for (const bad of [
    'rate(0 days)',
    'rate(1)',
    'cron(0 3 * * *)',
    'cron(0 3 * * * *)',
    'cron(0 3 ? * ? *)',
    'cron(61 3 * * ? *)',
    '0 3 * * *',
    'at(soon)',
  ]) {
    assert.ok(scheduleFault(bad), bad);
  }
});

function tablesFile(t: { after(clean: () => void): void }, content: unknown): string {
  const folder = mkdtempSync(join(tmpdir(), 'icesweep-tables-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'tables.json');
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

test('a tables file becomes props', (t) => {
  const path = tablesFile(t, {
    tables: [
      {
        table: 'a.b',
        schedule: 'rate(1 day)',
        timezone: 'Europe/Berlin',
        older_than: '7d',
        dry_run: false,
        overlaps_allowed: ['a.c'],
      },
      { table: 'a.c' },
    ],
  });
  const [first, second] = readTablesFile(path);

  assert.equal(first?.olderThan?.toDays(), 7);
  assert.equal(first?.dryRun, false);
  assert.deepEqual(first?.overlapsAllowed, ['a.c']);
  assert.equal(first?.schedule?.timeZone?.timezoneName, 'Europe/Berlin');
  assert.deepEqual(second, { table: 'a.c' });
  assert.doesNotThrow(() => deploy({ tables: readTablesFile(path) }).template());
});

test('a faulty tables file is refused with its name and every fault', (t) => {
  const path = tablesFile(t, {
    tables: [
      { tabel: 'a.b', schedule: 'often' },
      { table: 'a.c', max_orphan_percent: 200 },
    ],
  });

  assert.throws(
    () => readTablesFile(path),
    (error: Error) => {
      assert.match(error.message, /tables\.json/);
      for (const fault of ['tabel', 'often', 'tables.1.max_orphan_percent'])
        assert.ok(error.message.includes(fault), fault);
      return true;
    },
  );
  assert.throws(() => readTablesFile(tablesFile(t, '{')), /cannot be read as JSON/);
});

test('the JSON Schema of the tables file knows its keys and refuses others', () => {
  const schema = JSON.stringify(tablesFileJsonSchema());

  for (const key of [
    'schedule',
    'older_than',
    'former_table_uuids',
    'overlaps_allowed',
    'owned_roots',
    'table_location',
  ]) {
    assert.ok(schema.includes(`"${key}"`), key);
  }
  assert.ok(schema.includes('"additionalProperties":false'));
});
