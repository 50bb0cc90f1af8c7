import assert from 'node:assert/strict';
import test from 'node:test';
import { gzipSync } from 'node:zlib';
import { parseLosslessJson } from '#shared/iceberg/lossless-json.ts';
import { parseTableMetadata, peekTableIdentity } from '#shared/iceberg/metadata-json.ts';
import { directReferences } from '#shared/iceberg/reachability.ts';

const SNAPSHOT = {
  'snapshot-id': 1,
  'timestamp-ms': 1000,
  'manifest-list': 's3://b/t/metadata/snap-1.avro',
  summary: {},
};

function json(changes: Record<string, unknown> = {}): Buffer {
  const base = {
    'format-version': 2,
    'table-uuid': 'u',
    location: 's3://b/t',
    'last-updated-ms': 5,
    'current-snapshot-id': -1,
  };
  return Buffer.from(JSON.stringify({ ...base, ...changes }));
}

const parse = (changes: Record<string, unknown> = {}) =>
  parseTableMetadata(json(changes), 's3://b/t/metadata/v1.metadata.json');
const unreadable = { name: 'MetadataUnreadableError' };
const unsupported = { name: 'UnsupportedTableError' };

test('snapshot ids over 2^53 stay apart (AV-01)', () => {
  const text = json({
    snapshots: [SNAPSHOT, { ...SNAPSHOT, 'snapshot-id': 2 }],
    refs: { audit: { 'snapshot-id': 2, type: 'tag' } },
  })
    .toString()
    .replaceAll('"snapshot-id":1', '"snapshot-id":5184430069070270604')
    .replaceAll('"snapshot-id":2', '"snapshot-id" : 5184430069070270605')
    .replace('"current-snapshot-id":-1', '"current-snapshot-id":5184430069070270604');
  const meta = parseTableMetadata(Buffer.from(text), 'm');
  assert.deepEqual(
    meta.snapshots.map(({ snapshotId }) => snapshotId),
    [5184430069070270604n, 5184430069070270605n],
  );
  assert.equal(meta.currentSnapshotId, 5184430069070270604n);
});

test('long digits inside texts, escapes and fractions are left alone', () => {
  const text = '{"a":"5184430069070270604 \\" 1","b":[-9223372036854775808,0.12345678901234568,12e30],"c":"\\\\"}';
  assert.deepEqual(parseLosslessJson(Buffer.from(text)), {
    a: '5184430069070270604 " 1',
    b: ['-9223372036854775808', 0.12345678901234568, 12e30],
    c: '\\',
  });
});

test('gzip is known by its bytes, whatever the name (AV-13)', () => {
  assert.equal(parseTableMetadata(gzipSync(json()), 'v1.metadata.json').location, 's3://b/t');
  assert.throws(() => parseTableMetadata(gzipSync(json()).subarray(0, 40), 'v1.gz.metadata.json'), unreadable);
});

test('metadata above the size limit is refused before it is parsed, and a bomb is not inflated (SM-04)', () => {
  assert.throws(() => parseTableMetadata(json(), 'm', { maxBytes: 20 }), unreadable);
  const bomb = gzipSync(Buffer.alloc(50_000_000));
  assert.throws(() => parseTableMetadata(bomb, 'm', { maxBytes: 1_000_000 }), /more than 1000000 bytes/);
});

test('"no current snapshot" is -1, null or absent, and the snapshots still count (AV-15)', () => {
  for (const current of [-1, null, undefined]) {
    const meta = parse({ 'current-snapshot-id': current, snapshots: [SNAPSHOT] });
    assert.equal(meta.currentSnapshotId, undefined);
    assert.ok(directReferences(meta).some(({ kind }) => kind === 'manifest_list'));
  }
});

test('format versions 1 to 3 are read, 4 and views refuse, nonsense is unreadable', () => {
  for (const version of [1, 2, 3]) assert.equal(parse({ 'format-version': version }).formatVersion, version);
  for (const version of [0, 4, 5]) assert.throws(() => parse({ 'format-version': version }), unsupported);
  for (const version of ['2', null, 1.5]) assert.throws(() => parse({ 'format-version': version }), unreadable);
  assert.throws(() => parse({ 'view-uuid': 'v' }), unsupported);
});

test('a snapshot with both or neither of manifest-list and manifests is unreadable', () => {
  const { 'manifest-list': list, ...bare } = SNAPSHOT;
  assert.throws(() => parse({ snapshots: [bare] }), unreadable);
  assert.throws(() => parse({ snapshots: [{ ...SNAPSHOT, manifests: [] }] }), unreadable);
  assert.throws(() => parse({ snapshots: [{ ...SNAPSHOT, 'manifest-list': '' }] }), unreadable);
  assert.throws(() => parse({ snapshots: [{ ...bare, manifests: [list, 7] }] }), unreadable);
  assert.deepEqual(parse({ snapshots: [{ ...bare, manifests: [list] }] }).snapshots[0]?.manifests, [list]);
});

test('a current snapshot or a ref that is not among the snapshots is unreadable: the array is not whole', () => {
  assert.throws(() => parse({ 'current-snapshot-id': 7, snapshots: [SNAPSHOT] }), unreadable);
  assert.throws(
    () => parse({ snapshots: [SNAPSHOT], refs: { dev: { 'snapshot-id': 9, type: 'branch' } } }),
    unreadable,
  );
});

