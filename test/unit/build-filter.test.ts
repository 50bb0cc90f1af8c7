import assert from 'node:assert/strict';
import test from 'node:test';
import { FilterMismatchError, MisconfiguredError, ScanIncompleteError } from '#shared/errors.ts';
import { fromBytes } from '#shared/filter/fingerprints.ts';
import { createKeyHasher } from '#shared/filter/key-hash.ts';
import { decodeFilterShard, type FilterShard } from '#shared/filter/shard-file.ts';
import { artefact } from '#shared/run/artefacts.ts';
import type { KeyRange } from '#shared/run/plan.ts';
import type { ScanReceipt } from '#shared/run/receipts.ts';
import { MarkWorld, OLD_MS } from '../support/mark-world.ts';
import { plannedManifest, type StatEntry, statManifest } from '../support/stat-manifest.ts';

const hex = (text: string) => Buffer.from(text).toString('hex');
const HALVES: readonly KeyRange[] = [
  { from: null, to: hex('wh/t/data/m') },
  { from: hex('wh/t/data/m'), to: null },
];

/** One scan shard per list of entries. */
async function worldOf(shards: readonly (readonly StatEntry[])[], ranges?: readonly KeyRange[]): Promise<MarkWorld> {
  const key = (index: number) => `wh/t/metadata/m-${index}.avro`;
  const world = await MarkWorld.open({
    manifests: shards.map((entries, index) => [plannedManifest(key(index), entries.length)]),
    references: [{ path: 's3://b/wh/t/metadata/snap-1.avro', kind: 'manifest_list' }],
    ...(ranges === undefined ? {} : { plan: { ranges } }),
  });
  shards.forEach((entries, index) => {
    world.seed(key(index), OLD_MS, statManifest(entries));
  });
  return world;
}

const file = (name: string, status = 1): StatEntry => ({ path: `s3://b/wh/t/data/${name}`, status });

test('references are counted distinct over all scan shards, exactly', async () => {
  const world = await worldOf([
    [file('a'), file('b'), { path: 's3://b/elsewhere/x' }],
    [file('b'), file('b'), file('c'), { path: 's3a://b/wh/t/data/c' }],
  ]);
  await world.scan(0);
  await world.scan(1);

  const receipt = await world.build();

  assert.equal(receipt.entries_merged, 8);
  assert.deepEqual(receipt.distinct, { content: 4, metadata: 1, covered: 3, outside: 1, named: 5, deleted_only: 0 });
  assert.deepEqual([receipt.filter.entries, receipt.coverage.entries], [5, 3]);
});

test('each range holds its own keys and nothing else', async () => {
  const world = await worldOf([[file('a'), file('l'), file('m'), file('z')]], HALVES);
  await world.scan();
  const receipts = [await world.build(0), await world.build(1)];
  const hasher = await createKeyHasher(world.plan.salt);
  const shards: FilterShard[] = [];
  for (const { filter } of receipts) {
    shards.push(decodeFilterShard((await world.artefacts.read(filter.name)) as Buffer, world.plan.salt, 's'));
  }

  const found = ['a', 'l', 'm', 'z'].map((name) =>
    shards.map((shard) => shard.hasContent(hasher.ofString(`wh/t/data/${name}`))),
  );
  assert.deepEqual(found, [
    [true, false],
    [true, false],
    [false, true],
    [false, true],
  ]);
  assert.deepEqual(
    receipts.map(({ distinct }) => distinct.content),
    [2, 2],
  );
});

test('the coverage file is sorted and distinct', async () => {
  const world = await worldOf([Array.from({ length: 500 }, (_, index) => file(String(index % 400)))]);
  await world.scan();

  const { coverage } = await world.build();

  const keys = [...fromBytes((await world.artefacts.read(coverage.name)) as Buffer)];
  assert.equal(keys.length, 400);
  assert.ok(keys.every((key, index) => index === 0 || key > (keys[index - 1] as bigint)));
});

test('paths that only DELETED entries name are counted and protect nothing', async () => {
  const world = await worldOf([
    [file('a', 2), file('b', 2), file('gone', 2)],
    [file('a', 0), file('gone', 2)],
  ]);
  world.seed('wh/t/data/gone');
  world.seed('wh/t/data/a');
  await world.scan(0);
  await world.scan(1);

  assert.equal((await world.build()).distinct.deleted_only, 2);
  const keys = (await world.candidates([await world.list()])).map(({ key }) => key);
  assert.deepEqual(keys, ['wh/t/data/gone']);
});

