import assert from 'node:assert/strict';
import test from 'node:test';
import { type DeploymentSettings, parseDeployment } from '#shared/run/deployment.ts';
import { DAY_MS, describeSpan, parseDuration, parseInstant } from '#shared/run/durations.ts';
import { inputJsonSchema, resolveInput } from '#shared/run/input.ts';
import { suggestName } from '#shared/run/input-suggestions.ts';

const T0 = new Date('2026-02-01T00:00:00Z');
const TABLE = { table: 'analytics.orders' };

function resolve(input: Record<string, unknown>, deployment: DeploymentSettings = parseDeployment()) {
  return resolveInput({ ...TABLE, ...input }, deployment, T0);
}

function refuses(input: Record<string, unknown>, name: string, pattern: RegExp, settings: unknown = {}): void {
  assert.throws(
    () => resolve(input, parseDeployment(settings)),
    (error: Error) => {
      assert.equal(error.name, name);
      assert.match(error.message, pattern);
      return true;
    },
  );
}

test('two lines are enough, and the defaults are those of the design', () => {
  const resolved = resolve({});

  assert.equal(resolved.dry_run, true);
  assert.deepEqual(resolved.catalog, { type: 'glue' });
  assert.equal(resolved.older_than_ms, 3 * DAY_MS);
  assert.equal(resolved.max_orphan_percent, 20);
  assert.equal(resolved.min_files, 100);
  assert.equal(resolved.max_missing_percent, 5);
  assert.equal(resolved.max_writer_lag_ms, 30 * DAY_MS);
  assert.equal(resolved.max_plan_age_ms, 7 * DAY_MS);
  assert.equal(resolved.delete_batch_size, 1000);
  assert.equal(resolved.prefix_mismatch_mode, 'ERROR');
  assert.deepEqual(resolved.equal_schemes, { s3a: 's3', s3n: 's3' });
  assert.equal(resolved.pause_after_files, undefined);
});

for (const text of [
  '',
  ' ',
  '0',
  '0h',
  '0d',
  'P0D',
  '-1h',
  '7',
  '2.2',
  'abc',
  '1.5d',
  'P1M',
  'P',
  'PT',
  '33mb',
  '3D ',
]) {
  test(`CS-05 older_than ${JSON.stringify(text)} is refused`, () => {
    refuses({ older_than: text }, 'InvalidInputError', /older_than/);
  });
}

for (const text of ['7d', 'P7D', '168h', 'P1W', 'PT168H', 'P6DT24H']) {
  test(`CS-05 older_than ${text} is seven days`, () => {
    assert.equal(resolve({ older_than: text }).older_than_ms, 7 * DAY_MS);
  });
}

test('SP-06 SP-08 a number where a duration belongs, and numbers out of range, are refused', () => {
  refuses({ older_than: 2.2 }, 'InvalidInputError', /older_than/);
  refuses({ max_concurrent_deletes: 0 }, 'InvalidInputError', /max_concurrent_deletes/);
  refuses({ max_concurrent_deletes: -1 }, 'InvalidInputError', /max_concurrent_deletes/);
  refuses({ delete_batch_size: 1001 }, 'InvalidInputError', /delete_batch_size/);
  refuses({ max_orphan_percent: 101 }, 'InvalidInputError', /max_orphan_percent/);
  refuses({ table: '' }, 'InvalidInputError', /table/);
  refuses({ table: undefined }, 'InvalidInputError', /table/);
  refuses({ table: 'orders' }, 'InvalidInputError', /database\.table/);
});

test('an input that is no object is refused', () => {
  for (const input of [null, 'analytics.orders', ['analytics.orders'], 7]) {
    assert.throws(() => resolveInput(input, parseDeployment(), T0), { name: 'InvalidInputError' });
  }
});

test('CO-01 TR-07 DR-16 an age below the floor is refused, however it is written', () => {
  for (const age of ['3h', '23h', 'PT1M', 'PT33S']) refuses({ older_than: age }, 'OlderThanTooRecentError', /minimum/);
  refuses({ older_than: '2026-01-31T12:00:00Z' }, 'OlderThanTooRecentError', /minimum of 1 day/);
});

test('CO-02 CH-11 a cut-off in the future is refused', () => {
  refuses({ older_than: '2030-01-01T00:00:00Z' }, 'OlderThanTooRecentError', /future/);
});

