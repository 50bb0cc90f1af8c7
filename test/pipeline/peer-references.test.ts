/** What the metadata names, however it is kept: snapshots, statistics, Flink, odd forms of metadata, over whole runs. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { lostFiles } from '#test/support/orphan-world.ts';
import { DAY_MS } from '#test/support/run-world.ts';
import { refuses, stray, sweep, tableWith } from '#test/support/sweep.ts';
import type { TableWriterOptions } from '#test/support/table-writer.ts';

const FLINK_JOB = '3e3a37a06993c2a0134beb41c1ceb66e';
const OTHER_JOB = '11112222333344445555666677778888';

test('RE-03 RE-04 RE-05 RE-07 SA-04 DR-26 files of branches, tags, staged and old snapshots stay', async () => {
  const made = await tableWith();
  const { table } = made;
  await table.tag('audit');
  await table.overwrite(2);
  await table.append(1, { branch: 'dev' });
  await table.stage(1);
  await table.overwrite(1);

  await sweep(made, stray(made, 'data/dead.parquet'));
});

test('SP-05 a table whose only snapshot is staged keeps its files', async () => {
  const made = await tableWith({ properties: { 'write.wap.enabled': 'true' } }, 0);
  await made.table.stage(2);

  await sweep(made, stray(made, 'data/dead.parquet'));
});

test('RE-11 TR-02 GO-35 files that only DELETED entries name go, and are counted as such', async () => {
  const made = await tableWith();
  const old = [...made.table.referenced()].filter((key) => key.endsWith('.parquet'));
  await made.table.overwrite(2);
  await sweep(made, []);
  await made.table.expire(1);
  const gone = [...made.table.unreferenced()].filter((key) => !key.endsWith('.metadata.json'));
  assert.ok(old.every((key) => gone.includes(key)));

  const record = await sweep(made, gone);
  assert.equal(record.tombstone_only_files_count, old.length);
});

test('AV-17 a manifest of tombstones stays while its list names it, the files in it go', async () => {
  const made = await tableWith();
  const files = [...made.table.referenced()].filter((key) => key.endsWith('.parquet'));
  const written = files.map((key) => ({ bucket: 'b', key, recorded: `s3://b/${key}` }));
  await made.table.deleteFiles(written);
  await made.table.expire(1);
  const tombstones = made.table.snapshots[0]?.manifests[0]?.key as string;

  await sweep(made, [...made.table.unreferenced()]);
  assert.ok(made.world.keys().includes(tombstones));
});

test('SA-07 CA-05 AM-02 metadata files that fell out of the log go, those of the log stay', async () => {
  const made = await tableWith({ names: 'hadoop', previousVersionsMax: 1 }, 0);
  await made.table.append(1);
  await made.table.append(1);
  const old = 'wh/t/metadata/v1.metadata.json';
  assert.ok(made.world.keys().includes(old));

  await sweep(made, [old]);
});

test('SA-18 SP-10 SP-11 RE-01 RE-02 statistics go once no metadata names them', async () => {
  const made = await tableWith();
  const statistics = await made.table.addStatistics('data/stats-without-extension');
  const partition = await made.table.addPartitionStatistics('data/partition-stats');
  await sweep(made, []);
  await made.table.overwrite(1);
  await made.table.expire(1);

  await sweep(made, [...made.table.unreferenced()]);
  const left = made.world.keys();
  assert.ok(!left.includes(statistics.key) && !left.includes(partition.key));
});

test('AM-03 ET-01 ET-06 FM-29 FM-30 FM-31 NP-7 pending manifests of known and unknown Flink jobs stay with their data files', async () => {
  const made = await tableWith({}, 0);
  await made.table.append(1, { summary: { 'flink.job-id': FLINK_JOB, 'flink.max-committed-checkpoint-id': '9' } });
  await made.table.append(1, { summary: { 'flink.job-id': OTHER_JOB } });
  const names = [
    `${FLINK_JOB}-49884f57af809d38cc85f0c7211a0bc1-00000-0-25892-00048.avro`,
    `${OTHER_JOB}-00007-2-100-00001.avro`,
    'job123-operator456-00007-2-100-00001.avro',
    'job123-operator456-00007-2-100-00001-my-suffix.avro',
    'job123-operator456-1000007-2-100-1000001.avro',
  ];
  for (const name of names) await made.table.pendingFlinkManifest({ name });
  const uploads = [`metadata/${OTHER_JOB}-leftover.avro`];
  const kept = stray(made, ...uploads);
  const dead = stray(made, 'metadata/7d0c6b52-0f8e-4a36-9a0c-1e2f3a4b5c6d-m0.avro');

  await sweep(made, dead);
  const left = new Set(made.world.keys());
  assert.deepEqual(
    [...made.table.pending, ...kept].filter((key) => !left.has(key)),
    [],
  );
});

test('ET-07 manifests and lists of failed commits are no Flink files: they go', async () => {
  const made = await tableWith({}, 0);
  await made.table.append(1, { summary: { 'flink.job-id': FLINK_JOB } });
  const id = '7d0c6b52-0f8e-4a36-9a0c-1e2f3a4b5c6d';

  await sweep(made, stray(made, `metadata/${id}-m0.avro`, `metadata/snap-123-1-${id}.avro`));
});

test('ET-03 everything under flink.manifests.location stays', async () => {
  const made = await tableWith({ properties: { 'flink.manifests.location': 's3://b/wh/t/data/flink' } });
  await made.table.pendingFlinkManifest({ folder: 'data/flink' });
  const kept = stray(made, 'data/flink/anything.txt');

  await sweep(made, stray(made, 'data/dead.parquet', 'data/flinks/dead.parquet'));
  assert.ok(made.world.keys().includes(kept[0] as string));
  assert.deepEqual(
    [...made.table.pending].filter((key) => !made.world.keys().includes(key)),
    [],
  );
});

const FORMS: Readonly<Record<string, Partial<TableWriterOptions>>> = {
  'AV-04 codec null': { codec: 'null' },
  'AV-04 codec snappy': { codec: 'snappy' },
  'AV-04 codec zstandard': { codec: 'zstandard' },
  'AV-06 headers without format-version': { bareHeaders: true },
  'AV-08 no field ids': { style: { withoutFieldIds: true } },
  'AV-11 wrapped types and odd names': { style: { wrapped: true } },
  'AV-12 no partition': { partitionFields: [] },
  'AV-13 NP-9 .gz.metadata.json': { gzip: 'gz' },
  'AV-13 NP-9 .metadata.json.gz': { gzip: 'json.gz' },
  'AV-13 .gzip.metadata.json': { gzip: 'gzip' },
  'AV-13 gzip under a plain name': { gzip: 'plain-name' },
  'CH-13 AV-07 format version 1': { formatVersion: 1 },
  'CH-13 inline manifests': { formatVersion: 1, inlineManifests: true },
  'AV-01 AV-02 format version 3, ids above 2^53': { formatVersion: 3 },
  'RE-17 lists without counts': { style: { withoutCounts: true } },
};

for (const [name, options] of Object.entries(FORMS)) {
  test(`${name}: live files stay, strays go`, async () => {
    const made = await tableWith(options);
    await made.table.append(2);
    await made.table.overwrite(1);

    await sweep(made, stray(made, 'data/dead.parquet'));
  });
}

for (const noSnapshot of [-1, null, 'absent'] as const) {
  test(`AV-15 SP-01 NP-4 no snapshot, written as ${noSnapshot}: metadata older than any cut-off stays, a stray goes`, async () => {
    const made = await tableWith({ noSnapshot }, 0);
    assert.equal((await sweep(made, stray(made, 'data/dead.parquet'))).referenced_files_count >= 1, true);
  });
}

test('CH-25 a table that another engine raised from v1 to v2 is read in both', async () => {
  const made = await tableWith({ formatVersion: 1, names: 'hadoop' });
  // The writer reads its options at each commit.
  (made.table.options as { formatVersion: number }).formatVersion = 2;
  await made.table.append(2);

  await sweep(made, stray(made, 'data/dead.parquet'));
});

for (const [kind, pattern] of [
  ['manifest list', /\/snap-/],
  ['statistics file', /old-statistics/],
] as const) {
  test(`CH-24 an old metadata file of the log may name a ${kind} elsewhere that is gone`, async () => {
    let isElsewhere = true;
    const made = await tableWith({
      spell: (path) => (isElsewhere && pattern.test(path) ? path.replace('s3://b/wh/t/', 's3://gone/ext/') : path),
    });
    await made.table.addStatistics('metadata/old-statistics');
    isElsewhere = false;
    await made.table.overwrite(2);
    await made.table.expire(1);

    await sweep(made, [...made.table.unreferenced()]);
  });
}

test('CO-07 a commit of unknown outcome: metadata above the pointer, and all that it names, stays', async () => {
  const made = await tableWith();
  const { table, world } = made;
  const pointer = `s3://b/${table.metadataFile?.key}`;
  const [adopted] = stray(made, 'data/adopted.parquet');
  world.writeMs = world.nowMs - DAY_MS / 2;
  await table.adopt([adopted as string]);
  world.writeMs = world.nowMs - 60 * DAY_MS;

  await sweep(made, stray(made, 'data/dead.parquet'), { metadata_location: pointer });
  assert.ok(world.keys().includes(adopted as string));
});

test('CA-01 CH-17 CH-19 CH-20 a stale hint or an old file named explicitly costs nothing that was committed since', async () => {
  const made = await tableWith({ names: 'hadoop' });
  const { table, world } = made;
  const old = `s3://b/${table.metadataFile?.key}`;
  await table.append(2);
  await table.put('metadata/version-hint.text', Buffer.from('1'));
  const files = world.keys();

  await sweep(made, stray(made, 'data/one.parquet'));
  await sweep(made, stray(made, 'data/two.parquet'), { metadata_location: old });
  // The run writes nothing below the table, so an insert under the stale hint goes on as before.
  assert.deepEqual(world.keys(), files);
  await table.append(1);
  assert.deepEqual(lostFiles({ world, table }), []);
});

test('CH-21 metadata files of another grammar are never taken for the latest', async () => {
  const made = await tableWith();
  await made.table.put('metadata/99999999-nonsense.json', Buffer.from('{}'));
  await made.table.put('metadata/zz.metadata.json.bak', Buffer.from('{}'));

  await sweep(made, ['wh/t/metadata/99999999-nonsense.json', 'wh/t/metadata/zz.metadata.json.bak']);
});

test('NP-8 an encrypted table and an unknown format version are refused before a manifest is read', async () => {
  const encrypted = await tableWith({ properties: { 'encryption.key-id': 'key-1' } });
  await refuses(encrypted, 'UnsupportedTableError');
  const later = await tableWith({ formatVersion: 4 as 3 });
  const record = await refuses(later, 'UnsupportedTableError');
  assert.equal(record.processed_manifests_count, 0);
});

test('RE-17 SM-03 TR-22 GO-36 a manifest that many snapshots share is read once, each list once, its files count once', async () => {
  const made = await tableWith({}, 10);
  const [shared] = made.table.snapshots.flatMap(({ manifests }) => manifests);
  for (let commit = 0; commit < 20; commit++) await made.table.append(1);
  const reads = new Map<string, number>();
  made.world.tables.options = {
    onCall: ({ operation, key, phase }) => {
      if (operation === 'get' && phase === 'before') reads.set(key, (reads.get(key) ?? 0) + 1);
    },
  };

  const record = await sweep(made, stray(made, 'data/dead.parquet'));

  assert.equal(reads.get(shared?.key as string), 1);
  assert.equal(record.processed_manifests_count, 21);
  assert.equal(record.before.data_files, 31);
  const avro = [...reads].filter(([key]) => key.endsWith('.avro'));
  assert.equal(avro.length, 42);
  assert.deepEqual(
    avro.filter(([, count]) => count !== 1),
    [],
  );
});