test('a scan shard without receipt, or with one of another plan, fails the run (SM-13)', async () => {
  const world = await worldOf([[file('a')], [file('b')]]);
  const first = await world.scan(0);
  await assert.rejects(world.build(), ScanIncompleteError);

  await world.artefacts.writeJson(artefact.scanReceipt(1), { ...first, shard: 1, plan_hash: 'other' });
  await assert.rejects(world.build(), ScanIncompleteError);
  await world.artefacts.writeJson(artefact.scanReceipt(1), first);
  await assert.rejects(world.build(), ScanIncompleteError, 'the receipt of shard 0 in the place of shard 1');
});

test('a fragment that is gone, empty, cut, altered or out of order fails the run', async () => {
  const spoil: Readonly<Record<string, (bytes: Buffer) => Buffer | null>> = {
    gone: () => null,
    empty: () => Buffer.alloc(0),
    cut: (bytes) => bytes.subarray(0, -8),
    altered: (bytes) => Buffer.concat([bytes.subarray(0, -1), Buffer.from([bytes.at(-1)! ^ 1])]),
  };
  for (const [how, change] of Object.entries(spoil)) {
    const world = await worldOf([[file('a'), file('b'), file('c')]]);
    const { objects } = await world.scan();
    const name = objects[0]!.name;
    const bytes = change((await world.artefacts.read(name)) as Buffer);
    if (bytes === null) await world.store.deleteObject('work', world.artefacts.absoluteKey(name));
    else await world.artefacts.write(name, bytes);
    await assert.rejects(world.build(), FilterMismatchError, how);
  }
});

test('a section read by range is checked for length, order and content', async () => {
  const many = Array.from({ length: 100 }, (_, index) => file(`a${index}`));
  const world = await worldOf([[...many, file('x'), file('y'), file('z')]], HALVES);
  const { objects } = await world.scan();
  const name = objects[0]!.name;
  const whole = (await world.artefacts.read(name)) as Buffer;

  await world.artefacts.write(name, whole.subarray(0, -8));
  await assert.rejects(world.build(1), FilterMismatchError, 'short');
  const swapped = Buffer.from(whole);
  whole.copy(swapped, whole.length - 16, whole.length - 8);
  whole.copy(swapped, whole.length - 8, whole.length - 16, whole.length - 8);
  await world.artefacts.write(name, swapped);
  await assert.rejects(world.build(1), FilterMismatchError, 'out of order');
  const altered = Buffer.from(whole);
  altered[whole.length - 20]! ^= 1;
  await world.artefacts.write(name, altered);
  await assert.rejects(world.build(1), FilterMismatchError, 'altered');
});

test('a receipt that contradicts its fragment fails the run', async () => {
  const changes: readonly ((receipt: ScanReceipt) => Partial<ScanReceipt>)[] = [
    ({ sections }) => ({ sections: sections.slice(1) }),
    ({ sections }) => ({ sections: sections.map((section) => ({ ...section, entries: section.entries - 1 })) }),
    ({ sections }) => ({ sections: sections.map((section) => ({ ...section, offset: section.offset + 8 })) }),
    ({ sections }) => ({ sections: [...sections].reverse() }),
  ];
  for (const change of changes) {
    const world = await worldOf([[file('a'), file('z'), { path: 's3://b/elsewhere/x' }]], HALVES);
    const receipt = await world.scan();
    await world.artefacts.writeJson(artefact.scanReceipt(0), { ...receipt, ...change(receipt) });
    await assert.rejects(world.build(), FilterMismatchError);
  }
});

test('a repeated worker answers with the receipt that is there, and two at once agree', async () => {
  const world = await worldOf([[file('a')]]);
  await world.scan();

  const [first, second] = await Promise.all([world.build(), world.build()]);

  assert.deepEqual(first, second);
  assert.deepEqual(await world.build(), first);
});

test('another plan under the run is refused', async () => {
  const world = await worldOf([[file('a')]]);
  await world.scan();
  await world.artefacts.writeJson(artefact.plan, { ...world.plan, salt: '0'.repeat(16) });

  await assert.rejects(world.build(), MisconfiguredError);
});
