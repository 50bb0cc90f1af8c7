/** The port's contract for deletes, in batches and single, and for buckets with versions. */
import assert from 'node:assert/strict';
import type { ObjectVersion } from '#shared/storage/object-store.ts';
import { type Check, type CheckContext, putKeys, rejectsWith, walk } from './store-contract.ts';

async function keysBelow(context: CheckContext): Promise<readonly string[]> {
  return (await walk(context, { prefix: context.at })).keys;
}

async function batchByEtag(context: CheckContext): Promise<void> {
  const { store, bucket, at } = context;
  const { etag } = await store.put(bucket, `${at}same`, Buffer.from('1'));
  const old = await store.put(bucket, `${at}changed`, Buffer.from('22'));
  await store.put(bucket, `${at}changed`, Buffer.from('333'));
  await putKeys(context, [`${at}free`]);
  const reply = await store.deleteObjects(bucket, [
    { key: `${at}same`, etag },
    { key: `${at}changed`, etag: old.etag },
    { key: `${at}free` },
  ]);
  assert.deepEqual(new Set(reply.deleted.map(({ key }) => key)), new Set([`${at}same`, `${at}free`]));
  assert.deepEqual(
    reply.errors.map(({ key, code }) => [key, code]),
    [[`${at}changed`, 'PreconditionFailed']],
  );
  assert.deepEqual(await keysBelow(context), [`${at}changed`]);
}

export const deleteChecks: readonly Check[] = [
  {
    name: 'DA-07 a batch with < & > in its keys takes those and no others',
    run: async (context) => {
      const { store, bucket, at } = context;
      const gone = ['a<b', 'a&amp;b', 'a&b', 'x>y', '"q"', "it's", ' pad ', '007', 'é 😀', 'a+b', 'a%20b', ']]>'];
      const kept = ['a', 'b', 'a b', 'a&amp;amp;b', 'a<', 'pad', '7'];
      const keys = gone.map((name) => at + name);
      await putKeys(context, [...keys, ...kept.map((name) => at + name)]);
      const reply = await store.deleteObjects(
        bucket,
        keys.map((key) => ({ key })),
      );
      assert.deepEqual(new Set(reply.deleted.map(({ key }) => key)), new Set(keys));
      assert.deepEqual(reply.errors, []);
      assert.deepEqual(new Set(await keysBelow(context)), new Set(kept.map((name) => at + name)));
    },
  },
  {
    name: 'a batch protected by MD5',
    run: async (context) => {
      const { store, bucket, at } = context;
      await putKeys(context, [`${at}1`, `${at}2`]);
      const reply = await store.deleteObjects(bucket, [{ key: `${at}1` }, { key: `${at}2` }], { checksum: 'md5' });
      assert.equal(reply.deleted.length, 2);
      assert.deepEqual(await keysBelow(context), []);
    },
  },
  {
    name: 'a batch of 1000 goes, absent keys count as deleted',
    run: async (context) => {
      const all = Array.from({ length: 1000 }, (_, index) => `${context.at}${index}`);
      await putKeys(context, all.slice(0, 50));
      const reply = await context.store.deleteObjects(
        context.bucket,
        all.map((key) => ({ key })),
      );
      assert.deepEqual(new Set(reply.deleted.map(({ key }) => key)), new Set(all));
      assert.deepEqual(await keysBelow(context), []);
    },
  },
  {
    name: 'a batch of 1001 is refused as a whole',
    needs: ['batchLimit'],
    run: async (context) => {
      await putKeys(context, [`${context.at}0`]);
      const objects = Array.from({ length: 1001 }, (_, index) => ({ key: `${context.at}${index}` }));
      await rejectsWith(context.store.deleteObjects(context.bucket, objects), 'BadRequest');
      assert.deepEqual(await keysBelow(context), [`${context.at}0`]);
    },
  },
  { name: 'conditions of a batch hold per key', needs: ['conditionalDelete'], run: batchByEtag },
  {
    name: 'a single delete by ETag',
    needs: ['conditionalDelete'],
    run: async ({ store, bucket, at }) => {
      const first = await store.put(bucket, `${at}x`, Buffer.from('1'));
      const second = await store.put(bucket, `${at}x`, Buffer.from('22'));
      await rejectsWith(store.deleteObject(bucket, `${at}x`, { ifMatch: first.etag }), 'PreconditionFailed');
      await store.deleteObject(bucket, `${at}x`, { ifMatch: second.etag });
      await rejectsWith(store.head(bucket, `${at}x`), 'NotFound');
    },
  },
  {
    name: 'a single delete of nothing is no error',
    run: async ({ store, bucket, at }) => {
      await store.deleteObject(bucket, `${at}absent`);
    },
  },
  {
    name: 'a bucket without versions says so, and its deletes name none',
    run: async ({ store, bucket, at }) => {
      assert.equal(await store.versioning(bucket), 'Unversioned');
      await store.put(bucket, `${at}x`, Buffer.from('x'));
      const reply = await store.deleteObjects(bucket, [{ key: `${at}x` }]);
      assert.deepEqual(reply.deleted, [{ key: `${at}x` }]);
    },
  },
];

