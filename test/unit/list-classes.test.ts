import assert from 'node:assert/strict';
import test from 'node:test';
import { FileClassifier, isFolderMarker } from '#functions/list/file-class.ts';
import type { FileClass } from '#shared/run/receipts.ts';
import { DAY_MS, OLD_MS, type PlanChanges, planOf, T0_MS } from '../support/mark-world.ts';

const NOT_FOUND = { content: false, metadata: false };

function classOf(relative: string, changes: PlanChanges = {}, lastModifiedMs = OLD_MS, folder = 'data/'): FileClass {
  const plan = planOf(changes);
  const root = `wh/t/${folder}`;
  const object = { key: root + relative, sizeBytes: 1, lastModifiedMs, etag: '"e"' };
  return new FileClassifier(plan, 'b', root).classOf(object, object.key, NOT_FOUND);
}

test('a key that a filter has is referenced, whatever else speaks against it', () => {
  const classifier = new FileClassifier(planOf(), 'b', 'wh/t/data/');
  const object = { key: 'wh/t/data/_hidden', sizeBytes: 1, lastModifiedMs: Number.NaN, etag: '' };

  assert.equal(classifier.classOf(object, object.key, { content: false, metadata: true }), 'referenced');
  assert.equal(classifier.groupOf(object.key, { content: false, metadata: true }), 'metadata');
  assert.equal(classifier.groupOf(object.key, { content: true, metadata: true }), 'content');
});

test('files strictly before the cut-off are candidates, at the cut-off they are young (SA-06)', () => {
  const cutoff = T0_MS - 3 * DAY_MS;
  const old = { writer_time: new Date(T0_MS).toISOString() };

  assert.equal(classOf('a.parquet', old, cutoff - 1), 'candidate');
  assert.equal(classOf('a.parquet', old, cutoff), 'young');
  assert.equal(classOf('a.parquet', old, T0_MS), 'young');
});

test('a time that is missing, before S3 or more than a day after the start is undated', () => {
  for (const time of [Number.NaN, Number.POSITIVE_INFINITY, 0, Date.UTC(2006, 0, 1) - 1, T0_MS + DAY_MS + 1]) {
    assert.equal(classOf('a.parquet', {}, time), 'undated', String(time));
  }
  assert.equal(classOf('a.parquet', {}, Date.UTC(2006, 0, 1)), 'candidate');
  assert.equal(classOf('a.parquet', {}, T0_MS + DAY_MS), 'young');
});

test('files not older than the writer time wait for their writer, until max_writer_lag (ET-09)', () => {
  const writerTime = T0_MS - 20 * DAY_MS;
  const plan = { writer_time: new Date(writerTime).toISOString() };

  assert.equal(classOf('a.parquet', plan, writerTime), 'waiting');
  assert.equal(classOf('a.parquet', plan, writerTime - 1), 'candidate');
  assert.equal(classOf('a.parquet', { ...plan, input: { max_writer_lag_ms: 10 * DAY_MS } }, writerTime), 'candidate');
});

test('in a table without snapshots every file waits until max_writer_lag', () => {
  assert.equal(classOf('a.parquet', { writer_time: null }, T0_MS - 29 * DAY_MS), 'waiting');
  assert.equal(classOf('a.parquet', { writer_time: null }, T0_MS - 30 * DAY_MS), 'candidate');
});

test('hidden names are protected unless they are a partition of any spec (SA-10, SA-11, SA-12, ET-10)', () => {
  const plan = { partition_fields: ['_c2_trunc', '_c1', '_dt'] };

  assert.equal(classOf('_c2_trunc=AA/c3=AAAA/dead.parquet', plan), 'candidate');
  assert.equal(classOf('_c2_trunc=AA/_c1=1/dead.parquet', plan), 'candidate');
  assert.equal(classOf('_dt=1/dead.parquet', plan), 'candidate');
  assert.equal(classOf('_c2_trunc/file.txt', plan), 'protected');
  assert.equal(classOf('_c2_trunc_x=AA/file.txt', plan), 'protected');
  assert.equal(classOf('_dt=1/_SUCCESS', plan), 'protected');
  assert.equal(classOf('a/.part-0.crc', plan), 'protected');
  assert.equal(classOf('a/_temporary/0/part.parquet'), 'protected');
  assert.equal(classOf('a_b/c.d.parquet'), 'candidate');
});

