/** What is looked at and what is left alone: hidden names, depths, neighbours, foreigners, times, over whole runs. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { parseDeployment } from '#shared/run/deployment.ts';
import { ALLOW_ALL } from '#test/support/orphan-world.ts';
import { DAY_MS } from '#test/support/run-world.ts';
import { refuses, stray, sweep, tableWith } from '#test/support/sweep.ts';

test('SA-10 SA-11 ET-10 SU-14c strays under hidden partition names of every spec go, those of other hidden names stay', async () => {
  const made = await tableWith({ partitionFields: ['_c2_trunc', 'c3'] });
  const first = stray(made, 'data/_c2_trunc=AA/c3=AAAA/dead.parquet', 'data/_c2_trunc=AA/c3=AAAA/dead2.parquet');
  await made.table.evolvePartition(['_c2_trunc', '_c1']);
  const second = stray(made, 'data/_c2_trunc=AA/_c1=1/dead.parquet');
  const kept = stray(made, 'data/_show_field=value/file5', 'data/_c2_trunc=AA/_temporary/x.parquet');

  await sweep(made, [...first, ...second]);
  assert.ok(kept.every((key) => made.world.keys().includes(key)));
});

test('SA-12 a folder that only begins like a partition is hidden: its file stays', async () => {
  const made = await tableWith({ partitionFields: ['_c2_trunc'] });
  const [kept] = stray(made, 'data/_c2_trunc/file.txt');

  const record = await sweep(made, []);
  assert.equal(record.kept.protected, 1);
  assert.ok(made.world.keys().includes(kept as string));
});

test('SU-11 SU-14a SU-14b PYB-01 NP-1 plain names at any depth go, hidden ones and siblings of the root stay', async () => {
  const made = await tableWith();
  stray(made, 'data/hidden/.hidden_file', 'data/hidden/_partition/file3', 'data_1/file4', 'metadata2/x.avro');
  const archive = ['wh/t_archive/data/x.parquet', 'wh/t1/data/x.parquet', 'wh/t/datax', 'wh/t/metadata.json'];
  for (const key of archive) made.world.tables.seed('b', key, Buffer.from('x'), made.world.writeMs);

  await sweep(made, stray(made, 'data/file1', 'data/dir/file2', 'data/dir/dep1/file3'));
});

test('RE-16 CH-07 FM-01 FM-02 DR-05 strays at the top, in hashed and in partition folders go, each once', async () => {
  const names = ['data/dead0.parquet', 'data/a1b2/dead1.parquet', 'data/p=1/dead2.parquet', 'metadata/in_metadata'];
  const made = await tableWith({ partitionFields: ['p'] });
  const requested: string[] = [];
  made.world.tables.options = {
    ...made.world.tables.options,
    onCall: ({ operation, phase, keys }) => {
      if (operation === 'deleteObjects' && phase === 'before') requested.push(...(keys ?? []));
    },
  };

  const gone = stray(made, ...names, ...Array.from({ length: 10 }, (_, index) => `data/many-${index}`));
  const record = await sweep(made, gone);

  assert.deepEqual(requested.filter((key) => !key.includes('probe')).sort(), [...gone].sort());
  assert.equal(record.scanned_files_count, record.before.data_files + record.before.metadata_files);
});

test('FM-15 FM-16 FM-17 FM-19 FM-20 FM-21 every file under the roots is counted once, of an empty table too', async () => {
  for (const files of [0, 5]) {
    const made = await tableWith({ partitionFields: ['p'] }, files);
    const there = made.world.keys('wh/t/data/').length + made.world.keys('wh/t/metadata/').length;
    const record = await sweep(made, []);
    assert.equal(record.scanned_files_count, there);
    assert.equal(record.before.data_files, files);
    assert.ok(there > files);
  }
});

test('PA-01 NP-2 markers of folders are no files: never candidates, in no count', async () => {
  const made = await tableWith();
  for (const key of ['wh/t/data/', 'wh/t/data/p=1/', 'wh/t/data/p=2_$folder$', 'wh/t/metadata/']) {
    made.world.tables.seed('b', key, Buffer.alloc(0), made.world.writeMs);
  }

  const record = await sweep(made, stray(made, 'data/p=3/dead.parquet'));
  assert.equal(record.before.data_files, 3);
});

test('NP-2 PI-08 PI-04 the listed key is what is deleted, byte for byte', async () => {
  const odd = ['q?x', 'h#x', 'a://b', 'p%41x', 'plus+x', 'sp ace', 'slashed//x', 'dot./x'];
  const made = await tableWith();
  const asked = new Set<string>();
  made.world.tables.options = {
    ...made.world.tables.options,
    onCall: ({ keys = [] }) => {
      for (const key of keys) asked.add(key);
    },
  };

  const gone = stray(made, ...odd.map((name) => `data/${name}`));
  await sweep(made, gone);
  assert.ok(gone.every((key) => asked.has(key)));
});

test('FF-01 IK-05 NP-11 two tables at one location are refused', async () => {
  const made = await tableWith();
  const twin = await made.world.table({ seed: 7, startMs: Date.UTC(2023, 0, 1) });
  await twin.append(1);

  const { record } = await made.world.run({ ...ALLOW_ALL, table_uuid: made.table.tableUuid });
  assert.equal(record.error, 'LocationConflictError', record.cause);
  assert.equal(record.deleted_files_count, 0);
});

test('FF-03 IK-06 IK-07 NP-11 a table inside the data of another makes the outer one refuse, the inner one is cleaned', async () => {
  const outer = await tableWith({ location: 's3://b/wh/t' });
  const inner = await outer.world.table({ location: 's3://b/wh/t/data/t1', seed: 7 });
  await inner.append(1);
  const dead = stray({ world: outer.world, table: inner }, 'data/dead.parquet');

  await refuses(outer, 'LocationConflictError');
  await sweep({ world: outer.world, table: inner }, dead, { table: 's3://b/wh/t/data/t1' });
});

for (const log of ['_delta_log/00000000000000000000.json', '.hoodie/hoodie.properties', '_hudi/x']) {
  test(`FF-06 TR-23 DV-01 ${log} beside the data refuses`, async () => {
    const made = await tableWith();
    stray(made, log);
    await refuses(made, 'LocationConflictError');
    await refuses(made, 'LocationConflictError', { dry_run: true });
  });
}

test('FF-07 FF-10 OH-02 other folders of the location are counted as unmanaged and left alone', async () => {
  const made = await tableWith();
  stray(made, 'checkpoint/offsets/12', 'dt=2020-01-01/000000_0', '.backup/data/x.orc', 'custom/x.parquet', 'top.txt');

  const record = await sweep(made, []);
  assert.equal(record.kept.unmanaged, 1);
  assert.deepEqual(record.warnings, [
    '4 folders of s3://b/wh/t outside the roots: .backup, checkpoint, custom, …. Nothing in there was listed or counted; scope TABLE lists the whole location.',
  ]);
});

for (const location of ['s3://b', 's3://b/']) {
  test(`FF-11 RP-01 RP-02 SU-15 SU-16 SU-17 the root of a bucket, written ${location}, is refused before a manifest is read`, async () => {
    const made = await tableWith({ location, place: { bucket: 'b', prefix: '/' } });
    const inside = await tableWith();
    for (const key of inside.world.keys()) made.world.tables.seed('b', key, Buffer.from('x'), made.world.writeMs);

    const record = await refuses(made, 'LocationConflictError', {
      table: 's3://b/wh/t',
      metadata_location: `s3://b/${made.table.metadataFile?.key}`,
    });
    assert.equal(record.processed_manifests_count, 0);
  });
}

test('RE-13 NP-12 CH-23b a data path that other tables may share is not listed, and a warning names it', async () => {
  const made = await tableWith({ properties: { 'write.data.path': 's3://b/shared' } }, 0);
  await made.table.append(1);
  for (const key of ['shared/0101/db/u/y.parquet', 'shared/0101/db/t/x.parquet']) {
    made.world.tables.seed('b', key, Buffer.from('x'), made.world.writeMs);
  }

  const record = await sweep(made, stray(made, 'data/dead.parquet'));
  assert.ok(
    record.warnings.some((warning) => warning.includes('s3://b/shared')),
    record.warnings.join('\n'),
  );
});

test('AM-06 RE-13 a data path that the deployment says is owned is swept', async () => {
  const made = await tableWith({ properties: { 'write.data.path': 's3://b/hive/t' } });
  made.world.deployment = parseDeployment({
    dry_run: false,
    local: true,
    defaults: { owned_roots: ['s3://b/hive/t'] },
  });
  made.world.tables.seed('b', 'hive/t/dead.parquet', Buffer.from('x'), made.world.writeMs);

  await sweep(made, ['hive/t/dead.parquet']);
});

test('RE-14 metadata in another folder than before: both keep what is named', async () => {
  const made = await tableWith({
    properties: { 'write.metadata.path': 's3://b/wh/t/meta2' },
  });
  const dead = stray(made, 'meta2/7d0c6b52-0f8e-4a36-9a0c-1e2f3a4b5c6d-m0.avro', 'metadata/dead.avro');

  await sweep(made, dead);
});

test('NP-14 a file without a usable time is undated and stays, whatever the others are', async () => {
  const made = await tableWith();
  const [undated, dead] = stray(made, 'data/undated.parquet', 'data/dead.parquet');
  const { list } = made.world.tables;
  made.world.tables.list = async (request) => {
    const page = await list.call(made.world.tables, request);
    const objects = page.objects.map((object) =>
      object.key === undated ? { ...object, lastModifiedMs: Number.NaN } : object,
    );
    return { ...page, objects };
  };

  const record = await sweep(made, [dead as string]);
  assert.equal(record.kept.undated, 1);
});

test('NP-15 a clock of the store that is ahead makes files young, one that is absurd makes them undated', async () => {
  const made = await tableWith();
  const ahead = made.world.nowMs + 600_000;
  made.world.tables.seed('b', 'wh/t/data/ahead.parquet', Buffer.from('x'), ahead);
  made.world.tables.seed('b', 'wh/t/data/absurd.parquet', Buffer.from('x'), ahead + 3 * DAY_MS);
  made.world.tables.seed('b', 'wh/t/data/epoch.parquet', Buffer.from('x'), 10_000);

  const { kept } = await sweep(made, stray(made, 'data/dead.parquet'));
  assert.equal(kept.young, 1);
  assert.equal(kept.undated, 2);
});

test('CH-03 DR-07 DR-15 CH-04 the age is the default where the run gives none, and is judged to the millisecond', async () => {
  const made = await tableWith();
  const { world } = made;
  const cutoff = world.nowMs - 3 * DAY_MS;
  world.tables.seed('b', 'wh/t/data/at.parquet', Buffer.from('x'), cutoff);
  world.tables.seed('b', 'wh/t/data/before.parquet', Buffer.from('x'), cutoff - 1);
  // The writer has committed since, so that nothing waits for it.
  made.table.nowMs = world.nowMs;
  await made.table.append(1);

  await sweep(made, ['wh/t/data/before.parquet'], { older_than: undefined, max_writer_lag: 'P1D' });
  world.nowMs += 1;
  await sweep(made, ['wh/t/data/at.parquet'], { older_than: undefined, max_writer_lag: 'P1D' });
});

test('GO-41 CH-05 SA-26 a dry run reports count and bytes of what it found and deletes nothing', async () => {
  const made = await tableWith();
  made.world.tables.seed('b', 'wh/t/data/a', 1024, made.world.writeMs);
  made.world.tables.seed('b', 'wh/t/metadata/b', 4096, made.world.writeMs);
  const before = made.world.keys();

  const { record } = await made.world.run({ ...ALLOW_ALL, dry_run: true });

  assert.equal(record.verdict, 'DRY_RUN');
  assert.equal(record.orphan_files_count, 2);
  assert.equal(record.orphan_bytes, 5120);
  assert.deepEqual([...record.sample].sort(), ['s3://b/wh/t/data/a', 's3://b/wh/t/metadata/b']);
  assert.deepEqual(made.world.keys(), before);
});
