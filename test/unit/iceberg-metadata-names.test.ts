import assert from 'node:assert/strict';
import test from 'node:test';
import { chooseMetadata, headsNeeded, parseVersionHint } from '#shared/iceberg/choose-metadata.ts';
import { fileKind, writeOperation } from '#shared/iceberg/file-kind.ts';
import { flinkJobIds, parsePendingManifest, startsWithJobId } from '#shared/iceberg/flink.ts';
import { parseTableMetadata } from '#shared/iceberg/metadata-json.ts';
import { isMetadataJsonName, parseMetadataName } from '#shared/iceberg/metadata-names.ts';

const UUID = '7d0c6b52-0f8e-4a36-9a0c-1e2f3a4b5c6d';

test('metadata names in both forms and every gzip spelling (AV-13)', () => {
  for (const suffix of ['.metadata.json', '.gz.metadata.json', '.gzip.metadata.json', '.metadata.json.gz']) {
    assert.deepEqual(parseMetadataName(`v12${suffix}`), { form: 'hadoop', version: 12n });
    assert.deepEqual(parseMetadataName(`00012-${UUID}${suffix}`), { form: 'catalog', version: 12n, uuid: UUID });
    assert.ok(isMetadataJsonName(`wh/t/metadata/x${suffix}`));
  }
  assert.deepEqual(parseMetadataName(`123456-${UUID}.metadata.json`)?.version, 123456n);
  assert.deepEqual(parseMetadataName('v1727125782.metadata.json')?.version, 1727125782n);
  for (const name of [
    'vfinal.metadata.json',
    'v3.1.metadata.json',
    'v1.json',
    `${UUID}.metadata.json`,
    'v1.metadata.json.tmp',
  ]) {
    assert.equal(parseMetadataName(name), null, name);
  }
});

const choose = (
  names: string[],
  options = {},
  heads: Record<string, { tableUuid?: string; lastUpdatedMs: number }> = {},
) => chooseMetadata(names, new Map(Object.entries(heads)), options).name;

test('the highest version is current, whatever a stale hint says (CA-01, CH-17, CH-19)', () => {
  const names = ['v4.metadata.json', 'v5.metadata.json', 'v10.gz.metadata.json', 'version-hint.text'];
  for (const hint of [undefined, '4', '', ' \n', 'v4', '10'])
    assert.equal(choose(names, { hint }), 'v10.gz.metadata.json');
});

test('a hint ahead of every file says that the current one is missing', () => {
  assert.throws(() => choose(['v4.metadata.json'], { hint: '5' }), { name: 'MetadataUnreadableError' });
});

test('a name without a version counts only where the hint names it', () => {
  const names = [`00001-${UUID}.metadata.json`, '00002-legacy-bare-dv.metadata.json'];
  assert.equal(choose(names), names[0]);
  assert.equal(choose(names, { hint: '00002-legacy-bare-dv' }), names[1]);
  assert.equal(choose(names, { hint: '00002-legacy-bare-dv.metadata.json' }), names[1]);
  assert.equal(choose(['vfinal.metadata.json'], { hint: 'vfinal' }), 'vfinal.metadata.json');
  assert.throws(() => choose(['vfinal.metadata.json']), { name: 'TableNotFoundError' });
  assert.equal(choose([names[0] as string, 'vfinal.metadata.json'], { hint: 'vfinal' }), names[0]);
});

test('ties go to the later file, then to the name, and the others are told', () => {
  const names = ['v3.metadata.json', `3-${UUID}.metadata.json`, 'v3.gz.metadata.json', 'v2.metadata.json'];
  assert.deepEqual(headsNeeded(names), names.slice(0, 3));
  const heads = new Map([
    [names[0] as string, { lastUpdatedMs: 7 }],
    [names[1] as string, { lastUpdatedMs: 9 }],
    [names[2] as string, { lastUpdatedMs: 9 }],
  ]);
  assert.deepEqual(chooseMetadata(names, heads), {
    name: 'v3.gz.metadata.json',
    version: 3n,
    sameVersion: ['v3.metadata.json', `3-${UUID}.metadata.json`],
  });
  assert.deepEqual(headsNeeded(['v1.metadata.json', 'v2.metadata.json']), []);
});

test('files of a given table-uuid only; the latest on request', () => {
  const heads = {
    'v1.metadata.json': { tableUuid: 'A', lastUpdatedMs: 9 },
    'v2.metadata.json': { tableUuid: 'a', lastUpdatedMs: 3 },
    'v3.metadata.json': { tableUuid: 'b', lastUpdatedMs: 5 },
  };
  const names = Object.keys(heads);
  assert.deepEqual(headsNeeded(names, { tableUuid: 'a' }), names);
  assert.equal(choose(names, { tableUuid: 'a' }, heads), 'v2.metadata.json');
  assert.equal(choose(names, { by: 'last_updated' }, heads), 'v1.metadata.json');
  assert.throws(() => choose(names, { tableUuid: 'c' }, heads), { name: 'TableNotFoundError' });
  assert.throws(() => choose([]), { name: 'TableNotFoundError' });
});

