/** Recorded paths at the edges of the rules: whole buckets, ends of prefixes, relative tables, rules without help. */
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
    equalSchemes: {},
    equalAuthorities: {},
    pathAliases: [],
    tableLocation: 's3://b/wh/t',
    ignoreCase: false,
    ...changes,
  };
}

const alias = (from: string, to: string, tableLocation = 's3://b/wh/t') =>
  rules({ tableLocation, pathAliases: [{ from, to }] });
const ROOTS: readonly Root[] = [{ bucket: 'b', prefix: 'wh/t/', scheme: 's3', authority: 'b' }];
const faultOf = (path: string, identity = rules()) => classifyReference(path, identity, ROOTS).fault;
const refused = { name: 'PrefixMismatchError' };

test('s3, s3a and s3n are one without being told, and chains that go in circles end', () => {
  for (const scheme of ['s3', 's3a', 's3n', 'S3A']) {
    assert.equal(parseReference(`${scheme}://b/k`, rules()).scheme, 's3');
    assert.equal(faultOf(`${scheme}://b/wh/t/x`), undefined);
  }
  const circle = rules({ equalSchemes: { a: 'b', b: 'a', c: 'c' } });
  assert.equal(parseReference('c://x/k', circle).scheme, 'c');
  assert.ok(['a', 'b'].includes(parseReference('a://x/k', circle).scheme ?? ''));
});

test('a scheme stands at the beginning, and what looks like one later is part of a key', () => {
  assert.deepEqual(parseReference('/x/s3://b/k', rules()), { scheme: null, authority: null, key: 'x/s3://b/k' });
  assert.deepEqual(parseReference('/x/file:/k', rules()), { scheme: null, authority: null, key: 'x/file:/k' });
  assert.equal(parseReference('file:/p/x', rules()).authority, null);
  assert.equal(parseReference('.//.///x/./y', rules()).key, 'x/./y');
  assert.equal(parseReference('x./y', rules()).key, 'x./y');
});

test('an alias is of its own bucket and scheme only', () => {
  const identity = alias('s3://old/wh/t', 's3://b/moved');
  assert.deepEqual(locateReference('s3a://old/wh/t/x', identity), { bucket: 'b', key: 'moved/x' });
  assert.deepEqual(locateReference('s3://other/wh/t/x', identity), { bucket: 'other', key: 'wh/t/x' });
  assert.throws(() => locateReference('hdfs://old/wh/t/x', identity), refused);
  assert.equal(faultOf('hdfs://old/wh/t/x', identity), 'prefix_mismatch');
  // A relative alias says nothing of an absolute path, nor the reverse.
  assert.throws(() => locateReference('wh/t/x', alias('/wh/t', 's3://b/moved')), refused);
  assert.deepEqual(locateReference('/wh/t/x', alias('wh/t', 's3://b/moved')), { bucket: 'b', key: 'wh/t/x' });
});

test('an alias of its own scheme makes that scheme known, and no other', () => {
  const identity = alias('oss://old/wh/t', 's3://b/wh/t');
  assert.equal(faultOf('oss://old/wh/t/x', identity), undefined);
  assert.equal(faultOf('oss://old/elsewhere/x', identity), undefined);
  assert.equal(faultOf('cos://old/elsewhere/x', identity), 'unknown_scheme');
  assert.equal(faultOf('://old/x', identity), 'stray_relative');
});

test('an alias of a whole bucket, to a folder or to a whole bucket', () => {
  assert.deepEqual(locateReference('s3://old/wh/x', alias('s3://old', 's3://b/moved/')), {
    bucket: 'b',
    key: 'moved/wh/x',
  });
  assert.deepEqual(locateReference('s3://old/wh/x', alias('s3://old/', 's3://new')), { bucket: 'new', key: 'wh/x' });
  assert.deepEqual(locateReference('s3://old/wh/a/x', alias('s3://old/wh//', 's3://new')), {
    bucket: 'new',
    key: 'a/x',
  });
  assert.deepEqual(locateReference('s3://old/wh', alias('s3://old/wh', 's3://b/moved//')), {
    bucket: 'b',
    key: 'moved',
  });
  assert.deepEqual(locateReference('s3://old/wh/a/x', alias('s3://old/wh//', 's3://b/moved')).key, 'moved/a/x');
  assert.deepEqual(locateReference('s3://old/', alias('s3://old', 's3://b/moved')).key, 'moved');
  assert.deepEqual(resolveLocation('s3://old/', alias('s3://old', 's3://b/moved')).prefix, 'moved/');
  assert.deepEqual(locateReference('file:///p/x', alias('file:///p', 's3://local/d')), { bucket: 'local', key: 'd/x' });
});

test('an alias to keys below its own prefix keeps the rest of the path byte for byte', () => {
  const identity = alias('s3://b/a', 's3://b/wh/t');
  assert.deepEqual(locateReference('s3://b/a/a/a%20b//c', identity), { bucket: 'b', key: 'wh/t/a/a%20b//c' });
  assert.deepEqual(classifyReference('s3://b/a/x', identity, ROOTS).folded, ['a/x', 'wh/t/x']);
});

