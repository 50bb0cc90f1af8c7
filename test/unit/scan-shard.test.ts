import assert from 'node:assert/strict';
import test from 'node:test';
import { scanShard } from '#functions/scan/scan-shard.ts';
import {
  AccessDeniedError,
  LeaseLostError,
  MetadataUnreadableError,
  MisconfiguredError,
  ScanIncompleteError,
  TableChangedError,
} from '#shared/errors.ts';
import { artefact } from '#shared/run/artefacts.ts';
import type { PlannedManifest } from '#shared/run/plan.ts';
import type { ScanReceipt } from '#shared/run/receipts.ts';
import { MarkWorld, type MarkWorldOptions, OLD_MS, untilDone } from '../support/mark-world.ts';
import { storeFault } from '../support/memory-store.ts';
import { plannedManifest, type StatEntry, statManifest } from '../support/stat-manifest.ts';
import { TableWriter } from '../support/table-writer.ts';

const KEY = 'wh/t/metadata/m-m0.avro';

function entriesOf(count: number, prefix = 's3://b/wh/t/data/'): StatEntry[] {
  return Array.from({ length: count }, (_, index) => ({ path: `${prefix}${index}.parquet` }));
}

async function worldOf(
  entries: readonly StatEntry[],
  manifest: Partial<PlannedManifest> = {},
  options: MarkWorldOptions = {},
) {
  const world = await MarkWorld.open({ manifests: [[{ ...plannedManifest(KEY), ...manifest }]], ...options });
  world.seed(KEY, OLD_MS, statManifest(entries, { columns: 2 }));
  return world;
}

function groupsOf(receipt: ScanReceipt): Record<string, number> {
  const groups: Record<string, number> = {};
  for (const { group, entries } of receipt.sections) groups[group] = (groups[group] ?? 0) + entries;
  return groups;
}

test('every entry is counted by status and content, and only live ones protect', async () => {
  const world = await worldOf([
    { path: 's3://b/wh/t/data/a', status: 1 },
    { path: 's3://b/wh/t/data/b', status: 0 },
    { path: 's3://b/wh/t/data/odd-status', status: 7 },
    { path: 's3://b/wh/t/data/p', content: 1 },
    { path: 's3://b/wh/t/data/e', content: 2 },
    { path: 's3://b/wh/t/data/gone', status: 2 },
    { path: 's3://elsewhere/x/y', status: 1 },
  ]);

  const receipt = await world.scan();

  assert.deepEqual(receipt.entries, { live_data: 4, live_position_deletes: 1, live_equality_deletes: 1, deleted: 1 });
  assert.deepEqual(groupsOf(receipt), { content_covered: 5, content_outside: 1, deleted_entry: 1 });
  assert.deepEqual([receipt.manifests_planned, receipt.manifests_read, receipt.fingerprints], [1, 1, 7]);
});

test('a referenced data file is protected and does not count for coverage', async () => {
  const world = await worldOf([
    { path: 's3://b/wh/t/data/dv.puffin', content: 1, referencedDataFile: 's3://b/wh/t/data/target' },
  ]);

  assert.deepEqual(groupsOf(await world.scan()), { content_covered: 1, content_inside: 1 });
  world.seed('wh/t/data/target');
  assert.deepEqual(await world.sweep(), [KEY]);
});

test('files of later roots and pending manifests are protected and do not count for coverage', async () => {
  for (const kind of ['later_root', 'pending'] as const) {
    const world = await worldOf(entriesOf(3), { kind });
    assert.deepEqual(groupsOf(await world.scan()), { content_inside: 3 }, kind);
  }
});

test('an alias protects the recorded and the mapped key and counts the mapped one', async () => {
  const identity = {
    equalSchemes: { s3a: 's3', s3n: 's3' },
    equalAuthorities: {},
    pathAliases: [{ from: 'hdfs://nn/old', to: 's3://b/wh/t' }],
    tableLocation: 'hdfs://nn/old',
    ignoreCase: false,
  };
  const world = await worldOf([{ path: 'hdfs://nn/old/data/x' }], {}, { plan: { identity } });

  assert.deepEqual(groupsOf(await world.scan()), { content_covered: 1, content_alias: 1 });
  world.seed('wh/t/data/x');
  world.seed('wh/t/data/dead');
  assert.deepEqual(await world.sweep(), ['wh/t/data/dead', KEY]);
});

test('faults of references are tallied with their evidence and a few paths', async () => {
  const world = await worldOf([
    ...entriesOf(7, 's3://other/wh/t/data/'),
    { path: 'abfs://b/wh/t/data/x' },
    { path: 's3://b/wh/t/data/../x' },
    { path: 'data/x' },
  ]);

  const { faults } = await world.scan();

  const counts = Object.fromEntries(faults.map(({ fault, count }) => [fault, count]));
  assert.deepEqual(counts, { prefix_mismatch: 7, unknown_scheme: 1, dot_dot_segment: 1, stray_relative: 1 });
  const mismatch = faults.find(({ fault }) => fault === 'prefix_mismatch');
  assert.equal(mismatch?.evidence, 's3://other against s3://b');
  assert.equal(mismatch?.sample.length, 5);
});

