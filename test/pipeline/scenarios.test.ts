/** Scenarios that other cleaners' suites replay, with our answers. Ids are those of the map in `test/README.md`. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { storeFault } from '#test/support/memory-store.ts';
import { ALLOW_ALL, lostFiles, orphanWorld } from '#test/support/orphan-world.ts';
import { DAY_MS, RunWorld } from '#test/support/run-world.ts';

type World = Awaited<ReturnType<typeof orphanWorld>>;

/** Runs, and asserts that exactly the orphans went and nothing that is referenced. */
async function sweeps({ world, table, orphans }: World, input: Readonly<Record<string, unknown>> = {}): Promise<void> {
  const before = new Set(world.keys());
  const { record, failure } = await world.run({ ...ALLOW_ALL, ...input });
  assert.equal(failure, undefined, failure?.cause);
  const gone = [...before].filter((key) => !world.keys().includes(key));
  assert.deepEqual(gone.sort(), [...orphans].sort());
  assert.equal(record.deleted_files_count, orphans.length);
  assert.deepEqual(lostFiles({ world, table }), []);
}

test('SA-01 SP-03 GO-42 AM-01 DR-12 a dry run deletes nothing, a default age keeps young strays, a real run deletes old ones', async () => {
  const { world, table, orphans } = await orphanWorld(1);
  world.tables.seed('b', 'wh/t/data/young.parquet', Buffer.from('young'), world.nowMs - DAY_MS / 2);

  const dry = await world.run({ ...ALLOW_ALL, dry_run: true });
  assert.equal(dry.record.orphan_files_count, 1);
  assert.ok(world.keys().includes(orphans[0] as string));
  const real = await world.run({ table: 's3://b/wh/t', ...ALLOW_ALL });

  assert.equal(real.record.deleted_files_count, 1);
  assert.ok(world.keys().includes('wh/t/data/young.parquet'));
  assert.deepEqual(lostFiles({ world, table }), []);
});

test('SA-02 SA-03 SP-07 TR-03 TR-16 CH-08 DR-04 every file of every snapshot stays, strays at any depth go', async () => {
  const names = ['a.parquet', 'c2_trunc=AA/b.parquet', 'c2_trunc=AA/c3=AAAA/c.parquet', 'invalid/invalid'];
  const made = await orphanWorld(names);
  await made.table.overwrite(2);
  await made.table.append(2);

  await sweeps(made, { max_concurrent_deletes: 4 });
});

test('SA-05 a data path that is the table root leaves the metadata alone and is swept with the whole location', async () => {
  const world = new RunWorld();
  const table = await world.table({ properties: { 'write.data.path': 's3://b/wh/t' } });
  await table.append(2);
  const stray = 'wh/t/c2_trunc=AA/c3=AAAA/stray.parquet';
  world.tables.seed('b', stray, Buffer.from('stray'), world.writeMs);

  await sweeps({ world, table, orphans: [stray] }, { scope: 'TABLE' });
});

test('SA-08 SA-09 many partitions without a stray are nothing to do', async () => {
  const world = new RunWorld();
  const table = await world.table({ partitionFields: ['top', 'leaf'] });
  for (let commit = 0; commit < 5; commit++) await table.append(20);

  assert.equal((await world.run()).record.verdict, 'NOTHING_TO_DO');
});

test('SA-14 TR-21 CH-18 a Hadoop table keeps its hint and its rows, the stray goes', async () => {
  const world = new RunWorld();
  const table = await world.table({ names: 'hadoop' });
  await table.append(1);
  const stray = 'wh/t/data/stray';
  world.tables.seed('b', stray, Buffer.alloc(0), world.writeMs);

  await sweeps({ world, table, orphans: [stray] });
  assert.ok(world.keys().includes('wh/t/metadata/version-hint.text'));
});

test('SA-15 TR-10 TR-14 DR-05 IM-01 AM-02 a stray without extension, in data or in metadata, goes', async () => {
  const made = await orphanWorld(['trashfile']);
  const manifest = 'wh/t/metadata/0f1e2d3c-4b5a-4697-8887-76655443322f-m0.avro';
  made.world.tables.seed('b', manifest, Buffer.from('half'), made.world.writeMs);

  await sweeps({ ...made, orphans: [...made.orphans, manifest] });
});

