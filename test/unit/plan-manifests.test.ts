/** Manifest lists and what becomes of them: each manifest once, in order, over several invocations, gone or broken lists. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { keyRanges } from '#functions/plan/key-sample.ts';
import { packManifests, packShards } from '#functions/plan/scan-shards.ts';
import { RangeIndex } from '#shared/filter/key-ranges.ts';
import type { PlannedManifest } from '#shared/run/plan.ts';
import { storeFault } from '#test/support/memory-store.ts';
import { PlanWorld } from '#test/support/plan-world.ts';

const isList = (key: string): boolean => /\/snap-[^/]*\.avro$/.test(key);

test('every manifest of every snapshot is planned once, with the counts that its list promises', async () => {
  const world = new PlanWorld();
  const writer = await world.table({}, [{}, {}, {}]);
  await writer.branch('b1');
  await writer.append(1, { branch: 'b1' });
  await writer.stage(1);
  await writer.tag('t1', writer.snapshots[0]!.id);

  const { manifests, references, plan, state } = await world.plan();

  const expected = new Set(writer.snapshots.flatMap((snapshot) => snapshot.manifests.map(({ recorded }) => recorded)));
  assert.deepEqual(manifests.map(({ path }) => path).sort(), [...expected].sort());
  assert.equal(plan.scan.manifests, expected.size);
  assert.ok(manifests.every(({ entries, length, kind }) => entries! > 0 && length! > 0 && kind === 'pinned'));
  const named = new Set(references.map(({ path }) => path));
  for (const path of [...expected, ...writer.snapshots.map(({ list }) => list!.recorded)])
    assert.ok(named.has(path), path);
  assert.equal(state.outcome, 'PLANNED');
});

test('v1 snapshots that name their manifests inline are planned like the others', async () => {
  const world = new PlanWorld();
  const writer = await world.table({ formatVersion: 1, inlineManifests: true });
  const { manifests } = await world.plan();
  assert.equal(
    manifests.length,
    new Set(writer.snapshots.flatMap((each) => each.manifests.map(({ key }) => key))).size,
  );
});

test('a table without snapshots still has its metadata files to protect', async () => {
  const world = new PlanWorld();
  const writer = await world.table({}, []);
  const { manifests, references, scanItems, listItems, buildItems } = await world.plan();
  assert.equal(manifests.length, 0);
  assert.ok(references.some(({ path }) => path === writer.metadataFile!.recorded));
  assert.deepEqual([scanItems.length, buildItems.length], [1, 1]);
  assert.equal(listItems.length, 2);
});

test('a plan that runs short of time goes on where it stood, and comes to the same plan', async () => {
  const build = async (remainingMs: () => number) => {
    const world = new PlanWorld();
    await world.table(
      {},
      Array.from({ length: 150 }, () => ({})),
    );
    world.remainingMs = remainingMs;
    let calls = 0;
    const lists = new Map<string, number>();
    world.onTableCall = ({ operation, key }) => {
      if (operation === 'get' && isList(key)) lists.set(key, (lists.get(key) ?? 0) + 1);
      calls += 1;
    };
    return { result: await world.plan(), lists, calls };
  };
  let looks = 0;
  const whole = await build(() => 900_000);
  const cut = await build(() => (looks++ % 2 === 0 ? 900_000 : 100));

  assert.deepEqual(cut.result.plan, whole.result.plan);
  assert.deepEqual(cut.result.manifests, whole.result.manifests);
  assert.equal(cut.lists.size, 150);
  // What was fetched ahead when time ran short is fetched again, and counted once.
  assert.ok([...cut.lists.values()].every((reads) => reads <= 2));
  assert.ok(cut.calls > whole.calls);
  assert.ok(looks >= 3);
});

test('a call that has read the last list hands the rest on, unless half of its time is left', async () => {
  const world = new PlanWorld();
  await world.table({}, [{}, {}, {}]);
  const first = await world.plan({}, 'whole');
  let looks = 0;
  world.remainingMs = () => (looks++ === 0 ? 900_000 : 400_000);
  const calls = world.calls.length;
  const second = await world.plan({}, 'parts');

  const lists = world.calls.slice(calls).filter(({ operation, key }) => operation === 'get' && isList(key));
  assert.equal(lists.length, 3, 'each list is read once');
  assert.equal(world.store.keys('work').filter((key) => key.includes('/parts/plan/progress-')).length, 1);
  assert.deepEqual(second.manifests, first.manifests);
  assert.deepEqual(second.listItems, first.listItems);
});

test('lists are fetched ahead, taken in order, and one at a time where time is short', async () => {
  const world = new PlanWorld();
  await world.table({}, [{}, {}, {}]);
  let short = false;
  world.remainingMs = () => (short ? 1 : 900_000);
  world.onTableCall = ({ operation, key }) => {
    short ||= operation === 'get' && isList(key);
  };
  const { state, manifests } = await world.plan();

  assert.equal(state.outcome, 'PLANNED');
  assert.equal(manifests.length, 3);
  // After each of the first two lists, and before the work of planning itself.
  assert.ok(world.store.keys('work').filter((key) => key.includes('/plan/progress-')).length >= 1);
});

test('a repeated call after the end answers the first answer and plans nothing', async () => {
  const world = new PlanWorld();
  const writer = await world.table();
  const first = await world.run();
  await writer.append(1);
  world.calls.length = 0;
  assert.deepEqual(await world.run(), first);
  assert.deepEqual(world.calls, []);
});

test('a worker that is killed while it writes the plan is repeated to the same plan', async () => {
  const world = new PlanWorld();
  await world.table();
  let puts = 0;
  const options = world.store.options;
  world.store.options = {
    ...options,
    onCall: async (call) => {
      if (call.operation === 'put' && call.phase === 'after' && puts++ === 3) throw storeFault('Unavailable');
      await options.onCall?.(call);
    },
  };
  await assert.rejects(world.run());
  const { plan } = await world.plan();
  assert.equal(plan.run_id, 'run-1');
});

test('two attempts that see different tables are not mixed into one plan', async () => {
  const world = new PlanWorld();
  const writer = await world.table();
  const options = world.store.options;
  world.store.options = {
    ...options,
    onCall: async (call) => {
      if (call.key.endsWith('plan/receipt.json') && call.operation === 'put') throw storeFault('Unavailable');
      await options.onCall?.(call);
    },
  };
  await assert.rejects(world.run());
  world.store.options = options;
  await writer.append(1);
  await assert.rejects(world.run(), { name: 'TableChangedError' });
});

test('CO-08 a list that is gone because its snapshot expired meanwhile is skipped and counted', async () => {
  const world = new PlanWorld();
  const writer = await world.table({ names: 'hadoop' }, [{}, {}, {}]);
  const gone = writer.snapshots[0]!.list!;
  let expired = false;
  world.onTableCall = async ({ operation, key }) => {
    if (operation !== 'get' || key !== gone.key || expired) return;
    expired = true;
    await writer.expire(1);
    await world.store.bucket('b').delete(gone.key, {});
  };
  const { plan } = await world.plan();
  assert.deepEqual(plan.skipped_manifests, [gone.recorded]);
});

test('CO-08 one that current metadata still names is not, though the table moved on', async () => {
  const world = new PlanWorld();
  const writer = await world.table({ names: 'hadoop' });
  const gone = writer.snapshots[0]!.list!;
  let moved = false;
  world.onTableCall = async ({ operation, key }) => {
    if (operation !== 'get' || key !== gone.key || moved) return;
    moved = true;
    await writer.append(1);
    await world.store.bucket('b').delete(gone.key, {});
  };
  await assert.rejects(world.run(), { name: 'TableChangedError' });
});

test('DR-19 a list that is gone from a table at rest ends the run', async () => {
  const world = new PlanWorld();
  const writer = await world.table();
  await world.store.bucket('b').delete(writer.snapshots[0]!.list!.key, {});
  await assert.rejects(world.run(), { name: 'MetadataUnreadableError', message: /does not exist/ });
});

test('DR-22 a list that cannot be read to its end ends the run', async () => {
  const world = new PlanWorld();
  const writer = await world.table();
  const list = writer.snapshots[0]!.list!;
  const bytes = await world.store.bucket('b').read(list.key, 0, 1 << 20);
  world.seed(list.key, bytes.subarray(0, bytes.length - 20));
  await assert.rejects(world.run(), { name: 'MetadataUnreadableError' });
});

test('DR-21 a denied list ends the run as denied', async () => {
  const world = new PlanWorld();
  await world.table();
  world.onTableCall = ({ operation, key }) => {
    if (operation === 'get' && isList(key)) throw storeFault('AccessDenied');
  };
  await assert.rejects(world.run(), { name: 'AccessDeniedError' });
});

test('a pinned file that vanished is unreadable, and no other is taken for it', async () => {
  const world = new PlanWorld();
  const writer = await world.table();
  const pinned = writer.metadataFile!;
  world.onTableCall = ({ operation, key }) => {
    if (operation === 'get' && key === pinned.key) throw storeFault('NotFound');
  };
  await assert.rejects(world.run(), { name: 'MetadataUnreadableError', message: /current metadata file/ });
});

function manifest(index: number, entries: number, length = entries * 100): PlannedManifest {
  return { path: `s3://b/m${index}`, bucket: 'b', key: `m${index}`, content: 'data', entries, length, kind: 'pinned' };
}

test('tiny manifests are packed together and large lists split, each manifest once and in order', () => {
  const many = Array.from({ length: 12_000 }, (_, index) => manifest(index, index % 3 === 0 ? 300_000 : 10));
  const shards = packManifests(many);
  assert.deepEqual(shards.flat(), many);
  for (const shard of shards) {
    const entries = shard.reduce((total, { entries: each }) => total + each!, 0);
    assert.ok(entries <= 1_000_000 || shard.length === 1);
  }
  assert.ok(packManifests(Array.from({ length: 100 }, (_, index) => manifest(index, 10))).length === 1);
  assert.equal(packManifests([manifest(1, 5_000_000), manifest(2, 5_000_000)]).length, 2);
});

test('direct references are spread over the shards, each once', () => {
  const references = Array.from({ length: 450_000 }, (_, index) => ({ path: `p${index}`, kind: 'manifest' as const }));
  const shards = packShards([manifest(1, 10)], references);
  assert.equal(shards.length, 3);
  assert.equal(shards.flatMap((shard) => shard.references).length, 450_000);
});

test('key ranges cover everything once: one up to 10 million entries, then of 4 million each', () => {
  const sample = Array.from(
    { length: 5000 },
    (_, index) => `wh/t/data/${String(index * 7919).padStart(9, '0')}.parquet`,
  );
  assert.equal(keyRanges(sample, 10_000_000).length, 1);
  const ranges = keyRanges(sample, 40_000_000);
  assert.equal(ranges.length, 10);
  const index = new RangeIndex(ranges);
  const counts = new Array<number>(10).fill(0);
  for (const key of sample) counts[index.find(Buffer.from(key))]! += 1;
  assert.ok(
    counts.every((count) => Math.abs(count - 500) <= 1),
    counts.join(),
  );
  assert.equal(keyRanges(['same', 'same'], 40_000_000).length <= 2, true);
  assert.equal(keyRanges([], 40_000_000).length, 1);
});