test('a relative table accepts what begins with its location, at a slash', () => {
  const identity = rules({ tableLocation: './wh/t///' });
  for (const path of ['wh/t', 'wh/t/x', './wh/t/data/x']) assert.notEqual(faultOf(path, identity), 'stray_relative');
  for (const path of ['wh/t2/x', 'x/wh/t/', 'wh/x', 't/x']) assert.equal(faultOf(path, identity), 'stray_relative');
  for (const path of ['./', 'wh/t/x']) {
    assert.equal(faultOf(path, rules({ tableLocation: './' })), 'stray_relative', path);
  }
  assert.equal(faultOf('wh/t/x', rules({ tableLocation: '/wh/t' })), 'stray_relative');
});

test('a path without bucket has its place only under a location on S3', () => {
  assert.deepEqual(locateReference('/wh/t', rules()), { bucket: 'b', key: 'wh/t' });
  assert.deepEqual(locateReference('s3:///wh/t/x', rules()), { bucket: 'b', key: 'wh/t/x' });
  assert.throws(() => locateReference('file:///wh/t/x', rules()), refused);
  assert.throws(() => locateReference('hdfs://name/wh/t/x', rules()), refused);
  assert.throws(() => locateReference('wh/t/x', rules()), refused);
  assert.throws(() => locateReference('/wh/t/x', rules({ tableLocation: 'hdfs://b/wh/t' })), refused);
  assert.equal(locateReference('/wh/t/x', rules({ tableLocation: 's3://b/wh/t/' })).key, 'wh/t/x');
  assert.deepEqual(locateReference('/any/x', rules({ tableLocation: 's3://b/' })), { bucket: 'b', key: 'any/x' });
  assert.throws(() => locateReference('/x/wh/t/', rules({ tableLocation: 's3://b/wh/t/' })), refused);
});

test('a reference that says its key only matches every root, one with an alias is judged where it leads', () => {
  assert.equal(faultOf('/wh/t/x'), undefined);
  assert.equal(faultOf('gopher://old/wh/t/x', alias('gopher://old/wh/t', 's3://b/wh/t')), undefined);
  assert.equal(faultOf('data/x', alias('data', 's3://b/wh/t')), undefined);
  assert.equal(classifyReference('s3://c/wh/t/x', rules(), ROOTS).evidence, 's3://c against s3://b');
  assert.equal(classifyReference('cos://c/x', rules(), ROOTS).evidence, 'cos://c');
  assert.equal(classifyReference('file:/wh/t/x', rules(), ROOTS).evidence, 'file:// against s3://b');
});

test('dots that are part of a name are no segments', () => {
  for (const path of ['s3://b/wh/t/a..b', 's3://b/wh/t/..a', 's3://b/wh/t/a../x']) {
    assert.equal(faultOf(path), undefined, path);
    assert.doesNotThrow(() => locateReference(path, rules()));
  }
  for (const path of ['s3://b/wh/t/../x', 's3://b/wh/t/..', 's3://b/wh/t/%2e%2e/x']) {
    assert.equal(faultOf(path), 'dot_dot_segment', path);
    assert.throws(() => locateReference(path, rules()), refused);
  }
  const both = classifyReference('s3://b/wh/t/./a./x', rules(), ROOTS);
  assert.deepEqual(both.folded, ['wh/t/./a./x', 'wh/t/a./x']);
  assert.deepEqual(classifyReference('s3://b/a/./x', alias('s3://b/a/.', 's3://b/wh/t'), ROOTS).folded, [
    'a/./x',
    'wh/t/x',
    'a/x',
  ]);
});

test('listed keys are shown through the alias of their own bucket', () => {
  const identity = alias('hdfs://name/p//', 's3://local/d');
  assert.equal(recordedPath('local', 'd/a//x', identity), 'hdfs://name/p/a//x');
  assert.equal(recordedPath('local', 'd', identity), 'hdfs://name/p//');
  assert.equal(recordedPath('new', 'wh/a/x', alias('s3://old', 's3://new')), 's3://old/wh/a/x');
  assert.equal(recordedPath('other', 'd/x', identity), 's3://other/d/x');
  assert.equal(recordedPath('b', 'x', rules({ tableLocation: 's3a://b/t' })), 's3a://b/x');
  assert.equal(recordedPath('b', 'x', rules({ tableLocation: 'hdfs://b/t' })), 's3://b/x');
});

test('a location is a prefix with its slash, empty at the top of a bucket', () => {
  assert.equal(resolveLocation('s3://b', rules()).prefix, '');
  assert.equal(resolveLocation('s3://b/wh', rules()).prefix, 'wh/');
  assert.equal(resolveLocation('s3://b/wh/', rules()).prefix, 'wh/');
});