test('SA-18 SP-10 SP-11 AM-04 DR-06 statistics placed in data stay while they are named, and go when they are not', async () => {
  const world = new RunWorld();
  const table = await world.table();
  await table.append(1);
  await table.addStatistics('data/some-stats');
  await table.addPartitionStatistics('data/puffin/partition-stats');
  assert.equal((await world.run(ALLOW_ALL)).record.verdict, 'NOTHING_TO_DO');

  const stray = 'wh/t/data/other-stats';
  world.tables.seed('b', stray, Buffer.from('PFA1'), world.writeMs);
  await sweeps({ world, table, orphans: [stray] });
});

test('SA-26 the record has a bounded sample and the exact count, and the list has every orphan', async () => {
  const made = await orphanWorld(50);
  const { record } = await made.world.run({ ...ALLOW_ALL, dry_run: true });

  assert.equal(record.orphan_files_count, 50);
  assert.equal(record.sample.length, 20);
});

test('SP-01 TR-17 CH-02 FM-18 GO-34 a table without snapshots keeps its metadata whatever its age, strays go', async () => {
  const world = new RunWorld();
  const table = await world.table();
  const stray = 'wh/t/data/stray.parquet';
  world.tables.seed('b', stray, Buffer.from('x'), world.writeMs);

  await sweeps({ world, table, orphans: [stray] });
});

test('SP-02 CH-06 CH-15 DR-08 TR-05 a location confines the run to its folder', async () => {
  const { world, table } = await orphanWorld(['a.parquet']);
  const inMetadata = 'wh/t/metadata/0f1e2d3c-4b5a-4697-8887-76655443322f-m0.avro';
  world.tables.seed('b', inMetadata, Buffer.from('half'), world.writeMs);

  const metadata = await world.run({ ...ALLOW_ALL, location: 'metadata/' });
  assert.equal(metadata.record.deleted_files_count, 1, metadata.failure?.cause);
  assert.ok(!world.keys().includes(inMetadata));
  assert.ok(world.keys().includes('wh/t/data/a.parquet'));
  const data = await world.run({ ...ALLOW_ALL, location: 's3://b/wh/t/data/' });

  assert.equal(data.record.deleted_files_count, 1);
  assert.deepEqual(lostFiles({ world, table }), []);
});

test('CH-12 a location outside the table is refused before anything is listed', async () => {
  const { world } = await orphanWorld(1);
  for (const location of ['../escape', 's3://b/wh/t2/', 's3://b/wh/']) {
    const { record } = await world.run({ ...ALLOW_ALL, location });
    assert.equal(record.verdict, 'REFUSED', location);
  }
});

test('SP-09 TR-18 TR-19 TR-20 DR-25 delete files and deletion vectors of every kind stay', async () => {
  for (const formatVersion of [2, 3] as const) {
    const world = new RunWorld();
    const table = await world.table({ formatVersion });
    const files = await table.append(2);
    await table.positionDelete();
    await table.equalityDelete();
    if (formatVersion === 3) await table.deletionVector(files);

    assert.equal((await world.run(ALLOW_ALL)).record.verdict, 'NOTHING_TO_DO');
    assert.deepEqual(lostFiles({ world, table }), []);
  }
});

test('TR-01 TR-15 FM-03 DR-19 DR-20 a missing manifest ends the run, and nothing is deleted', async () => {
  const { world, table, orphans } = await orphanWorld(3);
  const manifest = [...table.referenced()].find((key) => /-m\d+\.avro$/.test(key)) as string;
  await world.tables.bucket('b').delete(manifest, {});

  const { failure } = await world.run(ALLOW_ALL);

  assert.equal(failure?.error, 'MetadataUnreadableError');
  assert.deepEqual(world.keys('wh/t/data/orphan'), orphans);
});

test('TR-02 CH-01 the record counts manifests, listed files, deleted files and bytes', async () => {
  const { world } = await orphanWorld([]);
  world.tables.seed('b', 'wh/t/data/one.parquet', 123, world.writeMs);
  world.tables.seed('b', 'wh/t/data/two.parquet', 456, world.writeMs);

  const { record } = await world.run(ALLOW_ALL);

  assert.equal(record.deleted_bytes, 579);
  assert.equal(record.deleted_data_files_count, 2);
  assert.ok(record.processed_manifests_count >= 1);
  assert.ok(record.scanned_files_count > record.deleted_files_count);
  assert.equal(record.before.data_files - record.after.data_files, 2);
});

test('TR-04 TR-11 TR-12 TR-13 GO-10 SA-06 only strays older than the cut-off go', async () => {
  const made = await orphanWorld(['old.parquet']);
  made.world.tables.seed('b', 'wh/t/data/new.parquet', Buffer.from('new'), made.world.nowMs - 3_600_000);

  await sweeps(made);
  assert.equal((await made.world.run(ALLOW_ALL)).record.verdict, 'NOTHING_TO_DO');
});

