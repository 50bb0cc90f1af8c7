import assert from 'node:assert/strict';
import test from 'node:test';
import { gzipSync } from 'node:zlib';
import { listShard } from '#functions/list/list-shard.ts';
import {
  FilterMismatchError,
  ListingIncompleteError,
  MisconfiguredError,
  UnsupportedTableError,
} from '#shared/errors.ts';
import { artefact } from '#shared/run/artefacts.ts';
import type { ListReceipt } from '#shared/run/receipts.ts';
import { StoreError } from '#shared/storage/object-store.ts';
import {
  DAY_MS,
  MarkWorld,
  type MarkWorldOptions,
  OLD_MS,
  T0_MS,
  TABLE_UUID,
  untilDone,
} from '../support/mark-world.ts';
import { storeFault } from '../support/memory-store.ts';
import { plannedManifest, statManifest } from '../support/stat-manifest.ts';

const MANIFEST = 'wh/t/metadata/m-m0.avro';

/** A world whose only manifest names these keys. */
async function worldOf(referenced: readonly string[], options: MarkWorldOptions = {}): Promise<MarkWorld> {
  const world = await MarkWorld.open({
    manifests: [[plannedManifest(MANIFEST, referenced.length)]],
    references: [{ path: `s3://b/${MANIFEST}`, kind: 'manifest' }],
    ...options,
  });
  const body = statManifest(referenced.map((key) => ({ path: `s3://b/${key}` })));
  world.seed(MANIFEST, OLD_MS, body);
  for (const key of referenced) world.seed(key);
  return world;
}

function filesOf(receipt: ListReceipt): number {
  return Object.values(receipt.classes).reduce((sum, { content, metadata }) => sum + content.files + metadata.files, 0);
}

test('finds dead files at the root, in hashed and in partition folders, each once (RE-16)', async () => {
  const dead = ['wh/t/data/a1b2/dead1.parquet', 'wh/t/data/dead0.parquet', 'wh/t/data/p=1/dead2.parquet'];
  const world = await worldOf(['wh/t/data/p=1/live.parquet']);
  for (const key of dead) world.seed(key);

  assert.deepEqual(await world.sweep(), dead);
});

test('a sibling with a common name prefix is never listed (FF-04)', async () => {
  const world = await worldOf(['wh/t/data/live.parquet']);
  world.seed('wh/t/data_archive/x.parquet');
  world.seed('wh/t_archive/data/x.parquet');

  assert.deepEqual(await world.sweep(), []);
});

test('a shard that lies under no root of the plan is refused', async () => {
  for (const prefix of ['wh/t/data', 'wh/', 'wh/t/']) {
    const world = await worldOf([], { list: [{ bucket: 'b', prefix, after: null, through: null }] });
    await world.mark();
    await assert.rejects(world.list(), ListingIncompleteError, prefix);
  }
});

test('counts every class, files and bytes, and the sums are those of the listing', async () => {
  const world = await worldOf(['wh/t/data/live.parquet'], {
    plan: { writer_time: new Date(T0_MS - 20 * DAY_MS).toISOString() },
  });
  world.seed('wh/t/data/', OLD_MS, 0);
  world.seed('wh/t/data/dead.parquet', OLD_MS, 7);
  world.seed('wh/t/data/new.parquet', T0_MS, 5);
  world.seed('wh/t/data/late.parquet', T0_MS - 10 * DAY_MS, 3);
  world.seed('wh/t/data/odd.parquet', 0, 2);
  world.seed('wh/t/data/_SUCCESS', OLD_MS, 0);
  await world.mark();

  const receipt = await world.list();

  assert.deepEqual(receipt.classes.candidate.content, { files: 1, bytes: 7 });
  assert.deepEqual(receipt.classes.young.content, { files: 1, bytes: 5 });
  assert.deepEqual(receipt.classes.waiting.content, { files: 1, bytes: 3 });
  assert.deepEqual(receipt.classes.undated.content, { files: 1, bytes: 2 });
  assert.deepEqual(receipt.classes.protected.content, { files: 1, bytes: 0 });
  assert.deepEqual(receipt.classes.referenced.content, { files: 1, bytes: 10 });
  assert.deepEqual(receipt.listed, { files: 6, bytes: 27 });
  assert.equal(receipt.folder_markers, 1);
  assert.equal(filesOf(receipt), receipt.listed.files);
});

