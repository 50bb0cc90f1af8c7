/** The port's contract for listings. */
import assert from 'node:assert/strict';
import { byBytes, type Check, type CheckContext, putKeys, walk } from './store-contract.ts';

const ORDERED = [
  '!',
  '-',
  '.',
  '0',
  'A',
  'Z',
  '_',
  'a',
  'a-b',
  'a.b',
  'a0',
  'z',
  '~',
  'é',
  '\ud7ff',
  '\ufffd',
  '～',
  '😀',
];

/** Everything but what a delimiter rolls up, computed the slow and plain way. */
function expectRolled(keys: readonly string[], prefix: string, startAfter = ''): { keys: string[]; rolled: string[] } {
  const after = byBytes(keys).filter((key) => Buffer.compare(Buffer.from(key), Buffer.from(startAfter)) > 0);
  const single = after.filter((key) => !key.slice(prefix.length).includes('/'));
  const rolled = after
    .filter((key) => key.slice(prefix.length).includes('/'))
    .map((key) => key.slice(0, key.indexOf('/', prefix.length) + 1));
  return { keys: single, rolled: [...new Set(rolled)] };
}

async function delimited(context: CheckContext): Promise<void> {
  const { at } = context;
  const names = ['a-b', 'a.b', 'a/1', 'a/2', 'a/b/3', 'b', 'c/1', 'c-/1', 'c/2', 'd', 'é/1', '😀/1', 'z/y/x'];
  const keys = names.map((name) => at + name);
  await putKeys(context, keys);
  const expected = expectRolled(keys, at);
  for (const maxKeys of [1, 2, 3, 1000]) {
    const got = await walk(context, { prefix: at, delimiter: '/', maxKeys });
    assert.deepEqual(got.keys, expected.keys, `keys by ${maxKeys}`);
    assert.deepEqual(got.commonPrefixes, expected.rolled, `prefixes by ${maxKeys}`);
  }
}

/** Where the StartAfter lies inside a rolled-up prefix that has more keys, the prefix is shown. */
async function delimitedAfter(context: CheckContext): Promise<void> {
  const { at } = context;
  const keys = ['a/1', 'a/2', 'b', 'c-/1', 'c/1', 'c/2', 'd'].map((name) => at + name);
  await putKeys(context, keys);
  const late = await walk(context, { prefix: at, delimiter: '/', startAfter: `${at}a/1`, maxKeys: 2 });
  const expectedLate = expectRolled(keys, at, `${at}a/1`);
  assert.deepEqual([late.keys, late.commonPrefixes], [expectedLate.keys, expectedLate.rolled]);
}

export const listChecks: readonly Check[] = [
  {
    name: 'keys come in the order of their UTF-8 bytes',
    run: async (context) => {
      const keys = ORDERED.map((name) => `${context.at}${name}.parquet`);
      const nested = ['a-b/x', 'b/x', 'b-c', 'b0'].map((name) => `${context.at}nested/${name}`);
      await putKeys(context, [...keys, ...nested].reverse());
      assert.deepEqual((await walk(context, { prefix: context.at })).keys, byBytes([...keys, ...nested]));
      assert.deepEqual((await walk(context, { prefix: context.at, maxKeys: 3 })).keys, byBytes([...keys, ...nested]));
    },
  },
  {
    name: 'a prefix is a string, not a folder',
    run: async (context) => {
      const { at } = context;
      await putKeys(context, [`${at}data/x`, `${at}data2/x`, `${at}dat`, `${at}data-1`]);
      assert.deepEqual((await walk(context, { prefix: `${at}data` })).keys, [
        `${at}data-1`,
        `${at}data/x`,
        `${at}data2/x`,
      ]);
      assert.deepEqual((await walk(context, { prefix: `${at}data/` })).keys, [`${at}data/x`]);
      assert.deepEqual(await walk(context, { prefix: `${at}nothing/` }), {
        keys: [],
        objects: [],
        commonPrefixes: [],
        pages: 1,
      });
    },
  },
  {
    name: 'SM-05 pages of 1000 with & in every key, and nothing lost between pages',
    run: async (context) => {
      const keys = Array.from({ length: 1005 }, (_, index) => `${context.at}p=${index % 7}/a&b "${index}".parquet`);
      await putKeys(context, keys);
      const first = await context.store.list({ bucket: context.bucket, prefix: context.at });
      assert.equal(first.objects.length, 1000);
      const all = await walk(context, { prefix: context.at });
      assert.equal(all.pages, 2);
      assert.deepEqual(all.keys, byBytes(keys));
    },
  },
  {
    name: 'a listing of exactly one page is not truncated',
    run: async (context) => {
      await putKeys(
        context,
        ['1', '2', '3', '4'].map((name) => context.at + name),
      );
      assert.equal((await walk(context, { prefix: context.at, maxKeys: 4 })).pages, 1);
      assert.equal((await walk(context, { prefix: context.at, maxKeys: 2 })).pages, 2);
      assert.equal((await walk(context, { prefix: context.at, delimiter: '/', maxKeys: 4 })).pages, 1);
    },
  },
  {
    name: 'StartAfter is exclusive and need not exist',
    run: async (context) => {
      const { at } = context;
      const keys = ['a', 'b', 'b/x', 'c', 'd/1', 'd/2', 'e'].map((name) => `${at}${name}.f`);
      await putKeys(context, keys);
      for (const startAfter of [`${at}b.f`, `${at}b`, `${at}d/1.f`, `${at}d/`, `${at}d0`, `${at}zz`, at, 'a']) {
        const expected = byBytes(keys).filter((key) => Buffer.compare(Buffer.from(key), Buffer.from(startAfter)) > 0);
        assert.deepEqual((await walk(context, { prefix: at, startAfter, maxKeys: 2 })).keys, expected, startAfter);
      }
    },
  },
  { name: 'a delimiter rolls up, over pages', run: delimited },
  { name: 'a delimiter rolls up after a StartAfter', needs: ['delimiterAfter'], run: delimitedAfter },
  {
    name: 'objects that vanish between pages shift nothing',
    run: async (context) => {
      const { store, bucket, at } = context;
      const keys = Array.from({ length: 9 }, (_, index) => `${at}${index}`);
      await putKeys(context, keys);
      const first = await store.list({ bucket, prefix: at, maxKeys: 3 });
      await store.deleteObjects(bucket, [{ key: `${at}0` }, { key: `${at}2` }, { key: `${at}3` }]);
      const rest = await store.list({ bucket, prefix: at, continuationToken: first.continuationToken as string });
      assert.deepEqual(
        rest.objects.map(({ key }) => key),
        keys.slice(4),
      );
    },
  },
];