test('DR-09 an instant without a zone, or of a day that does not exist, is refused', () => {
  refuses({ older_than: '2026-01-01T00:00:00' }, 'InvalidInputError', /zone/);
  refuses({ older_than: '2026-01-01' }, 'InvalidInputError', /zone/);
  refuses({ older_than: '2025-02-30T00:00:00Z' }, 'InvalidInputError', /does not exist/);
  assert.equal(resolve({ older_than: '2026-01-01T02:00:00+02:00' }).older_than_instant, '2026-01-01T00:00:00.000Z');
});

test('a raised floor holds on one machine too, where everything else may be loosened', () => {
  const settings = { local: true, floor_ms: 2 * DAY_MS };
  refuses({ older_than: '1d' }, 'OlderThanTooRecentError', /2 days/, settings);
  const resolved = resolve(
    {
      older_than: '2d',
      max_orphan_percent: 100,
      max_missing_percent: 100,
      owned_roots: ['s3://b/x'],
      max_concurrent_deletes: 99,
    },
    parseDeployment(settings),
  );
  assert.equal(resolved.max_orphan_percent, 100);
  assert.deepEqual(resolved.owned_roots, ['s3://b/x']);
});

test('a deployment cannot lower the floor', () => {
  assert.throws(() => parseDeployment({ floor_ms: 3_600_000 }), { name: 'MisconfiguredError' });
});

test('an execution may be stricter than the deployment, never looser', () => {
  assert.equal(resolve({ max_orphan_percent: 10 }).max_orphan_percent, 10);
  refuses({ max_orphan_percent: 21 }, 'InvalidInputError', /looser/);
  refuses({ min_files: 101 }, 'InvalidInputError', /looser/);
  refuses({ max_missing_percent: 6 }, 'InvalidInputError', /looser/);
  refuses({ max_writer_lag: 'P29D' }, 'InvalidInputError', /looser/);
  refuses({ max_plan_age: 'P8D' }, 'InvalidInputError', /looser/);
  refuses({ pending_manifest_horizon: 'P900D' }, 'InvalidInputError', /looser/);
  refuses({ older_than: 'P2D' }, 'InvalidInputError', /stricter/);
  refuses({ older_than: '2026-01-30T00:00:00Z' }, 'InvalidInputError', /stricter/);
  assert.equal(resolve({ max_writer_lag: 'P31D' }).max_writer_lag_ms, 31 * DAY_MS);
  assert.equal(resolve({ max_orphan_files: 5 }).max_orphan_files, 5);
  refuses({ max_orphan_files: 6 }, 'InvalidInputError', /looser/, { defaults: { max_orphan_files: 5 } });
});

test("the table's own entry may loosen or tighten for its table alone", () => {
  const settings = { tables: { 'analytics.orders': { older_than: 'P2D', max_orphan_percent: 60 } } };
  assert.equal(resolve({ max_orphan_percent: 50 }, parseDeployment(settings)).max_orphan_percent, 50);
  assert.equal(resolve({}, parseDeployment(settings)).older_than_ms, 2 * DAY_MS);
  const other = resolve({ table: 'analytics.lines' }, parseDeployment(settings));
  assert.equal(other.max_orphan_percent, 20);
});

test('another spelling of a Glue name does not slip past its entry', () => {
  const settings = { tables: { 'analytics.orders': { older_than: 'P30D' } } };
  const resolved = resolve({ table: 'Analytics.Orders' }, parseDeployment(settings));
  assert.equal(resolved.table, 'analytics.orders');
  assert.equal(resolved.older_than_ms, 30 * DAY_MS);
});

test('what unprotects files is never taken from an execution', () => {
  for (const name of ['include_hidden', 'former_table_uuids', 'overlaps_allowed', 'owned_roots']) {
    refuses({ [name]: ['x'] }, 'InvalidInputError', new RegExp(`${name} is a setting of the deployment`));
  }
  refuses({ max_missing_percent: 100 }, 'InvalidInputError', /one machine/, { defaults: { max_missing_percent: 100 } });
});

test('an execution stays below the ceilings', () => {
  assert.equal(resolve({ max_concurrent_deletes: 10 }).max_concurrent_deletes, 10);
  refuses({ max_concurrent_deletes: 11 }, 'InvalidInputError', /ceiling of 10/);
  refuses({ delete_cooldown_seconds: 0 }, 'InvalidInputError', /least of 1/, {
    ceilings: { least_delete_cooldown_seconds: 5 },
  });
});