test('fields of another type than the spec says are unreadable, never "absent"', () => {
  const wrong: Record<string, unknown>[] = [
    { snapshots: {} },
    { snapshots: [7] },
    { statistics: [{}] },
    { 'partition-statistics': 'x' },
    { 'metadata-log': [{ 'metadata-file': 3 }] },
    { location: '' },
    { location: undefined },
    { 'last-updated-ms': undefined },
    { 'current-snapshot-id': 'main' },
    { properties: [] },
    { location: 's3://b/\ud800' },
  ];
  for (const changes of wrong) assert.throws(() => parse(changes), unreadable, JSON.stringify(changes));
  for (const bytes of [Buffer.from(''), Buffer.from('[]'), Buffer.from('{'), Buffer.from([0x7b, 0xff, 0x7d])]) {
    assert.throws(() => parseTableMetadata(bytes, 'm'), unreadable);
  }
});

test('statistics of the current metadata are referenced, an empty path is not (RE-01, GO-34)', () => {
  const meta = parse({
    statistics: [{ 'statistics-path': 's3://b/t/s1.stats' }, { 'statistics-path': '' }],
    'partition-statistics': [{ 'statistics-path': 's3://b/t/p1.parquet' }],
  });
  const paths = directReferences(meta).map(({ path }) => path);
  assert.ok(paths.includes('s3://b/t/s1.stats') && paths.includes('s3://b/t/p1.parquet'));
  assert.ok(!paths.includes(''));
});

test('the snapshots count, not the snapshot log, refs or ancestry (RE-03, RE-04, RE-05, RE-07)', () => {
  const snapshots = [1, 5, 9].map((id) => ({
    ...SNAPSHOT,
    'snapshot-id': id,
    'manifest-list': `s3://b/t/snap-${id}.avro`,
  }));
  const meta = parse({
    snapshots,
    'current-snapshot-id': 5,
    'snapshot-log': [{ 'snapshot-id': 5, 'timestamp-ms': 1 }],
    refs: { main: { 'snapshot-id': 5, type: 'branch' } },
  });
  const lists = directReferences(meta).filter(({ kind }) => kind === 'manifest_list');
  assert.deepEqual(
    lists.map(({ path }) => path),
    ['s3://b/t/snap-1.avro', 's3://b/t/snap-5.avro', 's3://b/t/snap-9.avro'],
  );
});

test('the version hint is protected for locations with and without a final slash (CA-03, TR-21, CH-18)', () => {
  for (const location of ['s3://b/t', 's3://b/t/', 's3://b/t//']) {
    const hints = directReferences(parse({ location })).filter(({ kind }) => kind === 'version_hint');
    assert.deepEqual(
      hints.map(({ path }) => path),
      ['s3://b/t/metadata/version-hint.text', 's3://b/t/metadata/version-hint.txt'],
    );
  }
});

test('the metadata file and its log are protected, gone or not (CA-05)', () => {
  const meta = parse({ 'metadata-log': [{ 'metadata-file': 's3://b/t/00001.metadata.json', 'timestamp-ms': 1 }] });
  const files = directReferences(meta).filter(({ kind }) => kind === 'metadata_file');
  assert.deepEqual(
    files.map(({ path }) => path),
    ['s3://b/t/metadata/v1.metadata.json', 's3://b/t/00001.metadata.json'],
  );
});

test('encryption shows in keys, snapshots or a property', () => {
  assert.equal(parse().encrypted, false);
  assert.equal(parse({ 'encryption-keys': [{ 'key-id': 'k' }] }).encrypted, true);
  assert.equal(parse({ properties: { 'encryption.key-id': 'k' } }).encrypted, true);
  assert.equal(parse({ snapshots: [{ ...SNAPSHOT, 'key-id': 'k' }] }).encrypted, true);
});

test('partition fields come from every spec, v1 and later (SA-11)', () => {
  const meta = parse({
    'partition-spec': [{ name: 'old' }],
    'partition-specs': [{ fields: [{ name: '_c2' }] }, { fields: [{ name: '_c1' }, { name: '_c2' }] }],
  });
  assert.deepEqual([...meta.partitionFields].sort(), ['_c1', '_c2', 'old']);
});

test('unquoted properties keep their text: gc.enabled=false is not "absent" (FF-09)', () => {
  assert.equal(parse({ properties: { 'gc.enabled': false } }).properties['gc.enabled'], 'false');
});

test('whose file it is shows in its first bytes, gzip or not, and nested keys do not count', () => {
  const bytes = json({
    properties: { 'table-uuid': 'nested', location: 'nested' },
    schema: [{ location: 'x' }],
    'table-uuid': 'mine',
  });
  assert.deepEqual(peekTableIdentity(bytes), { tableUuid: 'mine', location: 's3://b/t', complete: true });
  assert.deepEqual(peekTableIdentity(gzipSync(bytes)), { tableUuid: 'mine', location: 's3://b/t', complete: true });
  const cut = Buffer.from('{"location" : "s3://b/\\u0074", "properties": {"table-uuid": "no"}, "table-u');
  assert.deepEqual(peekTableIdentity(cut), { location: 's3://b/t', complete: false });
  const long = Buffer.from(
    JSON.stringify({ 'table-uuid': 'u', filler: Array.from({ length: 9000 }, (_, i) => i * 7919) }),
  );
  assert.equal(peekTableIdentity(gzipSync(long).subarray(0, 2000)).tableUuid, 'u');
  for (const nothing of ['', '[]', 'x', '"a"']) assert.equal(peekTableIdentity(Buffer.from(nothing)).complete, false);
});