test('CH-13 AV-07 a v1 table is cleaned like any other', async () => {
  const world = new RunWorld();
  const table = await world.table({ formatVersion: 1 });
  await table.append(3);
  const stray = 'wh/t/data/stray.parquet';
  world.tables.seed('b', stray, Buffer.from('x'), world.writeMs);

  await sweeps({ world, table, orphans: [stray] });
});

test('CH-14 the kind of a deleted file is guessed from its name, for counting only', async () => {
  const { world } = await orphanWorld([
    'eq-delete-001.parquet',
    '00000-0-eq-del-00001.parquet',
    '00000-0-deletes.parquet',
    '00000-0-delete-00001.parquet',
  ]);

  const { record } = await world.run(ALLOW_ALL);

  assert.equal(record.deleted_equality_delete_files_count, 2);
  assert.equal(record.deleted_position_delete_files_count, 2);
});

test('DR-13 DR-14 CH-10 gc.enabled=false of one table refuses that table, and not its neighbour', async () => {
  const world = new RunWorld();
  const closed = await world.table({ location: 's3://b/wh/closed', properties: { 'gc.enabled': 'false' } });
  await closed.append(1);
  const open = await world.table({ location: 's3://b/wh/open', seed: 9 });
  await open.append(1);
  for (const name of ['closed', 'open'])
    world.tables.seed('b', `wh/${name}/data/x.parquet`, Buffer.from('x'), world.writeMs);

  const refused = await world.run({ ...ALLOW_ALL, table: 's3://b/wh/closed' });
  const cleaned = await world.run({ ...ALLOW_ALL, table: 's3://b/wh/open' });

  assert.equal(refused.record.error, 'GcDisabledError');
  assert.equal(cleaned.record.deleted_files_count, 1);
});

test('DR-17 DR-18 FF-13 a table whose metadata is gone is no table without references', async () => {
  const { world, table, orphans } = await orphanWorld(3);
  for (const key of table.referenced())
    if (key.includes('.metadata.json')) await world.tables.bucket('b').delete(key, {});

  const { record } = await world.run(ALLOW_ALL);

  assert.equal(record.verdict, 'FAILED');
  assert.equal(record.error, 'TableNotFoundError');
  assert.deepEqual(world.keys('wh/t/data/orphan'), orphans);
});

test('DR-21 DR-22 CA-06 denied manifests and denied listings end the run, nothing is deleted', async () => {
  for (const operation of ['get', 'list'] as const) {
    const { world, orphans } = await orphanWorld(3);
    world.tables.options = {
      onCall: ({ operation: called, key, phase }) => {
        const target = operation === 'get' ? key.endsWith('.avro') : key.endsWith('data/');
        if (called === operation && target && phase === 'before') throw storeFault('AccessDenied');
      },
    };

    const { record } = await world.run(ALLOW_ALL);

    assert.equal(record.error, 'AccessDeniedError', operation);
    assert.deepEqual(world.keys('wh/t/data/orphan'), orphans);
  }
});

test('DR-24 CA-05 a missing statistics file or an old metadata file of the log does not stop a run', async () => {
  const { world, table, orphans } = await orphanWorld(2);
  const { key } = await table.addStatistics();
  await world.tables.bucket('b').delete(key, {});
  const [oldest] = [...table.referenced()].filter((name) => name.endsWith('.metadata.json')).sort();
  await world.tables.bucket('b').delete(oldest as string, {});

  const { record } = await world.run(ALLOW_ALL);

  assert.equal(record.deleted_files_count, orphans.length);
});

test('GO-08 GO-09 NR-01 a sealed plan does not grow: a stray that came later stays', async () => {
  const { world } = await orphanWorld(['first.parquet']);
  await world.run({ ...ALLOW_ALL, dry_run: true }, 'plan');
  world.tables.seed('b', 'wh/t/data/second.parquet', Buffer.from('second'), world.writeMs);

  const { record } = await world.run({ plan: 'plan', ...ALLOW_ALL });

  assert.equal(record.deleted_files_count, 1);
  assert.ok(world.keys().includes('wh/t/data/second.parquet'));
});

test('GO-28 GO-31 spellings that fold together protect each other', async () => {
  const world = new RunWorld();
  const table = await world.table();
  await table.append(1, { names: ['path%2Ff.parquet'] });
  const twin = 'wh/t/data/path/f.parquet';
  world.tables.seed('b', twin, Buffer.from('twin'), world.writeMs);

  const { record } = await world.run(ALLOW_ALL);

  assert.equal(record.verdict, 'NOTHING_TO_DO');
  assert.ok(world.keys().includes(twin));
});

