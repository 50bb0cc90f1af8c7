/** Classes of keys whose raw and folded spellings say different things: whatever protects either protects the file. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { FileClassifier, hasMarkedComponent } from '#functions/list/file-class.ts';
import { foldKey } from '#shared/identity/fold-key.ts';
import { OLD_MS, type PlanChanges, planOf, T0_MS } from '#test/support/mark-world.ts';

const UNKNOWN = { content: false, metadata: false };

function classOf(key: string, changes: PlanChanges = {}, root = 'wh/t/data/', lastModifiedMs = OLD_MS): string {
  const classifier = new FileClassifier(planOf(changes), 'b', root);
  return classifier.classOf({ key, sizeBytes: 1, etag: '', lastModifiedMs }, foldKey(key), UNKNOWN);
}

test('a name is hidden in either of its spellings', () => {
  for (const key of [
    '%5Ftemporary/f',
    'a/%2Estaging/f',
    '_x%41/f',
    '_a%2F..b/f',
    '.hidden',
    'a/.b',
    'a/_b/c',
    '//_b',
  ]) {
    assert.equal(classOf(`wh/t/data/${key}`), 'protected', key);
  }
  // Only its fold below the root counts: the root's own spelling is no part of the name.
  assert.equal(classOf('wh//t/_x/data//f.parquet', {}, 'wh//t/_x/data/'), 'candidate');
  assert.equal(classOf('wh/t/data/a_b/c.d/f.parquet'), 'candidate');
});

test('a partition folder is shown only where both spellings are of the partition', () => {
  assert.equal(classOf('wh/t/data/_p=1/f', { partition_fields: ['_p'] }), 'candidate');
  assert.equal(classOf('wh/t/data/%5Fp=1/f', { partition_fields: ['_p'] }), 'candidate');
  assert.equal(classOf('wh/t/data/_p=1/%5Fq/f', { partition_fields: ['_p'] }), 'protected');
});

test('dot segments of either spelling are never shown', () => {
  const all = { input: { include_hidden: ['**'] } };
  for (const key of ['./f', '../f', 'a/./f', 'a/../f', 'a/.', 'a/..', '%2E/f', 'a/%2E%2E/f', 'a/%2E', '.', '..']) {
    assert.equal(classOf(`wh/t/data/${key}`, all), 'protected', key);
  }
  for (const key of ['.a/f', '..a/f', 'a./f', 'a../f', 'a/...']) {
    assert.equal(classOf(`wh/t/data/${key}`, all), 'candidate', key);
  }
});

test('globs see the name below the root, folded too', () => {
  const exclude = { input: { exclude: ['keep/**'] } };
  assert.equal(classOf('wh/t/data/k%65ep/f', exclude), 'protected');
  assert.equal(classOf('wh/t//data/keep/f', exclude, 'wh/t//data/'), 'protected');
  assert.equal(classOf('wh/t/data/wh/t/data/keep/f', exclude), 'candidate');
});

test('a marked component is one that begins with an underscore or a dot, wherever it stands', () => {
  for (const key of ['_a', '.a', 'a/_b', 'a/.b']) assert.equal(hasMarkedComponent(key), true, key);
  for (const key of ['', 'a', 'a_', 'a.b', 'a/b_', 'a/b.c', 'a_/b']) assert.equal(hasMarkedComponent(key), false, key);
});

test('folders of another bucket say nothing of this one', () => {
  const elsewhere = (prefix: string) => [{ bucket: 'c', prefix }];
  const flink = (bucket: string) => ({
    flink: { job_ids: [], manifest_folders: [{ bucket, prefix: 'wh/t/data/f/' }] },
  });
  assert.equal(classOf('wh/t/data/f/x', flink('b')), 'protected');
  assert.equal(classOf('wh/t/data/f/x', flink('c')), 'candidate');
  const plan = planOf({ metadata_folders: elsewhere('wh/t/metadata/') });
  assert.equal(new FileClassifier(plan, 'b', 'wh/t/metadata/').groupOf('wh/t/metadata/x', UNKNOWN), 'content');
});

test('only an Avro file is a pending manifest, and without a horizon one of any age is', () => {
  const name = '0123456789abcdef0123456789abcdef-0123456789abcdef-00000-0-17-00001';
  assert.equal(classOf(`wh/t/metadata/${name}.avro`, {}, 'wh/t/metadata/', 1), 'protected');
  assert.equal(classOf(`wh/t/metadata/${name}.orc`, {}, 'wh/t/metadata/'), 'candidate');
  const horizon = { input: { pending_manifest_horizon_ms: 1000 } };
  const at = (age: number) => classOf(`wh/t/metadata/${name}.avro`, horizon, 'wh/t/metadata/', T0_MS - age);
  assert.deepEqual([at(1000), at(1001)], ['protected', 'young']);
});

test('a glob that cannot be read is refused by the name of its setting', () => {
  for (const name of ['exclude', 'include_hidden']) {
    assert.throws(() => classOf('wh/t/data/f', { input: { [name]: [''] } }), { message: new RegExp(name) });
  }
});