test('candidates keep key, size, time, etag and kind, at most 1,000 a chunk', async () => {
  const world = await worldOf([]);
  for (let index = 0; index < 2500; index++) world.seed(`wh/t/data/p=${index % 3}/${index}.parquet`, OLD_MS + index);
  await world.mark();

  const receipt = await world.list();
  const lines = await world.candidates([receipt]);

  assert.deepEqual(
    receipt.chunks.map(({ entries }) => entries),
    [1000, 1000, 500],
  );
  assert.equal(
    receipt.chunks.reduce((sum, chunk) => sum + chunk.candidate_bytes, 0),
    25_000,
  );
  assert.equal(new Set(lines.map(({ key }) => key)).size, 2500);
  const line = lines.find(({ key }) => key === 'wh/t/data/p=1/7.parquet' || key === 'wh/t/data/p=1/1.parquet');
  assert.equal(line?.last_modified, new Date(OLD_MS + 1).toISOString());
  assert.equal(line?.etag.startsWith('"'), true);
  assert.deepEqual(Object.keys(receipt.candidate_prefixes).sort(), [
    'wh/t/data/p=0/',
    'wh/t/data/p=1/',
    'wh/t/data/p=2/',
  ]);
  assert.equal(receipt.candidate_kinds['data']?.files, 2500);
});

test('spellings that fold to a referenced key protect each other', async () => {
  const world = await worldOf(['wh/t/data/a b/x.parquet']);
  world.seed('wh/t/data/a%20b/x.parquet');
  world.seed('wh/t/data/a%20b/dead.parquet');

  assert.deepEqual(await world.sweep(), ['wh/t/data/a%20b/dead.parquet']);
});

test('a worker that runs short of time says where it is and counts nothing twice (SM-14, OR-16)', async () => {
  const world = await worldOf([]);
  for (let index = 0; index < 4500; index++) world.seed(`wh/t/data/${String(index).padStart(5, '0')}`);
  await world.mark();
  let pages = 0;
  world.store.options = {
    onCall: ({ operation, phase, bucket }) => {
      if (operation === 'list' && phase === 'after' && bucket === 'b') pages++;
    },
  };
  // A 30 s function of which every page takes 12 s.
  let spent = 0;
  world.remainingMs = () => 30_000 - (pages - spent) * 12_000;

  const steps = await untilDone(async (step) => {
    spent = pages;
    const answer = await listShard({ run: world.run, item: world.items[0]!, step }, world.ports);
    assert.ok(world.remainingMs() > 2000, 'answers before the time is up');
    return answer;
  });

  const receipt = (await world.artefacts.readJson<ListReceipt>(artefact.listReceipt(0)))!;
  assert.ok(steps.length >= 2);
  assert.equal(receipt.listed.files, 4500);
  assert.equal(
    receipt.chunks.reduce((sum, { entries }) => sum + entries, 0),
    4500,
  );
  assert.equal(receipt.pages, 5);
  for (const step of steps) assert.ok(JSON.stringify(step).length < 500);
});

test('with no time at all every call still reads one page', async () => {
  const world = await worldOf([]);
  for (let index = 0; index < 2100; index++) world.seed(`wh/t/data/${index}`);
  await world.mark();
  world.remainingMs = () => 0;

  assert.equal((await world.list()).listed.files, 2100);
});

test('a worker that dies and is repeated changes nothing', async () => {
  const world = await worldOf([]);
  for (let index = 0; index < 2100; index++) world.seed(`wh/t/data/${index}`);
  await world.mark();
  let lists = 0;
  world.store.options = {
    onCall: ({ operation, phase, bucket }) => {
      if (operation === 'list' && phase === 'before' && bucket === 'b' && ++lists === 3)
        throw storeFault('Unavailable');
    },
  };
  await assert.rejects(world.list());

  const receipt = await world.list();
  const again = await world.list();

  assert.equal(receipt.listed.files, 2100);
  assert.equal((await world.candidates([receipt])).length, 2100);
  assert.deepEqual(again, receipt);
});

test('two attempts at once leave one receipt, and its chunks are its own', async () => {
  const world = await worldOf([]);
  for (let index = 0; index < 1500; index++) world.seed(`wh/t/data/${index}`);
  await world.mark();

  const receipts = await Promise.all([world.list(), world.list()]);

  assert.deepEqual(receipts[0], receipts[1]);
  assert.equal((await world.candidates([receipts[0]])).length, 1500);
});

test('a shard that proves far too large is cut, and every key is still counted once', async () => {
  const world = await worldOf([]);
  const count = 230_000;
  for (let index = 0; index < count; index++) {
    world.seed(`wh/t/data/00000-${index}-x.parquet`, index % 100 === 0 ? OLD_MS : T0_MS);
  }
  await world.mark();
  const starts = new Set<string>();
  world.store.options = {
    onCall: ({ operation, phase }) => void (operation === 'list' && phase === 'before' && starts.add('list')),
  };

  const receipt = await world.list();
  const keys = (await world.candidates([receipt])).map(({ key }) => key);

  assert.equal(receipt.listed.files, count);
  assert.equal(new Set(keys).size, count / 100);
  assert.equal(keys.length, count / 100);
  assert.ok(receipt.requests.list > receipt.pages, 'probed for a place to cut');
});

