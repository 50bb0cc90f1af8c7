/** The three rules of coverage, each on a run that only it refuses. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { ALLOW_ALL, orphanWorld } from '#test/support/orphan-world.ts';
import { RunWorld } from '#test/support/run-world.ts';

async function refusedRules(world: RunWorld, input: Readonly<Record<string, unknown>> = {}): Promise<string[]> {
  const before = world.keys();
  const { record, failure } = await world.run({ ...ALLOW_ALL, ...input });
  assert.equal(failure?.error, 'ReferencedFilesMissingError', JSON.stringify(record.gates));
  assert.deepEqual(world.keys(), before);
  return record.gates.filter(({ passed }) => !passed).map(({ name }) => name);
}

async function lose(world: RunWorld, referenced: Iterable<string>, count: number): Promise<void> {
  const data = [...referenced].filter((key) => key.startsWith('wh/t/data/'));
  for (const key of data.slice(0, count)) await world.tables.bucket('b').delete(key, {});
}

test('more referenced files are missing than max_missing_percent allows', async () => {
  const { world, table } = await orphanWorld(1, { live: 20 });
  await lose(world, table.referenced(), 2);

  assert.deepEqual(await refusedRules(world), ['missing_percent']);
});

test('ten missing files together with candidates, though few of all', async () => {
  const { world, table } = await orphanWorld(30, { live: 300 });
  await lose(world, table.referenced(), 10);

  assert.deepEqual(await refusedRules(world), ['missing_with_candidates']);
});

test('every named file lies elsewhere, and files that nobody names lie here', async () => {
  const world = new RunWorld();
  const table = await world.table({
    spell: (path) => (path.endsWith('.parquet') ? path.replace('s3://b/wh/t/data/', 's3://b/warehouse/t/data/') : path),
  });
  await table.append(3);

  assert.deepEqual(await refusedRules(world), ['files_under_roots']);
});
