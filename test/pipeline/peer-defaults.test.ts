/** The plainest answers: defaults, nothing to do, one file on one side only, the catalog's own files. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { parseDeployment } from '#shared/run/deployment.ts';
import { resolveInput } from '#shared/run/input.ts';
import { refuses, stray, sweep, tableWith } from '#test/support/sweep.ts';

test('DR-02 DR-03 TR-11 CH-02 a table without a stray is nothing to do, with zeros in every count of deletes', async () => {
  const record = await sweep(await tableWith(), []);
  const counts = Object.entries(record).filter(([name]) => /^deleted_|^failed_|^rescued_|^orphan_.*s$/.test(name));
  assert.ok(counts.length >= 10);
  assert.deepEqual(
    counts.filter(([, value]) => value !== 0),
    [],
  );
});

test('FM-04 FM-05 FM-06 a file on both sides stays, one that is only listed goes', async () => {
  const made = await tableWith();
  await sweep(made, stray(made, 'data/only-listed.parquet'));
});

test('FM-07 a file that is only named is counted as missing; too many of them end the run', async () => {
  const made = await tableWith({}, 50);
  const files = made.world.keys('wh/t/data/');
  await made.world.tables.bucket('b').delete(files[0] as string, {});
  const { record } = await made.world.run({ max_orphan_percent: 100 });
  assert.equal(record.verdict, 'NOTHING_TO_DO', record.cause);
  assert.equal(record.missing_files_count, 1);

  for (const key of files.slice(1, 5)) await made.world.tables.bucket('b').delete(key, {});
  await refuses(made, 'ReferencedFilesMissingError');
});

test('SU-05 SU-06 one authority over the other matches only where it is written the same', async () => {
  const spelled = (authority: string) => ({
    spell: (path: string) => (path.endsWith('.parquet') ? path.replace('s3://b/', `s3://${authority}/`) : path),
  });
  const same = await tableWith(spelled('b'));
  await sweep(same, stray(same, 'data/dead.parquet'));
  await refuses(await tableWith(spelled('B')), 'PrefixMismatchError');
});

test('SU-19 SU-20 SU-21 SU-22 SU-23 GO-22 lists, metadata files of the log (gone or not) and the hint are named once each', async () => {
  const made = await tableWith({ names: 'hadoop' });
  for (let commit = 0; commit < 3; commit++) await made.table.append(1);
  const named = [...made.table.referenced()];
  const record = await sweep(made, []);
  assert.ok(record.referenced_files_count >= named.length);
  assert.equal(record.before.metadata_files, named.filter((key) => key.includes('/metadata/')).length);

  await made.world.tables.bucket('b').delete('wh/t/metadata/v2.metadata.json', {});
  const { record: second } = await made.world.run({ max_orphan_percent: 100 });
  assert.equal(second.verdict, 'NOTHING_TO_DO', second.cause);
});

test('OH-03 OH-05 strays of every kind are deleted, none is moved', async () => {
  const made = await tableWith();
  const planted = await made.table.plantOrphans();
  const before = made.world.keys().length;
  await sweep(
    made,
    planted.map(({ key }) => key),
  );
  assert.equal(made.world.keys().length, before - planted.length);
});

test('FM-27 FM-28 GO-01 GO-02 options are stored as given, and are the defaults where they are not', () => {
  const resolve = (input: object) =>
    resolveInput(
      { table: 'analytics.orders', ...input },
      parseDeployment({ local: true }),
      new Date(Date.UTC(2026, 0, 31)),
    );
  const plain = resolve({});
  assert.equal(plain.older_than, 'P3D');
  assert.equal(plain.scope, 'DATA_AND_METADATA');
  assert.equal(plain.prefix_mismatch_mode, 'ERROR');
  assert.equal(plain.max_concurrent_deletes, 1);
  const given = {
    older_than: '9d',
    scope: 'TABLE',
    location: 'data/',
    prefix_mismatch_mode: 'IGNORE',
    max_concurrent_deletes: 3,
    delete_batch_size: 10,
  } as const;
  const { older_than, scope, location, prefix_mismatch_mode, max_concurrent_deletes, delete_batch_size } =
    resolve(given);
  assert.deepEqual(
    { older_than, scope, location, prefix_mismatch_mode, max_concurrent_deletes, delete_batch_size },
    given,
  );
});
