import assert from 'node:assert/strict';
import test from 'node:test';
import {
  classifyReference,
  locateReference,
  parseReference,
  recordedPath,
  resolveLocation,
} from '#shared/identity/references.ts';
import type { IdentityRules, Root } from '#shared/identity/types.ts';

function rules(changes: Partial<IdentityRules> = {}): IdentityRules {
  return {
    equalSchemes: { s3a: 's3', s3n: 's3' },
    equalAuthorities: {},
    pathAliases: [],
    tableLocation: 's3://b/wh/t',
    ignoreCase: false,
    ...changes,
  };
}

const root = (changes: Partial<Root> = {}): Root => ({
  bucket: 'b',
  prefix: 'wh/t/',
  scheme: 's3',
  authority: 'b',
  ...changes,
});

function faultOf(path: string, identity = rules(), roots = [root()]): string | undefined {
  return classifyReference(path, identity, roots).fault;
}

test('s3, s3a and s3n are one, whatever their case (PI-01, PI-14, SU-01)', () => {
  for (const scheme of ['s3', 's3a', 's3n', 'S3', 'S3A']) {
    const classified = classifyReference(`${scheme}://b/wh/t/data/x.parquet`, rules(), [root()]);
    assert.deepEqual(classified, {
      folded: ['wh/t/data/x.parquet'],
      coverageKey: 'wh/t/data/x.parquet',
      insideRoots: true,
    });
  }
});

test('buckets compare exactly and may have capitals and underscores (PI-14)', () => {
  const roots = [root({ bucket: 'my_Bkt', authority: 'my_Bkt' })];
  assert.equal(faultOf('S3://my_Bkt/wh/t/x', rules(), roots), undefined);
  assert.equal(faultOf('s3://my_bkt/wh/t/x', rules(), roots), 'prefix_mismatch');
  assert.deepEqual(locateReference('S3://my_Bkt/wh/t/x', rules()), { bucket: 'my_Bkt', key: 'wh/t/x' });
});

test('another scheme or authority over a root is a mismatch with its evidence (SA-22, SA-23, GO-24, GO-38)', () => {
  const classified = classifyReference('s3://other/wh/t/data/x', rules(), [root()]);
  assert.equal(classified.fault, 'prefix_mismatch');
  assert.equal(classified.evidence, 's3://other against s3://b');
  assert.equal(classified.insideRoots, true);
  assert.equal(faultOf('hdfs://b/wh/t/data/x'), 'prefix_mismatch');
  assert.equal(faultOf('s3://other/elsewhere/x'), undefined);
});

test('equal_schemes and equal_authorities make them equal (SA-22, SA-23, SP-12, SP-13, SU-09, SU-10)', () => {
  assert.equal(faultOf('gs://b/wh/t/x', rules({ equalSchemes: { GS: 's3' } })), undefined);
  assert.equal(faultOf('s3://b-replica/wh/t/x', rules({ equalAuthorities: { 'b-replica': 'b' } })), undefined);
  const files = [root({ scheme: 'file', authority: '' })];
  assert.equal(faultOf('file1:///wh/t/x', rules({ equalSchemes: { file1: 'file' } }), files), undefined);
  assert.equal(faultOf('file://localhost/wh/t/x', rules(), files), 'prefix_mismatch');
  assert.equal(faultOf('file://localhost/wh/t/x', rules({ equalAuthorities: { localhost: '' } }), files), undefined);
});

test('chains of equal schemes end at their last (GO-03)', () => {
  const identity = rules({ equalSchemes: { s3n: 's3a', s3a: 's3', oss: 's3n' } });
  assert.equal(parseReference('oss://b/x', identity).scheme, 's3');
});

test('a reference without scheme or authority matches every root (SA-20, SU-03)', () => {
  assert.equal(faultOf('/wh/t/data/x'), undefined);
  assert.equal(faultOf('hdfs:///wh/t/x', rules(), [root({ scheme: 'hdfs', authority: 'name' })]), undefined);
});

test('an authority against a root without one is a mismatch (SA-21, SU-04)', () => {
  assert.equal(faultOf('hdfs://name/wh/t/x', rules(), [root({ scheme: 'hdfs', authority: '' })]), 'prefix_mismatch');
});

