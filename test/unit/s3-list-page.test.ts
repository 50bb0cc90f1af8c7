import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { listPage } from '#infra/local/s3/list-page.ts';
import { MemoryBucket } from '#infra/local/s3/memory-bucket.ts';
import { compareKeys } from '#shared/storage/key-order.ts';

const key = fc.stringMatching(/^[ab/é😀\u{ffff}\u{10ffff}]{1,6}$/u);

test('keys compare as their UTF-8 bytes do', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (left, right) => {
      const bytes = Buffer.compare(Buffer.from(left), Buffer.from(right));
      assert.equal(Math.sign(compareKeys(left, right)), bytes);
    }),
  );
});

/** The listing as defined: everything sorted, then rolled up, then cut. */
function defined(keys: readonly string[], prefix: string, after: string, delimiter: string): string[] {
  const rolled = keys
    .filter((candidate) => candidate.startsWith(prefix) && compareKeys(candidate, after) > 0)
    .sort(compareKeys)
    .map((candidate) => {
      const end = delimiter === '' ? -1 : candidate.indexOf(delimiter, prefix.length);
      return end < 0 ? candidate : candidate.slice(0, end + delimiter.length);
    });
  return [...new Set(rolled)];
}

async function walked(bucket: MemoryBucket, request: Parameters<typeof listPage>[1]): Promise<string[]> {
  const found: string[] = [];
  let token: string | undefined;
  do {
    const page = await listPage(bucket, { ...request, ...(token === undefined ? {} : { continuationToken: token }) });
    assert.ok(page.objects.length + page.commonPrefixes.length <= (request.maxKeys ?? 1000));
    found.push(...[...page.objects.map((object) => object.key), ...page.commonPrefixes].sort(compareKeys));
    token = page.truncated ? page.nextToken : undefined;
  } while (token !== undefined);
  return found;
}

test('SM-07 pages of any size add up to the listing, once each', async () => {
  const prefix = fc.stringMatching(/^[ab/]{0,3}$/);
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(key, { maxLength: 60 }),
      prefix,
      fc.oneof(fc.constant(''), key),
      fc.constantFrom('', '/', 'a', 'b/'),
      fc.integer({ min: 1, max: 7 }),
      async (keys, prefix, startAfter, delimiter, maxKeys) => {
        const bucket = new MemoryBucket();
        for (const name of keys) bucket.seed(name, 1, 0);
        const found = await walked(bucket, { prefix, startAfter, delimiter, maxKeys });
        assert.deepEqual(found, defined(keys, prefix, startAfter, delimiter));
      },
    ),
  );
});

test('a long common prefix is jumped over, and hides nothing behind it', async () => {
  const bucket = new MemoryBucket();
  const keys = ['t/a/\u{10ffff}', 't/a/\u{10ffff}x', 't/a0', 't/b/x', 't/c'];
  for (let index = 0; index < 1000; index++) keys.push(`t/a/${index}`);
  for (const name of keys) bucket.seed(name, 1, 0);
  for (const maxKeys of [1, 2, 1000]) {
    const found = await walked(bucket, { prefix: 't/', delimiter: '/', maxKeys });
    assert.deepEqual(found, ['t/a/', 't/a0', 't/b/', 't/c']);
  }
});
