/** What is listed, in which spellings, and what another table's files keep from being listed. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { pinTable } from '#functions/plan/pin-table.ts';
import { surveyTable } from '#functions/plan/survey-table.ts';
import type { OtherTable } from '#shared/catalog/catalog.ts';
import { parseDeployment } from '#shared/run/deployment.ts';
import { resolveInput } from '#shared/run/input.ts';
import { PlanWorld, T0_MS } from '#test/support/plan-world.ts';
import type { TableWriterOptions } from '#test/support/table-writer.ts';

const prefixes = (roots: readonly { bucket: string; prefix: string }[]): string[] =>
  roots.map(({ bucket, prefix }) => `${bucket}/${prefix}`).sort();

interface SurveyOptions {
  readonly table?: Partial<TableWriterOptions>;
  readonly others?: readonly OtherTable[] | undefined;
  readonly settings?: object;
  readonly input?: object;
}

/** The survey with a catalog that lists these tables. */
async function survey(options: SurveyOptions) {
  const { table = {}, others, settings = {}, input = {} } = options;
  const world = new PlanWorld();
  const writer = await world.table(table);
  const deployment = parseDeployment({ tables: { 's3://b/wh/t': settings } });
  const resolved = resolveInput({ table: 's3://b/wh/t', ...input }, deployment, new Date(T0_MS));
  const pointer = { metadata_location: writer.metadataFile!.recorded, further: [], claims: { gc_enabled: [] } };
  const catalog = {
    currentMetadata: async () => pointer,
    reread: async () => pointer,
    ...('others' in options ? { otherTables: async () => others } : {}),
  };
  const pinned = await pinTable(resolved, pointer, world.store);
  return surveyTable({
    table: pinned,
    pointer,
    catalog,
    input: resolved,
    store: world.store,
    budget: { remainingMs: () => 900_000 },
  });
}

const at = (...roots: string[]): OtherTable[] => [{ table: 'db.other', roots, complete: true }];
const conflict = { name: 'LocationConflictError', message: /db\.other/ };

test('by default data and metadata are listed, and every prefix ends with a slash', async () => {
  const { roots } = await survey({});
  assert.deepEqual(prefixes(roots.roots), ['b/wh/t/data/', 'b/wh/t/metadata/']);
  assert.deepEqual(roots.roots[0], { bucket: 'b', prefix: 'wh/t/data/', scheme: 's3', authority: 'b' });
});

test('FF-04 a sibling whose name begins like the table is never listed', async () => {
  const world = new PlanWorld();
  await world.table();
  world.seed('wh/t_archive/data/x.parquet');
  world.seed('wh/t_archive/_delta_log/0.json');
  const { plan } = await world.plan();
  assert.ok(plan.roots.every(({ prefix }) => prefix.startsWith('wh/t/')));
  assert.ok(world.calls.filter(({ operation }) => operation === 'list').every(({ key }) => key.startsWith('wh/t/')));
});

test('scope TABLE lists the whole location once', async () => {
  const world = new PlanWorld();
  await world.table({ properties: { 'write.data.path': 's3://b/wh/t/files' } });
  const { plan } = await world.plan({ scope: 'TABLE' });
  assert.deepEqual(prefixes(plan.roots), ['b/wh/t/']);
});

test('FF-07 other folders of the location are counted as unmanaged and not listed', async () => {
  const world = new PlanWorld();
  await world.table();
  world.seed('wh/t/checkpoint/offsets/12');
  world.seed('wh/t/README.md', 7);
  const { plan } = await world.plan();
  assert.deepEqual(plan.unmanaged, { prefixes: ['wh/t/checkpoint/'], files: 1, bytes: 7 });
});

test('a path property inside the location is a root; nested ones are listed once', async () => {
  const { roots } = await survey({
    table: {
      properties: { 'write.data.path': 's3://b/wh/t/files', 'write.object-storage.path': 's3://b/wh/t/data/hash' },
    },
  });
  assert.deepEqual(prefixes(roots.roots), ['b/wh/t/data/', 'b/wh/t/files/', 'b/wh/t/metadata/']);
});