test('unknown keys are answered with the name that was meant', () => {
  const pairs = {
    retention_threshold: 'older_than',
    orphanFileRetentionPeriodInDays: 'older_than',
    min_age: 'older_than',
    dryRun: 'dry_run',
    'dry-run': 'dry_run',
    dryrun: 'dry_run',
    oder_than: 'older_than',
    max_orphan_percentage: 'max_orphan_percent',
  };
  for (const [given, meant] of Object.entries(pairs)) {
    refuses({ [given]: 1 }, 'InvalidInputError', new RegExp(`${given}.*did you mean ${meant}\\?`));
  }
  refuses({ xyzzy: 1 }, 'InvalidInputError', /"xyzzy" is not known/);
  assert.equal(suggestName('xyzzy', ['table', 'plan']), undefined);
});

test("Spark's options without effect are accepted with a warning each", () => {
  const { warnings } = resolve({ stream_results: true, prefix_listing: false });
  assert.equal(warnings.length, 2);
});

test('the mode DELETE for prefix mismatches is refused with its reason', () => {
  refuses({ prefix_mismatch_mode: 'DELETE' }, 'InvalidInputError', /unprotects files/);
});

test('maps of equal schemes and authorities are added to, not replaced', () => {
  const settings = { defaults: { equal_schemes: { 'oss,cos': 's3' }, equal_authorities: { old: 'new' } } };
  const resolved = resolve(
    { equal_schemes: { 'S3X,gs': 's3' }, equal_authorities: { a: 'old' } },
    parseDeployment(settings),
  );
  assert.deepEqual(resolved.equal_schemes, { s3a: 's3', s3n: 's3', oss: 's3', cos: 's3', s3x: 's3', gs: 's3' });
  assert.deepEqual(resolved.equal_authorities, { old: 'new', a: 'new' });
  refuses({ equal_authorities: { old: 'elsewhere' } }, 'InvalidInputError', /add entries only/, settings);
  refuses({ equal_schemes: { s3a: 'file' } }, 'InvalidInputError', /maps "s3a"/, settings);
  refuses({ equal_schemes: { a: 'b', b: 'a' } }, 'InvalidInputError', /back to itself/);
});

test('CH-12 a location with a parent segment is refused before any call', () => {
  refuses({ location: '../escape' }, 'InvalidInputError', /"\.\."/);
  refuses({ location: 'data/../../x' }, 'InvalidInputError', /"\.\."/);
  assert.equal(resolve({ location: './data/' }).location, './data/');
});

test('a sealed plan is deleted, never dry', () => {
  assert.equal(resolve({ plan: 'run-1' }).dry_run, false);
  refuses({ plan: 'run-1', dry_run: true }, 'InvalidInputError', /contradicts/);
  refuses({ override: 'a'.repeat(64) }, 'InvalidInputError', /name the refused run/);
  refuses({ plan: 'run-1', override: 'yes' }, 'InvalidInputError', /plan digest/);
});

test('a location is a path table, a metadata file its pin', () => {
  const folder = resolve({ table: 's3://b/wh/t/' });
  assert.deepEqual(folder.catalog, { type: 'path' });
  assert.equal(folder.table, 's3://b/wh/t');
  assert.equal(resolve({ table: 's3://b/wh/t/v3.metadata.json' }).metadata_location, 's3://b/wh/t/v3.metadata.json');
  refuses({ table: 'db.t', catalog: { type: 'path' } }, 'InvalidInputError', /no table location/);
  refuses({ table: 's3://b/t', catalog: { type: 'glue' } }, 'InvalidInputError', /database\.table/);
  refuses({ catalog: { type: 'hive' } }, 'InvalidInputError', /catalog/);
});

test('reads are paced in full once one half is set', () => {
  const resolved = resolve({ pause_ms: 50 });
  assert.equal(resolved.pause_after_files, 1500);
  assert.equal(resolved.pause_ms, 50);
});

test('an execution that another one started carries its id, which is no setting', () => {
  assert.equal(resolve({ AWS_STEP_FUNCTIONS_STARTED_BY_EXECUTION_ID: 'arn:x' }).table, 'analytics.orders');
});

test('the JSON Schema names every key and forbids others', () => {
  const schema = inputJsonSchema() as { properties: object; required: string[]; additionalProperties: boolean };
  assert.equal(schema.additionalProperties, false);
  assert.deepEqual(schema.required, ['table']);
  assert.ok('older_than' in schema.properties && 'max_files_per_run' in schema.properties);
});

test('durations and instants have one meaning each', () => {
  assert.deepEqual(parseDuration('PT90M'), { value: 5_400_000 });
  assert.deepEqual(parseDuration('P1DT2H3M4S'), { value: 93_784_000 });
  assert.ok('problem' in parseDuration('40000d'));
  assert.ok('problem' in parseInstant('2026-13-01T00:00:00Z'));
  assert.equal(describeSpan(DAY_MS), '1 day');
  assert.equal(describeSpan(90_000), '90 seconds');
});