test('GO-20 GO-29 keys that differ in case, query or fragment are different files', async () => {
  const made = await orphanWorld(['Data.parquet', 'f?version=2#data']);
  await made.table.append(2, { names: ['data.parquet', 'f?version=1#metadata'] });

  await sweeps(made);
});

test('SU-14b FF-04 a sibling with a common prefix is never listed', async () => {
  const made = await orphanWorld(1);
  for (const key of ['wh/t_archive/data/x.parquet', 'wh/t/data2/x.parquet', 'wh/t2/data/x.parquet']) {
    made.world.tables.seed('b', key, Buffer.from('x'), made.world.writeMs);
  }

  await sweeps(made);
});

test('PYB-01 SU-11 SU-14a hidden files stay, strays in data, below it and in metadata go', async () => {
  const made = await orphanWorld(['orphan.parquet', 'extra/orphan.parquet']);
  const stray = 'wh/t/metadata/00000-3a2b1c0d-1111-4222-8333-444455556666.stats';
  made.world.tables.seed('b', stray, Buffer.from('x'), made.world.writeMs);
  for (const hidden of ['_temporary/part.parquet', '.staging/part.parquet']) {
    made.world.tables.seed('b', `wh/t/data/${hidden}`, Buffer.from('x'), made.world.writeMs);
  }

  await sweeps({ ...made, orphans: [...made.orphans, stray] });
});

test('FF-07 FF-10 OH-02 folders of the location that are none of the table are counted and left alone', async () => {
  const made = await orphanWorld(1);
  for (const key of ['checkpoint/offsets/12', 'dt=2020-01-01/000000_0', '.backup/data/x.orc']) {
    made.world.tables.seed('b', `wh/t/${key}`, Buffer.from('x'), made.world.writeMs);
  }

  await sweeps(made);
});

test('CO-11 files that an expiry has just released are subject to the age rule', async () => {
  const world = new RunWorld();
  const table = await world.table();
  world.writeMs = world.nowMs - DAY_MS / 2;
  const [released] = await table.append(1);
  await table.overwrite(1);
  await table.expire(1);
  const key = (released as { key: string }).key;

  const first = await world.run(ALLOW_ALL);
  assert.equal(first.record.deleted_files_count, 0, JSON.stringify(first.record.kept));
  assert.ok(world.keys().includes(key));
  world.nowMs += 40 * DAY_MS;
  await world.run(ALLOW_ALL);

  assert.ok(!world.keys().includes(key));
  assert.deepEqual(lostFiles({ world, table }), []);
});

test('ET-13 leftovers of an aborted create are ordinary candidates once the table is there', async () => {
  const world = new RunWorld();
  const leftover = 'wh/t/metadata/snap-9-1-0f1e2d3c-4b5a-4697-8887-76655443322f.avro';
  world.tables.seed('b', leftover, Buffer.from('left'), world.writeMs - 5 * DAY_MS);
  const table = await world.table();
  await table.append(1);

  await sweeps({ world, table, orphans: [leftover] });
});

test('OR-01 nothing that a state takes or answers exceeds 32 KB, whatever the names are and however many', async () => {
  const world = new RunWorld();
  const location = `s3://b/${'long-folder-name/'.repeat(40)}t`;
  const table = await world.table({ location });
  await table.append(2);
  for (let index = 0; index < 10_000; index++) {
    const partition = `region=${String(index).padStart(5, '0')}${'x'.repeat(190)}`;
    world.tables.seed('b', `${location.slice(7)}/data/${partition}/f.parquet`, Buffer.from('x'), world.writeMs);
  }
  const payloads = new Map<string, number>();
  world.onStage = (stage, _item, event) => {
    payloads.set(stage, Math.max(payloads.get(stage) ?? 0, JSON.stringify(event).length));
  };

  const { record, state } = await world.run({ ...ALLOW_ALL, table: location });

  assert.equal(record.verdict, 'DELETED');
  assert.equal(record.deleted_files_count, 10_000);
  assert.deepEqual([...payloads.keys()].sort(), [
    'build',
    'delete',
    'evaluate',
    'list',
    'plan',
    'probe',
    'recheck',
    'record',
    'scan',
  ]);
  for (const [stage, length] of payloads) assert.ok(length < 32_000, `${stage} takes ${length}`);
  assert.ok(JSON.stringify(state).length < 32_000);
  assert.ok(JSON.stringify(record).length < 32_000, `${JSON.stringify(record).length}`);
});