test('hints as engines write them', () => {
  assert.deepEqual(parseVersionHint('12\n'), { version: 12n });
  assert.deepEqual(parseVersionHint('00001-x.metadata.json'), { name: '00001-x.metadata.json' });
  assert.equal(parseVersionHint(' '), null);
});

const JOB = '3e3a37a06993c2a0134beb41c1ceb66e';
const OPERATOR = '49884f57af809d38cc85f0c7211a0bc1';
const pending: readonly (readonly [string, string, bigint])[] = [
  [`${JOB}-${OPERATOR}-00000-0-25892-00048.avro`, JOB, 25892n],
  [`${JOB}-00003-1-12-00001.avro`, JOB, 12n],
  ['job123-operator456-00007-2-100-00001.avro', 'job123', 100n],
  [`${JOB}-${OPERATOR}-00000-0-9-00001-${UUID}.avro`, JOB, 9n],
  [`${JOB}-sink-of-events-123456-10-99999999999-1234567.avro`, JOB, 99999999999n],
];
for (const [name, jobId, checkpoint] of pending) {
  test(`${name} is a pending manifest (ET-01, ET-06)`, () =>
    assert.deepEqual(parsePendingManifest(name), { jobId, checkpoint }));
}

test('ordinary manifests and lists are none (ET-07, AM-02)', () => {
  const names = [
    `${UUID}-m0.avro`,
    `snap-123-1-${UUID}.avro`,
    `snap-5184430069070270604-1-12345678-1234-1234-1234-123456789012.avro`,
    '12345678-1234-1234-1234-123456789012-m1.avro',
    `optimized-m-${UUID}.avro`,
    `00000-0-${UUID}-00001.avro`,
    `00000-0-12345678-1234-1234-1234-123456789012-00001.avro`,
    `${JOB}-${OPERATOR}-00000-0-25892-00048.parquet`,
    `${JOB}-${OPERATOR}-0000-0-25892-0048.avro`,
  ];
  for (const name of names) assert.equal(parsePendingManifest(name), null, name);
});

test('job ids come from every snapshot, and both protect (AM-03)', () => {
  const snapshot = (id: number, summary: object) => ({
    'snapshot-id': id,
    'timestamp-ms': 1,
    'manifest-list': 'x',
    summary,
  });
  const meta = parseTableMetadata(
    Buffer.from(
      JSON.stringify({
        'format-version': 2,
        location: 's3://b/t',
        'last-updated-ms': 1,
        snapshots: [
          snapshot(1, { 'flink.job-id': 'old' }),
          snapshot(2, { 'flink.job-id.2': 'new' }),
          snapshot(3, {}),
          snapshot(4, { 'flink.job-id': '' }),
        ],
      }),
    ),
    'm',
  );
  assert.deepEqual(flinkJobIds(meta), ['old', 'new']);
  assert.ok(startsWithJobId('old-anything.avro', flinkJobIds(meta)));
  assert.ok(!startsWithJobId('other.avro', flinkJobIds(meta)));
});

test('kinds are guessed from names (CH-14)', () => {
  const kinds = {
    'data/p=1/00000-0-a-00001.parquet': 'data',
    'data/x.orc': 'data',
    'data/eq-delete-001.parquet': 'equality_delete',
    'data/00000-0-eq-del-00001.parquet': 'equality_delete',
    'data/00000-0-deletes.parquet': 'position_delete',
    'data/00000-0-delete-00001.parquet': 'position_delete',
    'data/undeleted_rows.parquet': 'data',
    'data/x.puffin': 'dv',
    [`metadata/${UUID}-m12.avro`]: 'manifest',
    [`metadata/optimized-m-${UUID}.avro`]: 'manifest',
    [`metadata/${JOB}-00003-1-12-00001.avro`]: 'manifest',
    [`metadata/snap-1-1-${UUID}.avro`]: 'manifest_list',
    'metadata/v1.gz.metadata.json': 'metadata_file',
    'metadata/1-a.stats': 'statistics',
    'metadata/partition-stats-1-a.parquet': 'statistics',
    'metadata/version-hint.text': 'version_hint',
    'metadata/README': 'other',
  };
  for (const [key, kind] of Object.entries(kinds)) assert.equal(fileKind(key), kind, key);
});

test('files of one write share an operation id', () => {
  assert.equal(writeOperation(`data/00000-7-${UUID}-00001.parquet`), UUID);
  assert.equal(writeOperation(`metadata/snap-1-1-${UUID.toUpperCase()}.avro`), UUID);
  assert.equal(writeOperation('data/x.parquet'), null);
});