test('a reference over one root with its own bucket and one with another is no mismatch', () => {
  const roots = [root(), root({ bucket: 'other', authority: 'other' })];
  assert.equal(faultOf('s3://other/wh/t/x', rules(), roots), undefined);
});

test('an unknown scheme refuses wherever its key lies (CH-22)', () => {
  assert.equal(faultOf('abfss://c@a/elsewhere/x'), 'unknown_scheme');
  assert.equal(faultOf('gs://b/elsewhere/x', rules({ equalSchemes: { gs: 'gs' } })), undefined);
  assert.equal(faultOf('gs://b/x', rules({ pathAliases: [{ from: 'gs://b/y', to: 's3://b/y' }] })), undefined);
});

test('`..` refuses, plain or encoded, before anything else (PI-09)', () => {
  for (const path of ['s3://b/wh/t/data/../other/x', 's3://b/wh/t/%2E%2e/x', 's3://b/wh/t/..']) {
    assert.equal(faultOf(path), 'dot_dot_segment');
    assert.throws(() => locateReference(path, rules()), { name: 'PrefixMismatchError' });
  }
  assert.equal(faultOf('s3://b/wh/t/a..b/..c/x'), undefined);
});

test('a `.` segment protects both the key as recorded and as a file system reads it', () => {
  assert.deepEqual(classifyReference('s3://b/wh/t/./data/./x', rules(), [root()]).folded, [
    'wh/t/./data/./x',
    'wh/t/data/x',
  ]);
});

test('relative paths are accepted under the recorded location, an alias or a mount only (PI-11, SA-13)', () => {
  const mounted = rules({ tableLocation: './lineitem', pathAliases: [{ from: './lineitem', to: 's3://local/tmp/t' }] });
  const roots = [root({ bucket: 'local', authority: 'local', prefix: 'tmp/t/' })];
  for (const path of ['lineitem/data/x', './lineitem/data/x']) {
    const classified = classifyReference(path, mounted, roots);
    assert.deepEqual(classified.folded, ['lineitem/data/x', 'tmp/t/data/x']);
    assert.equal(classified.fault, undefined);
    assert.deepEqual(locateReference(path, mounted), { bucket: 'local', key: 'tmp/t/data/x' });
  }
  assert.equal(faultOf('data/x', mounted, roots), 'stray_relative');
  assert.equal(faultOf('lineitem2/data/x', mounted, roots), 'stray_relative');
  assert.equal(faultOf('data/x'), 'stray_relative');
  assert.throws(() => locateReference('data/x', rules()), { name: 'PrefixMismatchError' });
});

test('aliases match at a slash, the longest first, and protect both keys', () => {
  const identity = rules({
    pathAliases: [
      { from: 's3a://old/wh', to: 's3://b/moved' },
      { from: 's3://old/wh/t/', to: 's3://b/wh/t' },
    ],
  });
  const roots = [root()];
  assert.deepEqual(classifyReference('s3://old/wh/t/data/x', identity, roots), {
    folded: ['wh/t/data/x'],
    coverageKey: 'wh/t/data/x',
    insideRoots: true,
  });
  assert.deepEqual(classifyReference('s3n://old/wh/u/x', identity, roots).folded, ['wh/u/x', 'moved/u/x']);
  assert.deepEqual(locateReference('s3://old/wh/t2/x', identity), { bucket: 'b', key: 'moved/t2/x' });
  assert.deepEqual(locateReference('s3://old/whale/x', identity), { bucket: 'old', key: 'whale/x' });
});

test('an alias matches another spelling of its prefix too', () => {
  const identity = rules({ pathAliases: [{ from: 's3://old/my table', to: 's3://b/wh/t' }] });
  assert.deepEqual(classifyReference('s3://old/my%20table/data/x', identity, [root()]).folded, [
    'my table/data/x',
    'wh/t/data/x',
  ]);
  assert.deepEqual(locateReference('s3://old//my%20table/a%20b', identity), { bucket: 'b', key: 'wh/t/a%20b' });
});

