/** Listing shards: whatever their boundaries, every key is in exactly one; and there are as many as the keys call for. */
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { KeyTree } from '#functions/plan/key-tree.ts';
import { intervals, MOST_SHARDS, planListShards } from '#functions/plan/list-shards.ts';
import type { ListItem } from '#shared/run/plan.ts';
import { MemoryStore } from '#test/support/memory-store.ts';

const ROOT = { bucket: 'b', prefix: 't/data/', scheme: 's3', authority: 'b' };
const compare = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

function storeOf(keys: Iterable<string>): MemoryStore {
  const store = new MemoryStore();
  store.createBucket('b');
  for (const key of keys) store.seed('b', `t/data/${key}`, 1, 0);
  return store;
}

/** How many of the shards hold a key. */
function holders(items: readonly Pick<ListItem, 'after' | 'through'>[], key: string): number {
  return items.filter(
    ({ after, through }) =>
      (after === null || compare(key, after) > 0) && (through === null || compare(key, through) <= 0),
  ).length;
}

function plan(store: MemoryStore, references = 0, sample: string[] = []) {
  return planListShards({ roots: [ROOT], store, sample, references, ignoreCase: false });
}

test('a small root is one shard', async () => {
  const items = await plan(storeOf(['a', 'b']));
  assert.deepEqual(items, [{ shard: 0, bucket: 'b', prefix: 't/data/', after: null, through: null }]);
});

test('an empty root is one shard too: its emptiness must be seen', async () => {
  assert.equal((await plan(storeOf([]))).length, 1);
});

const layouts: Record<string, (index: number) => string> = {
  'one flat prefix of hex names': (i) => `${(Math.imul(i, 2_654_435_761) >>> 0).toString(16).padStart(8, '0')}.parquet`,
  'hive partitions': (i) => `day=${String(i % 300).padStart(3, '0')}/${i}.parquet`,
  'hashed folders': (i) => {
    const bits = ((Math.imul(i, 2_654_435_761) >>> 12) & 0xfffff).toString(2).padStart(20, '0');
    return `${bits.slice(0, 4)}/${bits.slice(4, 8)}/${bits.slice(8, 12)}/${bits.slice(12)}/${i}.parquet`;
  },
  'one partition with everything': (i) => `p=7/${(Math.imul(i, 40_503) >>> 0).toString(36)}é`,
};

for (const [name, layout] of Object.entries(layouts)) {
  test(`${name}: every key in exactly one shard, and shards of like size`, async () => {
    const keys = Array.from({ length: 20_000 }, (_, index) => layout(index));
    const items = await plan(storeOf(keys), 1_000_000, ['t/data/x']);

    assert.ok(items.length >= 5 && items.length <= 14, `${items.length} shards`);
    const sizes = new Map<number, number>();
    for (const key of new Set(keys)) {
      const full = `t/data/${key}`;
      assert.equal(holders(items, full), 1, full);
      const shard = items.findIndex((item) => holders([item], full) === 1);
      sizes.set(shard, (sizes.get(shard) ?? 0) + 1);
    }
    assert.ok(Math.max(...sizes.values()) < 8000, [...sizes.values()].join());
  });
}

test('there are never more than 2,000 shards', async () => {
  const keys = Array.from({ length: 4000 }, (_, index) => `p=${String(index).padStart(4, '0')}/a`);
  const items = await plan(storeOf(keys), 10_000_000_000, ['t/data/x']);
  assert.ok(items.length <= MOST_SHARDS && items.length > 500, `${items.length}`);
  assert.deepEqual(
    items.map(({ shard }) => shard),
    items.map((_, index) => index),
  );
});

test('the same storage gives the same shards again', async () => {
  const store = storeOf(Array.from({ length: 5000 }, (_, index) => layouts['hive partitions']!(index)));
  assert.deepEqual(await plan(store, 900_000, ['t/data/x']), await plan(store, 900_000, ['t/data/x']));
});

test('the estimate of a flat prefix is of the right size', async () => {
  const store = storeOf(Array.from({ length: 30_000 }, (_, index) => layouts['one flat prefix of hex names']!(index)));
  const keys = await new KeyTree(store, 'b').estimate({ bucket: 'b', prefix: 't/data/' });
  assert.ok(keys > 15_000 && keys < 60_000, `${keys}`);
});

test('intervals of any boundaries hold any key exactly once', () => {
  const text = fc.string({ unit: 'binary', minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(fc.uniqueArray(text, { maxLength: 12 }), text, (boundaries, key) => {
      const items = intervals([...boundaries].sort(compare));
      assert.equal(holders(items, key), 1);
    }),
  );
});

test('probing whose time is up leaves fewer shards, which still hold every key once', async () => {
  const keys = Array.from({ length: 5000 }, (_, index) => `day=${index % 50}/${index}`);
  const store = storeOf(keys);
  for (const asks of [0, 1, 5, 40]) {
    let left = asks;
    const mayAsk = () => left-- > 0;
    const question = { roots: [ROOT], store, sample: ['t/data/x'], references: 2_000_000, ignoreCase: false, mayAsk };
    const items = await planListShards(question);
    for (const key of keys) assert.equal(holders(items, `t/data/${key}`), 1);
  }
});
