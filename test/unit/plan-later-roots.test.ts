/** What the plan makes reachable beside the pinned file, and which pin it chooses. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { DAY_MS, OLD_MS, PlanWorld, T0_MS } from '#test/support/plan-world.ts';
import { TableWriter } from '#test/support/table-writer.ts';

const named = (keys: Iterable<string>): string[] => [...keys].map((key) => `s3://b/${key}`).sort();

/** The pinned table as it stands, then one more commit that the pin does not know of. */
async function laterCommit(options: { hadoop?: boolean; atMs?: number } = {}) {
  const world = new PlanWorld();
  const writer = await world.table({ names: options.hadoop ? 'hadoop' : 'catalog' });
  const pinned = writer.metadataFile!;
  world.writeAt(options.atMs ?? T0_MS - 1000);
  const [added] = await writer.append(1);
  return { world, writer, pinned, later: writer.metadataFile!, added: added! };
}

test('CO-07 a metadata file of a higher version than the pinned one is a root, whatever its age', async () => {
  const { world, pinned, later } = await laterCommit({ atMs: OLD_MS });
  const { plan, references, manifests } = await world.plan({ metadata_location: pinned.recorded });

  assert.deepEqual(plan.metadata_roots, [pinned.recorded, later.recorded]);
  assert.ok(references.some(({ path }) => path === later.recorded));
  assert.ok(manifests.some(({ kind }) => kind === 'later_root'));
});

test('CO-07 one of another name form counts if it was written after the pinned one', async () => {
  const world = new PlanWorld();
  const writer = await world.table({ names: 'hadoop' });
  const pinned = writer.metadataFile!;
  const body = world.store.bucket('b');
  const bytes = await body.read(pinned.key, 0, 1 << 20);
  world.seed('wh/t/metadata/00001-0b2b1c3e-0000-4000-8000-000000000001.metadata.json', bytes, OLD_MS + 1);
  world.seed('wh/t/metadata/00001-0b2b1c3e-0000-4000-8000-000000000002.metadata.json', bytes, OLD_MS - 1);

  const { plan } = await world.plan({ metadata_location: pinned.recorded });

  assert.equal(plan.metadata_roots.length, 2);
  assert.match(plan.metadata_roots[1]!, /000001\.metadata/);
});

test('CO-07 one that was written after, but whose last update is long before, is no root', async () => {
  const world = new PlanWorld();
  const early = await new TableWriter(world.sink, { location: 's3://b/wh/t', startMs: OLD_MS - 30 * DAY_MS }).create();
  await early.append(1);
  const old = early.metadataFile!;
  const bytes = await world.store.bucket('b').read(old.key, 0, 1 << 20);
  early.nowMs = OLD_MS;
  await early.append(1);
  world.seed('wh/t/metadata/restored.metadata.json', bytes, OLD_MS + 5);

  const { plan } = await world.plan();

  assert.deepEqual(plan.metadata_roots, [early.metadataFile!.recorded]);
});

test('a list that only a later root names and that is gone is skipped and counted', async () => {
  const { world, writer, pinned } = await laterCommit();
  const list = writer.snapshots.at(-1)!.list!;
  await world.store.bucket('b').delete(list.key, {});

  const { plan } = await world.plan({ metadata_location: pinned.recorded });

  assert.deepEqual(plan.skipped_manifests, [list.recorded]);
});

test('more than a hundred later roots are a conflict that names the newest', async () => {
  const { world, pinned, later } = await laterCommit();
  const bytes = await world.store.bucket('b').read(later.key, 0, 1 << 20);
  for (let i = 0; i < 101; i += 1) {
    const version = String(10 + i).padStart(5, '0');
    world.seed(`wh/t/metadata/${version}-00000000-0000-4000-8000-000000000000.metadata.json`, bytes, OLD_MS + i);
  }
  await assert.rejects(world.run({ metadata_location: pinned.recorded }), {
    name: 'LocationConflictError',
    message: /More than 100 metadata files/,
  });
});

test('CA-01 CH-19 a stale hint does not choose the pin', async () => {
  const world = new PlanWorld();
  const writer = await world.table({ names: 'hadoop' });
  world.seed('wh/t/metadata/version-hint.text', Buffer.from('1'));
  const { plan } = await world.plan();
  assert.equal(plan.pin.metadata_location, writer.metadataFile?.recorded);
});

test('CA-01 a hint ahead of every file says that the current one is lost', async () => {
  const world = new PlanWorld();
  await world.table({ names: 'hadoop' });
  world.seed('wh/t/metadata/version-hint.text', Buffer.from('99\n'));
  await assert.rejects(world.run(), { name: 'MetadataUnreadableError', message: /99/ });
});