test('shared storage is spared: the listing rests after so many files', async () => {
  const world = await worldOf([], { plan: { input: { pause_after_files: 1500, pause_ms: 100 } } });
  for (let index = 0; index < 4000; index++) world.seed(`wh/t/data/${index}`);
  await world.mark();

  await world.list();

  assert.equal(
    world.sleeps.reduce((sum, ms) => sum + ms, 0),
    200,
  );
});

test('an absent, cut, altered or foreign filter shard fails the run (SM-13)', async () => {
  const spoil: Record<string, (world: MarkWorld, name: string) => Promise<unknown>> = {
    gone: (world, name) => world.store.deleteObject('work', world.artefacts.absoluteKey(name)),
    empty: (world, name) => world.artefacts.write(name, Buffer.alloc(0)),
    cut: async (world, name) => world.artefacts.write(name, (await world.artefacts.read(name))!.subarray(0, 100)),
    altered: async (world, name) => {
      const bytes = Buffer.from((await world.artefacts.read(name))!);
      bytes[bytes.length - 1]! ^= 1;
      return world.artefacts.write(name, bytes);
    },
  };
  for (const [how, spoilIt] of Object.entries(spoil)) {
    const world = await worldOf(['wh/t/data/live.parquet']);
    await world.mark();
    const { filter } = await world.build();
    await spoilIt(world, filter.name);
    await assert.rejects(world.list(), FilterMismatchError, how);
  }
});

test('a missing build receipt, or one of another plan, fails the run', async () => {
  const world = await worldOf(['wh/t/data/live.parquet']);
  await world.scan();
  await assert.rejects(world.list(), FilterMismatchError);

  await world.artefacts.writeJson(artefact.buildReceipt(0), { ...(await world.build()), plan_hash: 'other' });
  await assert.rejects(world.list(), FilterMismatchError);
});

test('another plan under the run is refused before anything is listed', async () => {
  const world = await worldOf([]);
  await world.mark();
  await world.artefacts.writeJson(artefact.plan, { ...world.plan, cutoff: world.plan.t0 });

  await assert.rejects(world.list(), MisconfiguredError);
});

test('directory buckets are refused by name', async () => {
  const bucket = 'b--use1-az4--x-s3';
  const root = { bucket, prefix: 'wh/t/data/', scheme: 's3', authority: bucket };
  const world = await worldOf([], { plan: { roots: [root] } });
  await world.mark();

  await assert.rejects(world.list(), UnsupportedTableError);
});

test('keys of another table format are counted and named, referenced or not (FF-06)', async () => {
  const world = await worldOf(['wh/t/data/_delta_log/0.parquet']);
  world.seed('wh/t/data/.hoodie/x');
  await world.mark();

  const receipt = await world.list();

  assert.equal(receipt.other_formats_count, 2);
  assert.deepEqual(receipt.other_formats, ['wh/t/data/.hoodie/x', 'wh/t/data/_delta_log/0.parquet']);
});

function metadataJson(uuid: string | null, location = 's3://b/wh/t', padding = 0): Buffer {
  const identity = uuid === null ? {} : { 'table-uuid': uuid };
  return Buffer.from(JSON.stringify({ 'format-version': 1, x: 'y'.repeat(padding), ...identity, location }));
}

const OTHER_UUID = '11111111-2222-4333-8444-555555555555';

async function metadataReceipt(
  files: Readonly<Record<string, Buffer>>,
  options: MarkWorldOptions = {},
): Promise<ListReceipt> {
  const world = await worldOf([], options);
  for (const [name, body] of Object.entries(files)) world.seed(`wh/t/metadata/${name}`, OLD_MS, body);
  await world.mark();
  return world.list(1);
}

test('metadata files of another table are found wherever their uuid stands, zipped or not', async () => {
  const receipt = await metadataReceipt({
    '00001-a.metadata.json': metadataJson(OTHER_UUID),
    '00002-b.metadata.json': metadataJson(OTHER_UUID, 's3://b/wh/t', 20_000),
    '00003-c.gz.metadata.json': gzipSync(metadataJson(OTHER_UUID, 's3://b/wh/t', 20_000)),
    'v4.metadata.json': metadataJson(null, 's3://b/wh/other'),
    'v5.metadata.json': Buffer.from('no json'),
    'v6.metadata.json': Buffer.alloc(0),
    '00007-d.metadata.json': metadataJson(TABLE_UUID),
  });

  assert.equal(receipt.foreign_count, 6);
  assert.deepEqual(receipt.foreign.map(({ found }) => found).sort(), [
    'foreign_location',
    'foreign_uuid',
    'foreign_uuid',
    'foreign_uuid',
    'unreadable',
    'unreadable',
  ]);
});

