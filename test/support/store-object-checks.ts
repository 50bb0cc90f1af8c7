/** The port's contract for single objects: reading, conditions, ranges, exact keys. */
import assert from 'node:assert/strict';
import { type Check, type CheckContext, putKeys, rejectsWith, walk } from './store-contract.ts';

/** Keys that some client or server is known to bend. */
export const ODD_KEYS: readonly string[] = [
  'space in it',
  ' leading',
  'trailing ',
  'plus+plus',
  'a%2Fb',
  'a%252Fb',
  'lone%percent',
  'a&b',
  'a&amp;b',
  'a<b>c',
  'quote"\'',
  'semi;colon,comma=equals',
  'hash#question?x=1',
  'back\\slash',
  'tilde~(paren)!*',
  'é/ß',
  'e\u0301',
  '～',
  '😀',
  '007',
  'true',
  '[x]{y}|z^`',
  'ts=2020-01-01 00:00:00.000',
  '__proto__',
  'constructor',
];

/** Keys that a file system would read otherwise. */
export const UNPATHLIKE_KEYS: readonly string[] = [
  '//double',
  'inner//double',
  'folder/',
  './dot',
  '../dotdot',
  'a/./b',
  'a/../b',
  'both',
  'both/below',
];

/** Keys with characters that XML 1.0 cannot carry, or that a parser normalizes. */
export const CONTROL_KEYS: readonly string[] = ['tab\tx', 'line\nx', 'return\rx', 'dle\u0010x', 'del\u007fx'];

async function exactKeys(context: CheckContext, names: readonly string[]): Promise<void> {
  const { store, bucket, at } = context;
  const keys = names.map((name) => at + name);
  await putKeys(context, keys);
  const listed = await walk(context, { prefix: at });
  assert.deepEqual(new Set(listed.keys), new Set(keys));
  assert.equal(listed.keys.length, keys.length);
  for (const key of keys) {
    assert.equal((await store.get(bucket, key)).body.toString(), key);
    assert.equal((await store.head(bucket, key)).sizeBytes, Buffer.byteLength(key));
  }
  // One after the other: each delete takes its own key and no other.
  const left = new Set(keys);
  for (const key of keys) {
    await store.deleteObject(bucket, key);
    left.delete(key);
    assert.deepEqual(new Set((await walk(context, { prefix: at })).keys), left, `after ${JSON.stringify(key)}`);
  }
}

export const objectChecks: readonly Check[] = [
  {
    name: 'what was put is read, with size, ETag and time',
    run: async ({ store, bucket, at }) => {
      const before = Date.now();
      const put = await store.put(bucket, `${at}one`, Buffer.from('hello'));
      const got = await store.get(bucket, `${at}one`);
      const head = await store.head(bucket, `${at}one`);
      const [listed] = (await store.list({ bucket, prefix: at })).objects;
      assert.equal(got.body.toString(), 'hello');
      assert.match(put.etag, /^".+"$/);
      assert.deepEqual([got.etag, head.etag, listed?.etag], [put.etag, put.etag, put.etag]);
      assert.deepEqual([got.sizeBytes, head.sizeBytes, listed?.sizeBytes], [5, 5, 5]);
      for (const time of [got.lastModifiedMs, head.lastModifiedMs, listed?.lastModifiedMs as number]) {
        assert.ok(Math.abs(time - before) < 60_000, `time ${time}`);
      }
    },
  },
  {
    name: 'another content has another ETag',
    run: async ({ store, bucket, at }) => {
      const first = await store.put(bucket, `${at}x`, Buffer.from('aaaa'));
      const second = await store.put(bucket, `${at}x`, Buffer.from('bbbb'));
      assert.notEqual(first.etag, second.etag);
      assert.equal((await store.head(bucket, `${at}x`)).etag, second.etag);
    },
  },
  {
    name: 'an absent key is NotFound',
    run: async ({ store, bucket, at }) => {
      await rejectsWith(store.get(bucket, `${at}none`), 'NotFound');
      await rejectsWith(store.head(bucket, `${at}none`), 'NotFound');
    },
  },
  {
    name: 'an absent bucket is NoSuchBucket, not an empty one',
    needs: ['missingBucket'],
    run: async ({ store, at }) => {
      await rejectsWith(store.list({ bucket: 'no-such-bucket-4711', prefix: at }), 'NoSuchBucket');
      await rejectsWith(store.get('no-such-bucket-4711', `${at}none`), 'NoSuchBucket');
    },
  },
  {
    name: 'ranges, also over the end and past it',
    run: async ({ store, bucket, at }) => {
      await store.put(bucket, `${at}r`, Buffer.from('0123456789'));
      await store.put(bucket, `${at}empty`, Buffer.alloc(0));
      const read = async (key: string, start: number, end: number) => {
        const got = await store.get(bucket, at + key, { range: { start, end } });
        return [got.body.toString(), got.sizeBytes];
      };
      assert.deepEqual(await read('r', 0, 3), ['0123', 10]);
      assert.deepEqual(await read('r', 9, 9), ['9', 10]);
      assert.deepEqual(await read('r', 8, 8191), ['89', 10]);
      assert.deepEqual(await read('r', 10, 20), ['', 10]);
      assert.deepEqual(await read('r', 500, 600), ['', 10]);
      assert.deepEqual(await read('empty', 0, 8191), ['', 0]);
      assert.equal((await store.get(bucket, `${at}empty`)).body.length, 0);
    },
  },
  {
    name: 'put where nothing is: one of many wins',
    needs: ['conditionalPut'],
    run: async ({ store, bucket, at }) => {
      const tries = Array.from({ length: 8 }, (_, index) =>
        store.put(bucket, `${at}lease`, Buffer.from(`holder ${index}`), { ifNoneMatch: '*' }),
      );
      const settled = await Promise.allSettled(tries);
      assert.equal(settled.filter(({ status }) => status === 'fulfilled').length, 1);
      const winner = settled.findIndex(({ status }) => status === 'fulfilled');
      assert.equal((await store.get(bucket, `${at}lease`)).body.toString(), `holder ${winner}`);
      await rejectsWith(
        store.put(bucket, `${at}lease`, Buffer.from('late'), { ifNoneMatch: '*' }),
        'PreconditionFailed',
      );
    },
  },
  {
    name: 'put over a known ETag only',
    needs: ['conditionalPut'],
    run: async ({ store, bucket, at }) => {
      const first = await store.put(bucket, `${at}m`, Buffer.from('first'));
      await store.put(bucket, `${at}m`, Buffer.from('second!'), { ifMatch: first.etag });
      await rejectsWith(store.put(bucket, `${at}m`, Buffer.from('x'), { ifMatch: first.etag }), 'PreconditionFailed');
      await rejectsWith(store.put(bucket, `${at}absent`, Buffer.from('x'), { ifMatch: first.etag }), 'NotFound');
      assert.equal((await store.get(bucket, `${at}m`)).body.toString(), 'second!');
    },
  },
  { name: 'PI-06 keys are exact: never decoded, encoded or trimmed', run: (context) => exactKeys(context, ODD_KEYS) },
  {
    name: 'PI-04 keys are no paths: double slashes and dots stay',
    needs: ['anyKey'],
    run: (context) => exactKeys(context, UNPATHLIKE_KEYS),
  },
  {
    name: 'DA-05 keys with control characters are read, listed and singly deleted',
    needs: ['controlCharacters'],
    run: (context) => exactKeys(context, CONTROL_KEYS),
  },
];