test('a reference that only folds to a root tells of a spelling that nobody listed', async () => {
  const world = await worldOf([{ path: 's3://b/wh//t/data/x' }, { path: 's3://b/wh/t/data/y' }]);

  assert.deepEqual((await world.scan()).unlisted_spellings, ['s3://b/wh//t/data/']);
});

test('metadata-level references go into the metadata filter', async () => {
  const world = await worldOf(
    [],
    {},
    {
      references: [
        { path: 's3://b/wh/t/metadata/snap-1.avro', kind: 'manifest_list' },
        { path: 's3://b/old/metadata/v1.metadata.json', kind: 'metadata_file' },
      ],
    },
  );

  assert.deepEqual(groupsOf(await world.scan()), { metadata_inside: 1, metadata_outside: 1 });
});

test('a manifest with fewer entries than its list promises fails the run', async () => {
  const world = await worldOf(entriesOf(10), { entries: 11 });
  await assert.rejects(world.scan(), MetadataUnreadableError);
});

test('a manifest that is cut fails the run, and leaves no receipt', async () => {
  const world = await worldOf(entriesOf(10));
  const whole = statManifest(entriesOf(10));
  for (const length of [0, 3, whole.length - 1, whole.length - 20]) {
    world.seed(KEY, OLD_MS, whole.subarray(0, length));
    await assert.rejects(world.scan(), MetadataUnreadableError, String(length));
  }
  assert.equal(await world.artefacts.readJson(artefact.scanReceipt(0)), undefined);
});

test('optional manifests that are gone are skipped and counted', async () => {
  for (const kind of ['later_root', 'pending'] as const) {
    const world = await worldOf([], { kind, key: 'wh/t/metadata/gone.avro', path: 's3://b/wh/t/metadata/gone.avro' });
    const receipt = await world.scan();
    assert.deepEqual(receipt.manifests_skipped, ['s3://b/wh/t/metadata/gone.avro']);
    assert.equal(receipt.manifests_read, 0);
  }
});

test('a pending manifest that is no Avro file is kept and reported; one that is cut fails the run', async () => {
  const world = await worldOf([], { kind: 'pending' });
  world.seed(KEY, OLD_MS, Buffer.from('not avro'));
  const receipt = await world.scan();
  assert.deepEqual([receipt.pending_not_avro, receipt.manifests_read], [[`s3://b/${KEY}`], 0]);

  const broken = await worldOf([], { kind: 'pending' });
  broken.seed(KEY, OLD_MS, statManifest(entriesOf(10)).subarray(0, -30));
  await assert.rejects(broken.scan(), MetadataUnreadableError);
});

test('a denied or throttled manifest is never taken for an absent one', async () => {
  for (const [fault, expected] of [
    ['AccessDenied', AccessDeniedError],
    ['Throttled', Error],
    ['Unavailable', Error],
  ] as const) {
    const world = await worldOf([], { kind: 'pending' });
    world.store.options = {
      onCall: ({ key, phase }) => {
        if (key === KEY && phase === 'before') throw storeFault(fault);
      },
    };
    await assert.rejects(world.scan(), expected, fault);
  }
});

/** A table whose pointer moved after the pin: the first snapshot was expired or not. */
async function movedTable(expired: boolean): Promise<MarkWorld> {
  const world = await MarkWorld.open();
  const writer = new TableWriter(
    { put: (bucket, key, bytes) => world.store.seed(bucket, key, bytes, OLD_MS) },
    { location: 's3://b/wh/t' },
  );
  await writer.create();
  await writer.append(2);
  const first = writer.snapshots[0]?.manifests[0]?.key as string;
  const pinned = writer.metadataFile?.recorded as string;
  await writer.overwrite(1);
  if (expired) await writer.expire(1);
  const moved = await MarkWorld.open({
    tables: world.store,
    manifests: [[{ ...plannedManifest(first) }]],
    plan: {
      input: { table: 's3://b/wh/t' },
      pin: { ...world.plan.pin, metadata_location: pinned },
      pointer: { metadata_location: pinned, further: [], claims: { gc_enabled: [] } },
    },
  });
  await world.store.deleteObject('b', first);
  return moved;
}

test('a pinned manifest that expired meanwhile is skipped and counted (CO-08)', async () => {
  const world = await movedTable(true);
  const receipt = await world.scan();
  assert.equal(receipt.manifests_skipped.length, 1);
  assert.equal(receipt.manifests_read, 0);
});

test('a pinned manifest that is gone and still named ends the run, as a changed table when the pointer moved', async () => {
  await assert.rejects((await movedTable(false)).scan(), TableChangedError);
});