test('CA-03 CH-18 the hint is protected, with and without a final slash of the location', async () => {
  for (const location of ['s3://b/wh/t', 's3://b/wh/t/']) {
    const world = new PlanWorld();
    await world.table({ location });
    const { references } = await world.plan();
    const hints = references.filter(({ kind }) => kind === 'version_hint').map(({ path }) => path);
    assert.ok(hints.includes('s3://b/wh/t/metadata/version-hint.text'), location);
  }
});

test('equal versions: the later update is pinned, the other is a root too', async () => {
  const world = new PlanWorld();
  const writer = await world.table({ names: 'hadoop' });
  const pinned = writer.metadataFile!;
  const bytes = await world.store.bucket('b').read(pinned.key, 0, 1 << 20);
  const text = bytes.toString().replace(/"last-updated-ms": ?\d+/, '"last-updated-ms":1');
  const twin = pinned.key.replace('.metadata.json', '.gz.metadata.json');
  world.seed(twin, Buffer.from(text));

  const { plan } = await world.plan();

  assert.deepEqual(plan.metadata_roots, [pinned.recorded, `s3://b/${twin}`]);
  assert.deepEqual(plan.pointer.further, [`s3://b/${twin}`]);
});

test('CA-05 entries of the log that are gone do no harm, those that exist are protected', async () => {
  const world = new PlanWorld();
  await world.table();
  const files = world.store.keys('b').filter((key) => key.endsWith('.metadata.json'));
  await world.store.bucket('b').delete(files[0]!, {});
  const { references } = await world.plan();
  const protectedFiles = new Set(references.map(({ path }) => path));
  for (const file of named(files)) assert.ok(protectedFiles.has(file), file);
});

test('ET-01 ET-06 pending Flink manifests are kept and read, whoever their job', async () => {
  const world = new PlanWorld();
  const writer = await world.table();
  const { manifest } = await writer.pendingFlinkManifest();
  const elsewhere = await writer.pendingFlinkManifest({ name: 'anything.avro', folder: 'flink-manifests' });
  await writer.setProperties({ 'flink.manifests.location': 's3://b/wh/t/flink-manifests' });

  const { plan, manifests, references } = await world.plan();

  const pending = manifests.filter(({ kind }) => kind === 'pending').map(({ path }) => path);
  assert.deepEqual(pending.sort(), named([elsewhere.manifest.key, manifest.key]));
  assert.deepEqual(plan.pending_manifests, { kept: 2, read: 2, skipped: 0 });
  assert.deepEqual(plan.flink.manifest_folders, [{ bucket: 'b', prefix: 'wh/t/flink-manifests/' }]);
  assert.equal(references.filter(({ kind }) => kind === 'pending_manifest').length, 2);
});

test('pending manifests lose their protection by age only on request', async () => {
  const world = new PlanWorld();
  const writer = await world.table();
  await writer.pendingFlinkManifest();
  const { plan } = await world.plan({}, 'run-1');
  assert.equal(plan.pending_manifests.kept, 1);
  const input = { table: 's3://b/wh/t', pending_manifest_horizon: '10d' };
  world.deployment = { ...world.deployment, local: true };
  assert.equal((await world.plan(input, 'run-2')).plan.pending_manifests.kept, 0);
});

test('the writer time is that of the newest snapshot that added data, less a day', async () => {
  const world = new PlanWorld();
  const writer = await world.table();
  const added = writer.snapshots.at(-1)!.timestampMs;
  await writer.rewrite();
  const { plan } = await world.plan();
  assert.equal(plan.writer_time, new Date(added - DAY_MS).toISOString());
});

test('without such a snapshot it is that of the oldest, and null without any', async () => {
  const world = new PlanWorld();
  const writer = await world.table();
  await writer.rewrite();
  await writer.rewrite();
  await writer.expire(2);
  const { plan } = await world.plan({}, 'run-1');
  assert.equal(plan.writer_time, new Date(writer.snapshots[0]!.timestampMs - DAY_MS).toISOString());

  const empty = new PlanWorld();
  await empty.table({}, []);
  assert.equal((await empty.plan()).plan.writer_time, null);
});

test('a metadata folder that takes longer than a call ends the run by name', async () => {
  const world = new PlanWorld();
  await world.table();
  for (let index = 0; index < 2500; index += 1) world.seed(`wh/t/metadata/${index}-m0.avro`);
  let late = false;
  world.remainingMs = () => (late ? 1000 : 900_000);
  world.onTableCall = ({ operation, key }) => {
    // The catalog looks for the newest file in the same folder, before anything else of the table is listed.
    late ||= operation === 'list' && key === 'wh/t/metadata/' && world.tableCalls.includes('list wh/t/');
  };
  await assert.rejects(world.run(), {
    name: 'ListingIncompleteError',
    message: /too many files for one call: 1 pages/,
  });
});