async function allVersions({ store, bucket, at }: CheckContext, maxKeys: number): Promise<ObjectVersion[]> {
  const found: ObjectVersion[] = [];
  let markers: { keyMarker?: string; versionIdMarker?: string } = {};
  for (let pages = 0; pages < 100; pages++) {
    const page = await store.listVersions({ bucket, prefix: at, maxKeys, ...markers });
    assert.ok(page.versions.length <= maxKeys, 'a page keeps its size');
    found.push(...page.versions);
    if (!page.truncated) return found;
    assert.ok(page.nextKeyMarker !== undefined);
    markers = {
      keyMarker: page.nextKeyMarker,
      ...(page.nextVersionIdMarker === undefined ? {} : { versionIdMarker: page.nextVersionIdMarker }),
    };
  }
  throw new Error('the pages of versions do not end');
}

/** For a bucket with versioning enabled. */
export const versionChecks: readonly Check[] = [
  {
    name: 'a delete writes a marker, and deleting the marker brings the object back',
    run: async (context) => {
      const { store, bucket, at } = context;
      assert.equal(await store.versioning(bucket), 'Enabled');
      await putKeys(context, [`${at}a&b`, `${at}single`]);
      const { deleted } = await store.deleteObjects(bucket, [{ key: `${at}a&b` }]);
      const single = await store.deleteObject(bucket, `${at}single`);
      assert.equal(deleted[0]?.deleteMarker, true);
      assert.equal(single.deleteMarker, true);
      assert.deepEqual(await keysBelow(context), []);
      await rejectsWith(store.get(bucket, `${at}single`), 'NotFound');
      await store.deleteObject(bucket, `${at}a&b`, { versionId: deleted[0]?.versionId as string });
      await store.deleteObject(bucket, `${at}single`, { versionId: single.versionId as string });
      assert.deepEqual(await keysBelow(context), [`${at}a&b`, `${at}single`]);
      assert.equal((await store.get(bucket, `${at}single`)).body.toString(), `${at}single`);
    },
  },
  {
    name: 'versions and markers are listed, over pages, the newest as latest',
    needs: ['versionPages'],
    run: async (context) => {
      const { store, bucket, at } = context;
      const first = await store.put(bucket, `${at}k x+y`, Buffer.from('1'));
      const second = await store.put(bucket, `${at}k x+y`, Buffer.from('22'));
      const marker = await store.deleteObject(bucket, `${at}k x+y`);
      await store.put(bucket, `${at}other`, Buffer.from('o'));
      for (const maxKeys of [1, 2, 1000]) {
        const all = await allVersions(context, maxKeys);
        const mine = all.filter(({ key }) => key === `${at}k x+y`);
        assert.deepEqual(
          new Set(mine.map(({ versionId }) => versionId)),
          new Set([first.versionId, second.versionId, marker.versionId]),
        );
        const latest = mine.filter(({ isLatest }) => isLatest);
        assert.deepEqual(
          latest.map(({ versionId, isDeleteMarker }) => [versionId, isDeleteMarker]),
          [[marker.versionId, true]],
        );
        assert.equal(mine.filter(({ isDeleteMarker }) => isDeleteMarker).length, 1);
        assert.equal(all.length, 4, `by ${maxKeys}`);
      }
    },
  },
  {
    name: 'a second delete writes a second marker, and one version goes alone',
    needs: ['secondMarker'],
    run: async (context) => {
      const { store, bucket, at } = context;
      const first = await store.put(bucket, `${at}v`, Buffer.from('1'));
      await store.put(bucket, `${at}v`, Buffer.from('22'));
      const markers = [await store.deleteObject(bucket, `${at}v`), await store.deleteObject(bucket, `${at}v`)];
      assert.notEqual(markers[0]?.versionId, markers[1]?.versionId);
      await store.deleteObject(bucket, `${at}v`, { versionId: first.versionId as string });
      await store.deleteObject(bucket, `${at}v`, { versionId: first.versionId as string });
      for (const marker of markers)
        await store.deleteObject(bucket, `${at}v`, { versionId: marker.versionId as string });
      assert.equal((await store.get(bucket, `${at}v`)).body.toString(), '22');
    },
  },
];