test('include_hidden opts in to what its globs match, and to nothing with dot segments', () => {
  const plan = { input: { include_hidden: ['**/_temporary/**'] } };

  assert.equal(classOf('a/_temporary/0/part.parquet', plan), 'candidate');
  assert.equal(classOf('_temporary/part.parquet', plan), 'candidate');
  assert.equal(classOf('a/_other/part.parquet', plan), 'protected');
  assert.equal(classOf('a/../part.parquet', { input: { include_hidden: ['**', 'a/../part.parquet'] } }), 'protected');
});

test('exclude protects what its globs match below the root, and only that (FF-07)', () => {
  const plan = { input: { exclude: ['checkpoint/', 'tmp-*'] } };

  assert.equal(classOf('checkpoint/offsets/12', plan), 'protected');
  assert.equal(classOf('tmp-1', plan), 'protected');
  assert.equal(classOf('a/tmp-1', plan), 'candidate');
  assert.equal(classOf('checkpoints/12', plan), 'candidate');
});

test('pending Flink manifests are protected of any job and age, until the horizon if one is set (ET-01, ET-06)', () => {
  const name = '3e3a37a06993c2a0134beb41c1ceb66e-49884f57af809d38cc85f0c7211a0bc1-00000-0-25892-00048.avro';
  const horizon = { input: { pending_manifest_horizon_ms: 90 * DAY_MS } };

  assert.equal(classOf(name, {}, OLD_MS, 'metadata/'), 'protected');
  assert.equal(classOf(name, horizon, T0_MS - 90 * DAY_MS, 'metadata/'), 'protected');
  assert.equal(classOf(name, horizon, T0_MS - 91 * DAY_MS, 'metadata/'), 'candidate');
});

test('metadata named after a job that ever committed is protected, other manifests are not (ET-07)', () => {
  const plan = { flink: { job_ids: ['3e3a37a06993c2a0134beb41c1ceb66e'], manifest_folders: [] } };

  assert.equal(classOf('3e3a37a06993c2a0134beb41c1ceb66e-odd.avro', plan, OLD_MS, 'metadata/'), 'protected');
  assert.equal(classOf('7d0c6b52-0f8e-4a36-9a0c-1e2f3a4b5c6d-m0.avro', plan, OLD_MS, 'metadata/'), 'candidate');
  assert.equal(classOf('snap-123-1-7d0c6b52-0f8e-4a36-9a0c-1e2f3a4b5c6d.avro', plan, OLD_MS, 'metadata/'), 'candidate');
});

test('everything under flink.manifests.location is protected (ET-03)', () => {
  const plan = { flink: { job_ids: [], manifest_folders: [{ bucket: 'b', prefix: 'wh/t/data/flink/' }] } };

  assert.equal(classOf('flink/anything.avro', plan), 'protected');
  assert.equal(classOf('flink-2/anything.avro', plan), 'candidate');
});

test('an unreferenced key is metadata in a metadata folder that no data folder holds', () => {
  const classifier = new FileClassifier(planOf(), 'b', 'wh/t/metadata/');
  const nested = planOf({ data_folders: [{ bucket: 'b', prefix: 'wh/t/' }] });

  assert.equal(classifier.groupOf('wh/t/metadata/x.avro', NOT_FOUND), 'metadata');
  assert.equal(classifier.groupOf('wh/t/data/x.parquet', NOT_FOUND), 'content');
  assert.equal(classifier.groupOf('wh/t/other/x', NOT_FOUND), 'content');
  assert.equal(new FileClassifier(nested, 'b', 'wh/t/').groupOf('wh/t/metadata/x.avro', NOT_FOUND), 'content');
});

test('empty objects that stand for folders are no files', () => {
  const object = (key: string, sizeBytes: number) => ({ key, sizeBytes, lastModifiedMs: OLD_MS, etag: '' });

  assert.equal(isFolderMarker(object('wh/t/data/', 0)), true);
  assert.equal(isFolderMarker(object('wh/t/data/a_$folder$', 0)), true);
  assert.equal(isFolderMarker(object('wh/t/data/a_$folder$', 1)), false);
  assert.equal(isFolderMarker(object('wh/t/data/empty.parquet', 0)), false);
});

test('an instant in the plan that cannot be read is an error, never a comparison that is false', () => {
  assert.throws(() => new FileClassifier(planOf({ cutoff: 'soon' }), 'b', 'wh/t/data/'), /no instant/);
});
