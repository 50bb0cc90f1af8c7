/** Tables without a catalog: which file is current, and the cheap look for a newer one. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { createCatalog, pointerLocations, samePointer } from '#shared/catalog/catalog.ts';
import { parseDeployment } from '#shared/run/deployment.ts';
import { resolveInput } from '#shared/run/input.ts';
import { PlanWorld, T0_MS } from '#test/support/plan-world.ts';

function catalogOf(world: PlanWorld, input: object = {}) {
  const resolved = resolveInput({ table: 's3://b/wh/t', ...input }, parseDeployment(), new Date(T0_MS));
  return createCatalog(resolved, world.ports);
}

for (const names of ['hadoop', 'catalog'] as const) {
  test(`CA-01 ${names} names: each look finds the commits since the last, and asks by name only`, async () => {
    const world = new PlanWorld();
    const writer = await world.table({ names });
    const catalog = catalogOf(world);
    const first = await catalog.currentMetadata();
    assert.equal(first.metadata_location, writer.metadataFile!.recorded);

    world.calls.length = 0;
    assert.equal(await catalog.reread(first), first);
    assert.ok(
      world.tableCalls.every((call) => !call.endsWith('metadata/')),
      world.tableCalls.join(),
    );

    await writer.append(1);
    await writer.append(1);
    await writer.append(1);
    const second = await catalog.reread(first);
    assert.equal(second.metadata_location, writer.metadataFile!.recorded);
    assert.equal(samePointer(first, second), false);
    assert.equal(
      await catalog.reread(JSON.parse(JSON.stringify(second))).then((next) => samePointer(next, second)),
      true,
    );
  });
}

test('a commit in another gzip spelling, or in the other name form, is found by name too', async () => {
  const world = new PlanWorld();
  const writer = await world.table({ names: 'hadoop' });
  const catalog = catalogOf(world);
  const first = await catalog.currentMetadata();
  const bytes = await world.store.bucket('b').read(writer.metadataFile!.key, 0, 1 << 20);
  for (const name of ['v4.metadata.json.gz', '00005-0b2b1c3e-0000-4000-8000-000000000001.gz.metadata.json']) {
    world.seed(`wh/t/metadata/${name}`, bytes);
    const now = await catalog.reread(first);
    assert.equal(now.metadata_location, `s3://b/wh/t/metadata/${name}`);
  }
});

test('another file of the same version that appears later is a further root', async () => {
  const world = new PlanWorld();
  const writer = await world.table({ names: 'hadoop' });
  const catalog = catalogOf(world);
  const first = await catalog.currentMetadata();
  const { key } = writer.metadataFile!;
  const bytes = await world.store.bucket('b').read(key, 0, 1 << 20);
  world.seed(key.replace('.metadata.json', '.gz.metadata.json'), bytes);
  const now = await catalog.reread(first);
  assert.equal(pointerLocations(now).length, 2);
});

test('where the last file seen is gone the folder is listed again', async () => {
  const world = new PlanWorld();
  const writer = await world.table({ names: 'hadoop' });
  const catalog = catalogOf(world);
  const first = await catalog.currentMetadata();
  for (let commit = 0; commit < 5; commit += 1) await writer.append(1);
  const old = world.store.keys('b').filter((key) => /\/v[0-9]/.test(key) && key !== writer.metadataFile!.key);
  for (const key of old) await world.store.bucket('b').delete(key, {});
  world.calls.length = 0;
  const now = await catalog.reread(first);
  assert.equal(now.metadata_location, writer.metadataFile!.recorded);
  assert.ok(world.tableCalls.includes('list wh/t/metadata/'));
});

test('by request the largest last-updated-ms is current, and files of higher versions are further roots', async () => {
  const world = new PlanWorld();
  const writer = await world.table({ names: 'hadoop' });
  const { key, recorded } = writer.metadataFile!;
  const text = (await world.store.bucket('b').read(key, 0, 1 << 20)).toString();
  world.seed(
    'wh/t/metadata/v9.metadata.json',
    Buffer.from(text.replace(/"last-updated-ms": ?\d+/, '"last-updated-ms":1')),
  );
  const byTime = await catalogOf(world, { metadata_choice: 'last_updated' }).currentMetadata();
  assert.equal(byTime.metadata_location, recorded);
  assert.deepEqual(byTime.further, ['s3://b/wh/t/metadata/v9.metadata.json']);
  const byVersion = await catalogOf(world).currentMetadata();
  assert.equal(byVersion.metadata_location, 's3://b/wh/t/metadata/v9.metadata.json');
});

test('CH-17 an explicit file is taken, and later ones beside it are further roots, at each look', async () => {
  const world = new PlanWorld();
  const writer = await world.table();
  const pinned = writer.metadataFile!.recorded;
  const catalog = catalogOf(world, { metadata_location: pinned });
  const first = await catalog.currentMetadata();
  assert.deepEqual(pointerLocations(first), [pinned]);
  assert.equal(await catalog.reread(first), first);
  await writer.append(1);
  const second = await catalog.reread(first);
  assert.deepEqual(pointerLocations(second), [pinned, writer.metadataFile!.recorded]);
  assert.equal(await catalog.reread(second), second);
});

test('CH-21 an explicit file of any name is taken; what is written later counts', async () => {
  const world = new PlanWorld();
  const writer = await world.table();
  const bytes = await world.store.bucket('b').read(writer.metadataFile!.key, 0, 1 << 20);
  world.seed('wh/t/metadata/final.metadata.json', bytes, T0_MS);
  const catalog = catalogOf(world, { metadata_location: 's3a://b/wh/t/metadata/final.metadata.json' });
  const first = await catalog.currentMetadata();
  assert.deepEqual(first.further, []);
  world.writeAt(T0_MS + 1);
  await writer.append(1);
  assert.deepEqual((await catalog.reread(first)).further, [writer.metadataFile!.recorded]);
});

test('a location in a bucket that is not there is not found', async () => {
  const world = new PlanWorld();
  world.withoutBucket('gone');
  await assert.rejects(catalogOf(world, { table: 's3://gone/t' }).currentMetadata(), {
    name: 'TableNotFoundError',
    message: /bucket gone does not exist/,
  });
});

test('an explicit file that is not there is not found', async () => {
  const world = new PlanWorld();
  await assert.rejects(catalogOf(world, { metadata_location: 's3://b/x/v1.metadata.json' }).currentMetadata(), {
    name: 'TableNotFoundError',
  });
});

test('an alias says where the recorded location lies', async () => {
  const world = new PlanWorld();
  await world.table({ location: 'hdfs://nn:8020/wh/t', place: { bucket: 'b', prefix: 'copy/t' }, names: 'hadoop' });
  const input = { table: 'hdfs://nn:8020/wh/t', path_aliases: { 'hdfs://nn:8020/wh': 's3://b/copy' } };
  const { plan, manifests } = await world.plan(input);
  assert.equal(plan.pin.key, 'copy/t/metadata/v3.metadata.json');
  assert.equal(plan.pin.metadata_location, 'hdfs://nn:8020/wh/t/metadata/v3.metadata.json');
  assert.deepEqual(
    plan.roots.map(({ prefix }) => prefix),
    ['copy/t/data/', 'copy/t/metadata/'],
  );
  assert.ok(manifests.every(({ bucket, key }) => bucket === 'b' && key.startsWith('copy/t/metadata/')));
});