test('a metadata file under a key that its store can list and not read counts as unreadable', async () => {
  const world = await worldOf([]);
  // What an embedded store says of a file whose name is no UTF-8.
  const odd = 'wh/t/metadata/./00001-%FF.metadata.json';
  world.seed(odd, OLD_MS, metadataJson(TABLE_UUID));
  await world.mark();
  const { get } = world.store;
  world.store.get = async (bucket, key, options) => {
    if (key === odd)
      throw new StoreError('BadRequest', 'cannot hold the key', { code: 'InvalidArgument', status: 400 });
    return get.call(world.store, bucket, key, options);
  };

  const receipt = await world.list(1);

  assert.deepEqual(receipt.foreign, [{ key: odd, found: 'unreadable', table_uuid: null }]);
});

test('hidden, excluded and young metadata files of another table are found too', async () => {
  const world = await worldOf([], { plan: { input: { exclude: ['**'] } } });
  world.seed('wh/t/metadata/_x/00001-a.metadata.json', T0_MS, metadataJson(OTHER_UUID));
  await world.mark();

  assert.equal((await world.list(1)).foreign_count, 1);
});

test('leavings of a dropped table may go when the deployment names its uuid', async () => {
  const receipt = await metadataReceipt(
    { '00001-a.metadata.json': metadataJson(OTHER_UUID.toUpperCase()) },
    { plan: { input: { former_table_uuids: [OTHER_UUID] } } },
  );

  assert.equal(receipt.foreign_count, 0);
  assert.equal(receipt.classes.candidate.metadata.files, 1);
  assert.equal(receipt.superseded.files, 0);
});

test('our own lower versions are superseded: candidates that enter no ratio', async () => {
  const receipt = await metadataReceipt({
    '00004-b.metadata.json': metadataJson(TABLE_UUID.toUpperCase()),
    '00003-c.metadata.json': metadataJson(null, 's3a://b/wh/t/'),
    'v2.metadata.json': metadataJson(TABLE_UUID),
  });

  assert.equal(receipt.foreign_count, 0);
  assert.equal(receipt.superseded.files, 2);
  assert.equal(receipt.classes.candidate.metadata.files, 3);
});

test('superseded metadata files count as metadata also where data may lie', async () => {
  const folders = [{ bucket: 'b', prefix: 'wh/t/' }];
  const receipt = await metadataReceipt(
    { '00004-b.metadata.json': metadataJson(TABLE_UUID) },
    { plan: { data_folders: folders } },
  );

  assert.equal(receipt.classes.candidate.metadata.files, 1);
});

test('a metadata file that goes away during the look does not stop the listing', async () => {
  const world = await worldOf([]);
  world.seed('wh/t/metadata/00001-a.metadata.json', OLD_MS, metadataJson(OTHER_UUID));
  await world.mark();
  world.store.options = {
    onCall: ({ operation, key, phase }) => {
      if (operation === 'get' && phase === 'before' && key.endsWith('00001-a.metadata.json'))
        throw storeFault('NotFound');
    },
  };

  assert.equal((await world.list(1)).foreign_count, 0);
});

test('a key that folds into another range is looked up there, with two shards held at most', async () => {
  const hex = (text: string) => Buffer.from(text).toString('hex');
  const ranges = ['wh/t/data/h', 'wh/t/data/p'].reduce<{ from: string | null; to: string | null }[]>(
    (all, cut) => [...all.slice(0, -1), { from: all.at(-1)!.from, to: hex(cut) }, { from: hex(cut), to: null }],
    [{ from: null, to: null }],
  );
  // %7A is z: raw order puts these keys first, folded order last.
  const world = await worldOf(['wh/t/data/zlive', 'wh/t/data/alive', 'wh/t/data/klive'], { plan: { ranges } });
  world.seed('wh/t/data/%7Alive');
  world.seed('wh/t/data/%6Blive');
  world.seed('wh/t/data/%7Adead');

  assert.deepEqual(await world.sweep(), ['wh/t/data/%7Adead']);
});

test('the receipt says which interval was listed and that its end was reached', async () => {
  const world = await worldOf([], {
    list: [{ bucket: 'b', prefix: 'wh/t/data/', after: 'wh/t/data/b', through: 'wh/t/data/d' }],
  });
  for (const name of ['a', 'b', 'c', 'd', 'e']) world.seed(`wh/t/data/${name}`);
  await world.mark();

  const receipt = await world.list();

  assert.deepEqual([receipt.after, receipt.through, receipt.reached_end], ['wh/t/data/b', 'wh/t/data/d', true]);
  assert.deepEqual(
    (await world.candidates([receipt])).map(({ key }) => key),
    ['wh/t/data/c', 'wh/t/data/d'],
  );
});