test('RE-13 a data path outside the location is not listed unless it is proven exclusive, and a warning says so', async () => {
  const table = { properties: { 'write.data.path': 's3://b/shared/' } };
  const outside = 'b/shared/';

  const unlisted = await survey({ table });
  const denied = await survey({ table, others: undefined });
  const shared = await survey({ table, others: at('s3://b/wh/u', 's3://b/shared/') });
  const nested = await survey({ table, others: at('s3://b/shared/0101/u') });
  const unknown = await survey({ table, others: [{ table: 'db.other', roots: ['s3://b/wh/u'], complete: false }] });

  for (const each of [unlisted, denied, shared, nested, unknown]) {
    assert.ok(!prefixes(each.roots.roots).includes(outside));
    assert.ok(each.warnings.some((text) => text.includes('write.data.path s3://b/shared/ is not listed')));
  }
});

test('RE-13 it is listed where no other table has a root there, or the deployment owns it', async () => {
  const table = { properties: { 'write.data.path': 's3://b/mine/' } };
  const proven = await survey({ table, others: at('s3://b/wh/u') });
  const owned = await survey({ table, settings: { owned_roots: ['s3://b/mine'] } });
  for (const each of [proven, owned]) assert.ok(prefixes(each.roots.roots).includes('b/mine/'));
});

test('RE-14 both metadata folders are known where write.metadata.path points elsewhere', async () => {
  const { metadataFolders, roots } = await survey({
    table: { properties: { 'write.metadata.path': 's3://b/meta/t' } },
    others: at('s3://b/wh/u'),
  });
  assert.deepEqual(prefixes(metadataFolders), ['b/meta/t/', 'b/wh/t/metadata/']);
  assert.ok(prefixes(roots.roots).includes('b/meta/t/'));
});

for (const [id, root] of [
  ['IK-05', 's3://b/wh/t'],
  ['IK-05', 's3a://b/wh/t/'],
  ['IK-06 FF-03', 's3://b/wh/t/data/t1'],
  ['IK-06', 's3://b/wh/t/sub_dir'],
  ['IK-07', 's3://b/wh'],
] as const) {
  test(`${id} another table of the catalog at ${root} refuses`, async () => {
    await assert.rejects(survey({ others: at(root) }), conflict);
  });
}

test('FF-03 tables beside this one do not conflict, and the record says how many were compared', async () => {
  const { neighbours } = await survey({ others: at('s3://b/wh/t2', 's3://b/wh/t_archive', 's3://c/wh/t') });
  assert.equal(neighbours.compared, 1);
});

test('FF-03 an overlap that the deployment allows passes, for the table that it names', async () => {
  const settings = { overlaps_allowed: ['db.other'] };
  await survey({ others: at('s3://b/wh/t/sub'), settings });
  await assert.rejects(
    survey({ others: [{ table: 'db.third', roots: ['s3://b/wh/t/sub'], complete: true }], settings }),
    { name: 'LocationConflictError', message: /db\.third/ },
  );
});

test('a catalog that does not show its tables is told of in a warning', async () => {
  const { neighbours, warnings } = await survey({ others: undefined });
  assert.equal(neighbours.compared, null);
  assert.ok(warnings.some((text) => text.includes('no other table was compared')));
});

test('a folder is listed in every spelling that the location or a listing gives it', async () => {
  const world = new PlanWorld();
  await world.table();
  world.seed('wh/t//data/a.parquet');
  world.seed('wh/t/d%61ta/b.parquet');
  world.seed('wh/t/data2/c.parquet');
  const { plan } = await world.plan();
  assert.deepEqual(prefixes(plan.roots), [
    'b/wh/t//data/',
    'b/wh/t//metadata/',
    'b/wh/t/d%61ta/',
    'b/wh/t/data/',
    'b/wh/t/metadata/',
  ]);
});

test('a recorded location that ends with two slashes is listed with one too', async () => {
  const world = new PlanWorld();
  await world.table({ location: 's3://b/wh/t//', place: { bucket: 'b', prefix: 'wh/t/' } }, []);
  const { plan } = await world.plan();
  assert.ok(prefixes(plan.roots).includes('b/wh/t/data/'));
  assert.ok(prefixes(plan.roots).includes('b/wh/t//data/'));
});

test('folders for the classes: data and metadata, with what the properties name', async () => {
  const world = new PlanWorld();
  await world.table({ properties: { 'write.data.path': 's3://b/wh/t/files' } });
  const { plan } = await world.plan();
  assert.deepEqual(prefixes(plan.data_folders), ['b/wh/t/data/', 'b/wh/t/files/']);
  assert.deepEqual(prefixes(plan.metadata_folders), ['b/wh/t/metadata/']);
});