test('one table may record file:///p, file:/p, /p and hdfs://name/p (DR-11)', () => {
  const identity = rules({ tableLocation: '/p/t', pathAliases: [{ from: '/p/t', to: 's3://local/d' }] });
  for (const path of ['/p/t/x', 'file:/p/t/x', 'file:///p/t/x', 'hdfs://name:8020/p/t/x']) {
    assert.deepEqual(locateReference(path, identity), { bucket: 'local', key: 'd/x' });
  }
  assert.deepEqual(locateReference('s3://bucket/p/t/x', identity), { bucket: 'bucket', key: 'p/t/x' });
  const hdfs = rules({ tableLocation: 'hdfs://name/p', pathAliases: [{ from: 'hdfs://name/p', to: 's3://local/d' }] });
  assert.deepEqual(locateReference('/p/x', hdfs), { bucket: 'local', key: 'd/x' });
});

test('a path without bucket is read from the bucket of the location that it lies under, else refused', () => {
  assert.deepEqual(locateReference('/wh/t/metadata/m.avro', rules()), { bucket: 'b', key: 'wh/t/metadata/m.avro' });
  assert.throws(() => locateReference('/wh/other/m.avro', rules()), { name: 'PrefixMismatchError' });
  assert.throws(() => locateReference('hdfs://name/wh/t/m.avro', rules()), { name: 'PrefixMismatchError' });
});

test('keys are read byte for byte (PI-04, PI-06, PI-08)', () => {
  for (const key of ['wh/t//data/x', 'wh/t/data/name=a%2Fb/x', 'wh/t/data/c=a#1/x?y', 'wh/t/data/a+b c/é']) {
    assert.deepEqual(locateReference(`s3://b/${key}`, rules()), { bucket: 'b', key });
    assert.equal(parseReference(`s3://b/${key}`, rules()).key, key);
  }
});

test('locations become prefixes that end with one slash of ours (TR-05)', () => {
  const prefix = (location: string, identity = rules()) => resolveLocation(location, identity).prefix;
  assert.equal(prefix('s3://b/wh/t'), 'wh/t/');
  assert.equal(prefix('s3://b/wh/t/'), 'wh/t/');
  assert.equal(prefix('s3://b/wh/t//'), 'wh/t//');
  assert.equal(prefix('s3://b'), '');
  assert.equal(prefix('s3://b/'), '');
  assert.deepEqual(resolveLocation('s3a://B2/wh', rules({ equalAuthorities: { B2: 'b' } })), {
    scheme: 's3',
    authority: 'b',
    bucket: 'B2',
    prefix: 'wh/',
  });
  assert.throws(() => prefix('file:///tmp/t'), { name: 'PrefixMismatchError' });
});

test('a sibling with a common name prefix is not inside (SU-14b)', () => {
  assert.equal(classifyReference('s3://b/wh/t1/x', rules(), [root()]).insideRoots, false);
  assert.equal(classifyReference('s3://b/wh/t', rules(), [root()]).insideRoots, false);
});

test('listed keys are shown as the metadata would record them', () => {
  assert.equal(recordedPath('b', 'wh/t/data/x', rules()), 's3://b/wh/t/data/x');
  assert.equal(recordedPath('b', 'wh/t/data/x', rules({ tableLocation: 's3a://b/wh/t' })), 's3a://b/wh/t/data/x');
  const mounted = rules({
    tableLocation: '/p/t',
    pathAliases: [
      { from: '/p/t', to: 's3://local/d' },
      { from: 'gs://top', to: 's3://local/d/deeper' },
    ],
  });
  assert.equal(recordedPath('local', 'd/data//x', mounted), '/p/t/data//x');
  assert.equal(recordedPath('local', 'd/deeper/x', mounted), 'gs://top/x');
});

test('a store that ignores case folds both sides', () => {
  const identity = rules({ ignoreCase: true });
  const classified = classifyReference('s3://b/WH/T/Data/X.parquet', identity, [root()]);
  assert.deepEqual(classified.folded, ['wh/t/data/x.parquet']);
  assert.equal(classified.insideRoots, true);
});
