import assert from 'node:assert/strict';
import test from 'node:test';
import { fileKind } from '#shared/iceberg/file-kind.ts';
import { parsePendingManifest } from '#shared/iceberg/flink.ts';
import { readManifest } from '#shared/iceberg/manifest.ts';
import { foldKey, foldReference } from '#shared/identity/fold-key.ts';
import { TableWriter, type TableWriterOptions } from '#test/support/table-writer.ts';
import { Dice } from '#test/support/table-writer-model.ts';
import { type WalkedTable, walkTable } from '#test/support/table-writer-walk.ts';

/** Twins of what the collected real tables show: one writer per feature, each read back and compared with the writer's books. */
class MemoryTable {
  readonly objects = new Map<string, Uint8Array>();
  readonly writer: TableWriter;

  constructor(options: Partial<TableWriterOptions> = {}) {
    const sink = { put: (_bucket: string, key: string, bytes: Uint8Array) => this.objects.set(key, bytes) };
    this.writer = new TableWriter(sink, { location: 's3://b/wh/t', ...options });
  }

  /** Reads by fold, as an object store with the writer's own spelling would by key. */
  walk(): WalkedTable {
    const byFold = new Map([...this.objects].map(([key, bytes]) => [foldKey(key), bytes]));
    const file = this.writer.metadataFile;
    assert.ok(file);
    return walkTable(file.recorded, (recorded) => {
      const fold = [foldReference(recorded), foldReference(recorded).replace(/^\.\//, '')].find((key) =>
        byFold.has(key),
      );
      return byFold.get(fold ?? '') ?? assert.fail(`${recorded} is not there`);
    });
  }

  check(): WalkedTable {
    const walked = this.walk();
    const folded = new Set([...walked.references].map((path) => foldReference(path).replace(/^\.\//, '')));
    const written = [...this.writer.written];
    const found = written.filter((key) => folded.has(foldKey(key))).sort();
    assert.deepEqual(found, [...this.writer.referenced()].sort());
    return walked;
  }
}

/** Every operation once, ending with leavings of all kinds. */
async function fullHistory(table: MemoryTable, version: number): Promise<void> {
  const { writer } = table;
  await writer.create();
  const first = await writer.append(4);
  await writer.tag('first');
  await writer.append(2, { summary: { 'flink.job-id': 'a'.repeat(32) } });
  await writer.branch('audit');
  await writer.append(1, { branch: 'audit' });
  await writer.overwrite(2);
  await writer.stage(2);
  if (version > 1) {
    await writer.positionDelete();
    await writer.equalityDelete();
  }
  if (version > 2) await writer.deletionVector(first.slice(0, 2));
  await writer.addStatistics();
  await writer.addPartitionStatistics();
  await writer.rewrite();
  await writer.evolvePartition(['p', 'q']);
  await writer.append(3);
  await writer.expire(2);
  await writer.pendingFlinkManifest();
  await writer.plantOrphans();
}

const twins: Readonly<Record<string, Partial<TableWriterOptions>>> = {
  'v1, codec-deflate': { formatVersion: 1 },
  'v1, inline-manifests': { formatVersion: 1, inlineManifests: true },
  'v1 without table-uuid': { formatVersion: 1, tableUuid: null },
  'v2, codec-null': { codec: 'null' },
  'v2, codec-snappy': { codec: 'snappy' },
  'v2, codec-zstandard': { codec: 'zstandard' },
  'v3, deletion-vectors': { formatVersion: 3 },
  'hadoop-names, version-hint': { names: 'hadoop' },
  'catalog-names, no-version-hint': { names: 'catalog' },
  'gzip-metadata .gz.metadata.json': { gzip: 'gz', names: 'hadoop' },
  'gzip-metadata .metadata.json.gz': { gzip: 'json.gz' },
  'gzip-metadata .gzip.metadata.json': { gzip: 'gzip' },
  'gzip-metadata under a plain name': { gzip: 'plain-name' },
  'avro-header-keys-stripped': { bareHeaders: true },
  'lists with old count names': { style: { oldCountNames: true } },
  'lists of four fields, without counts': { formatVersion: 1, style: { withoutCounts: true } },
  'a schema without field ids': { style: { withoutFieldIds: true } },
  'wrapped primitives, free record names': { style: { wrapped: true } },
  'everything nullable': { style: { nullable: true } },
  'partitioned, partition-evolution': { partitionFields: ['p'] },
  'special-chars-in-paths': { partitionFields: ['a b%3A=+é'] },
  'short metadata log': { previousVersionsMax: 2 },
  'loc-s3a': { location: 's3a://b/wh/t' },
  'loc-file': { location: 'file:///wh/t', place: { bucket: 'b', prefix: 'wh/t' } },
  'loc-abs-path': { location: '/wh/t', place: { bucket: 'b', prefix: 'wh/t' } },
  'loc-hdfs': { location: 'hdfs://name:8020/wh/t', place: { bucket: 'b', prefix: 'wh/t' } },
  'loc-relative': { location: './wh/t', place: { bucket: 'b', prefix: 'wh/t' } },
  'paths-differ-in-scheme-form': { spell: (path) => path.replace(/^s3:/, path.length % 2 ? 's3a:' : 'S3:') },
  'percent-encoded spellings': { spell: (path) => encodeURI(path).replaceAll('-', '%2D') },
};

for (const [name, options] of Object.entries(twins)) {
  test(`a table with ${name} is read exactly`, async () => {
    const table = new MemoryTable({ seed: name.length, ...options });
    await fullHistory(table, options.formatVersion ?? 2);
    const walked = table.check();
    assert.ok(walked.entries > 0);
    assert.ok(table.writer.unreferenced().size >= 13, 'the planted orphans at least');
  });
}

test('a table without snapshots protects its metadata files, in each form of "none" (AV-15)', async () => {
  for (const noSnapshot of [-1, null, 'absent'] as const) {
    const table = new MemoryTable({ noSnapshot });
    await table.writer.create();
    await table.writer.setProperties({ a: 'b' });
    const { meta } = table.check();
    assert.equal(meta.currentSnapshotId, undefined);
  }
});

test('a staged snapshot alone is scanned though there is no current one (AV-15, SP-05)', async () => {
  const table = new MemoryTable();
  await table.writer.create();
  const [file] = await table.writer.stage(1);
  const walked = table.check();
  assert.equal(walked.meta.currentSnapshotId, undefined);
  assert.ok(walked.references.has(file?.recorded ?? ''));
});

test('a pending Flink manifest is read as the manifest it is', async () => {
  const table = new MemoryTable();
  await table.writer.append(1);
  const { manifest, files } = await table.writer.pendingFlinkManifest({ jobId: 'f'.repeat(32) });
  assert.equal(parsePendingManifest(manifest.key.split('/').at(-1) ?? '')?.jobId, 'f'.repeat(32));
  const paths = Array.from(
    readManifest(table.objects.get(manifest.key) ?? Buffer.alloc(0), 'm'),
    (entry) => entry.filePath,
  );
  assert.deepEqual(
    paths,
    files.map(({ recorded }) => recorded),
  );
});

test('every planted orphan has the kind that its name says', async () => {
  const table = new MemoryTable({ partitionFields: ['p'] });
  await table.writer.append(1);
  for (const orphan of await table.writer.plantOrphans()) assert.equal(fileKind(orphan.key), orphan.kind, orphan.key);
});

test('a manifest that many snapshots share is read once, its files counted once (RE-17, GO-36, TR-22)', async () => {
  const table = new MemoryTable();
  await table.writer.append(10);
  for (let snapshot = 0; snapshot < 30; snapshot++) await table.writer.deleteFiles([]);
  const walked = table.check();
  assert.equal(walked.meta.snapshots.length, 31);
  assert.equal(walked.manifests.size, 1);
  assert.equal(walked.entries, 10);
  assert.equal(walked.contentFiles.size, 10);
});

test('an overwritten file lives while its snapshot does, and is named by a DELETED entry only after that (RE-05, RE-11, GO-35)', async () => {
  const table = new MemoryTable();
  const [old] = await table.writer.append(1);
  await table.writer.overwrite(1);
  assert.ok(table.check().references.has(old?.recorded ?? ''));
  await table.writer.expire(1);
  const walked = table.check();
  assert.ok(!walked.references.has(old?.recorded ?? ''));
  assert.ok(walked.deleted.has(old?.recorded ?? ''));
  assert.equal(walked.manifests.size, 2, 'the manifest of the DELETED entry is itself referenced (AV-17)');
});

test('an old metadata file beyond the log is the only leaving of a short log (SA-07)', async () => {
  const table = new MemoryTable({ names: 'hadoop', previousVersionsMax: 1 });
  await table.writer.create();
  await table.writer.append(1);
  await table.writer.append(1);
  table.check();
  assert.deepEqual([...table.writer.unreferenced()], ['wh/t/metadata/v1.metadata.json']);
});

test('files of a branch, a tag and a staged snapshot are referenced (RE-03, RE-04, SA-04, DR-26)', async () => {
  const table = new MemoryTable();
  const [tagged] = await table.writer.append(1);
  await table.writer.tag('audit');
  const [branched] = await table.writer.append(1, { branch: 'dev' });
  const [staged] = await table.writer.stage(1);
  await table.writer.overwrite(1);
  await table.writer.expire(1);
  const { references } = table.check();
  for (const file of [tagged, branched]) assert.ok(references.has(file?.recorded ?? ''));
  assert.equal(
    references.has(staged?.recorded ?? ''),
    false,
    'a staged snapshot that expired is no longer in snapshots',
  );
});

test('random histories: what is read is what was written', async () => {
  for (let seed = 1; seed <= 40; seed++) {
    const dice = new Dice(seed);
    const formatVersion = (1 + dice.below(3)) as 1 | 2 | 3;
    const codec = (['null', 'deflate', 'snappy', 'zstandard'] as const)[dice.below(4)] ?? 'deflate';
    const table = new MemoryTable({ seed, formatVersion, codec, partitionFields: dice.below(2) === 0 ? [] : ['p'] });
    const { writer } = table;
    const files = [...(await writer.append(3))];
    const steps = [
      async () => void files.push(...(await writer.append(1 + dice.below(5)))),
      async () => void (await writer.overwrite(1 + dice.below(3))),
      async () => void (await writer.rewrite()),
      async () => void (await writer.stage(1)),
      () => writer.tag(`t${dice.below(3)}`),
      () => writer.branch(`b${dice.below(3)}`),
      async () => void (await writer.append(1, { branch: `b${dice.below(3)}` })),
      () => writer.expire(1 + dice.below(3)),
      () => writer.deleteFiles([files[dice.below(files.length)] as (typeof files)[number]]),
      async () => void (formatVersion > 1 && (await writer.positionDelete())),
      async () => void (formatVersion > 2 && (await writer.deletionVector(files.slice(0, 2)))),
      async () => void (await writer.addStatistics()),
    ];
    for (let step = 0; step < 12; step++) await steps[dice.below(steps.length)]?.();
    await writer.plantOrphans();
    table.check();
  }
});