test('a manifest is fetched once, and its files are counted once (RE-17, SM-03)', async () => {
  const world = await worldOf(entriesOf(10));
  let fetched = 0;
  world.store.options = {
    onCall: ({ key, phase }) => void (key === KEY && phase === 'before' && fetched++),
  };
  assert.equal((await world.scan()).requests.get, 1);
  assert.equal(fetched, 1);
  assert.equal((await world.build()).distinct.content, 10);
});

test('a manifest that cannot be read any more ends the run as a changed table when the pointer moved', async () => {
  const world = await movedTable(false);
  const { manifests } = (await world.artefacts.readJson<{ manifests: PlannedManifest[] }>(artefact.scanShard(0)))!;
  await world.ports.tables.put('b', manifests[0]!.key, Buffer.from('Obj\x01'));

  await assert.rejects(world.scan(), TableChangedError);
});

/** Twenty manifests of 50 entries in one shard. */
async function manyManifests(): Promise<MarkWorld> {
  const manifests = Array.from({ length: 20 }, (_, index) => plannedManifest(`wh/t/metadata/m-${index}.avro`, 50));
  const world = await MarkWorld.open({ manifests: [manifests] });
  manifests.forEach(({ key }, index) => {
    world.seed(key, OLD_MS, statManifest(entriesOf(50, `s3://b/wh/t/data/${index}/`)));
  });
  return world;
}

test('a worker that runs short of time goes on where it was, and every entry is counted once', async () => {
  const world = await manyManifests();
  let left = 100_000;
  world.remainingMs = () => {
    left -= 11_000;
    return left;
  };
  const steps = await untilDone((step) => {
    left = 100_000;
    return scanShard({ run: world.run, item: { shard: 0 }, step }, world.ports);
  });

  const receipt = (await world.artefacts.readJson<ScanReceipt>(artefact.scanReceipt(0))) as ScanReceipt;
  assert.ok(steps.length > 1);
  for (const step of steps) assert.ok(JSON.stringify(step).length < 500);
  assert.equal(receipt.fingerprints, 1000);
  assert.equal(receipt.manifests_read, 20);
  assert.equal((await world.build()).distinct.covered, 1000);
});

test('a worker that dies and is repeated changes nothing', async () => {
  const world = await manyManifests();
  let puts = 0;
  world.store.options = {
    onCall: ({ operation, phase }) => {
      // The fragment was written, its answer is lost: the receipt never came to be.
      if (operation === 'put' && phase === 'after' && ++puts === 1) throw storeFault('Unavailable');
    },
  };
  await assert.rejects(world.scan());

  const first = await world.scan();
  const again = await world.scan();

  assert.deepEqual(again, first);
  assert.equal((await world.build()).entries_merged, 1000);
});

test('a progress that is gone or of another plan fails the run', async () => {
  const world = await manyManifests();
  const step = { done: false, next: 'scan/0/progress-x.json', wait_seconds: 0 };
  await assert.rejects(scanShard({ run: world.run, item: { shard: 0 }, step }, world.ports), ScanIncompleteError);
  await world.artefacts.writeJson(step.next, { plan_hash: 'other' });
  await assert.rejects(scanShard({ run: world.run, item: { shard: 0 }, step }, world.ports), ScanIncompleteError);
});

test('a shard that is gone, a plan that is another, a lease that is lost: nothing is read', async () => {
  const world = await manyManifests();
  const step = { done: false, next: '', wait_seconds: 0 };
  const gets = () => world.store.requests.get;
  await assert.rejects(scanShard({ run: world.run, item: { shard: 9 }, step }, world.ports), ScanIncompleteError);
  const before = gets();
  const deleting = { ...world.run, deleting: true, fencing_token: 4 };
  await assert.rejects(scanShard({ run: deleting, item: { shard: 0 }, step }, world.ports), LeaseLostError);
  const other = { ...world.run, plan_hash: 'f'.repeat(64) };
  await assert.rejects(scanShard({ run: other, item: { shard: 0 }, step }, world.ports), MisconfiguredError);
  assert.ok(gets() - before <= 3);
});

test('SM-13 a scan shard of another run is not read in the place of the planned one', async () => {
  const other = [plannedManifest('wh/t/metadata/other-m0.avro')];
  const world = await MarkWorld.open({ manifests: [[plannedManifest('wh/t/metadata/own-m0.avro')]] });
  await world.artefacts.writeJson(artefact.scanShard(0), { shard: 0, manifests: other });
  world.seed('wh/t/metadata/other-m0.avro', undefined, statManifest([]));

  await assert.rejects(world.scan(), ScanIncompleteError);
});

test('wide tables are read for their paths only (SM-15)', async () => {
  const entries = entriesOf(1000);
  const narrow = statManifest(entries, { columns: 0, codec: 'null' });
  const wide = statManifest(entries, { columns: 500, codec: 'null' });
  assert.ok(wide.length > narrow.length * 50);
  const world = await MarkWorld.open({ manifests: [[plannedManifest(KEY, 1000)]] });
  world.seed(KEY, OLD_MS, wide);
  const start = performance.now();

  assert.equal((await world.scan()).fingerprints, 1000);
  assert.ok(performance.now() - start < 3000);
});
