import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { type Interval, IntervalReader } from '#functions/list/interval-pages.ts';
import { between } from '#functions/list/split-interval.ts';
import { AccessDeniedError, ListingIncompleteError } from '#shared/errors.ts';
import { compareKeys } from '#shared/storage/key-order.ts';
import { type ListPage, type ListRequest, type ObjectStore, StoreError } from '#shared/storage/object-store.ts';

const PLACE = { bucket: 'b', prefix: 'd/' };

function page(keys: readonly string[], token?: string): ListPage {
  const objects = keys.map((key) => ({ key, sizeBytes: 1, lastModifiedMs: 1, etag: '' }));
  return token === undefined
    ? { objects, commonPrefixes: [], truncated: false }
    : { objects, commonPrefixes: [], truncated: true, continuationToken: token };
}

/** A store that answers these pages in turn, whatever it is asked. */
function scripted(...pages: readonly (ListPage | Error)[]): { store: ObjectStore; requests: ListRequest[] } {
  const requests: ListRequest[] = [];
  const list = async (request: ListRequest): Promise<ListPage> => {
    requests.push(request);
    const next = pages[requests.length - 1];
    if (next === undefined) throw new Error('one request too many');
    if (next instanceof Error) throw next;
    return next;
  };
  return { store: { list } as ObjectStore, requests };
}

async function readAll(store: ObjectStore, interval: Interval = { after: null, through: null }): Promise<string[]> {
  const reader = new IntervalReader(store, PLACE, interval);
  const keys: string[] = [];
  while (!reader.ended) keys.push(...(await reader.next()).objects.map(({ key }) => key));
  return keys;
}

test('follows tokens to the last page', async () => {
  const { store, requests } = scripted(page(['d/a'], 't1'), page([], 't2'), page(['d/b']));

  assert.deepEqual(await readAll(store), ['d/a', 'd/b']);
  assert.deepEqual(
    requests.map(({ continuationToken }) => continuationToken),
    [undefined, 't1', 't2'],
  );
});

test('begins after the interval begins and ends with its last key, which belongs to it', async () => {
  const { store, requests } = scripted(page(['d/b', 'd/c', 'd/d', 'd/e'], 't'));

  assert.deepEqual(await readAll(store, { after: 'd/a', through: 'd/c' }), ['d/b', 'd/c']);
  assert.equal(requests[0]?.startAfter, 'd/a');
  assert.equal(requests.length, 1);
});

test('a page that says more follows without a token fails within one request (SM-07)', async () => {
  const { store, requests } = scripted({ ...page(['d/a']), truncated: true });

  await assert.rejects(readAll(store), ListingIncompleteError);
  assert.equal(requests.length, 1);
});

test('a repeated token fails, also over empty pages and in a longer circle (SM-07)', async () => {
  await assert.rejects(readAll(scripted(page(['d/a'], 't'), page(['d/b'], 't')).store), /same continuation token/);
  await assert.rejects(
    readAll(scripted(page([], 't'), page([], 'u'), page([], 't'), page([], 'u')).store),
    /same continuation token/,
  );
});

test('keys that repeat, go back, begin too early or lie elsewhere fail', async () => {
  await assert.rejects(readAll(scripted(page(['d/a', 'd/a'])).store), ListingIncompleteError);
  await assert.rejects(readAll(scripted(page(['d/b', 'd/a'])).store), ListingIncompleteError);
  await assert.rejects(readAll(scripted(page(['d/b'], 't'), page(['d/b'])).store), ListingIncompleteError);
  await assert.rejects(readAll(scripted(page(['d/a'])).store, { after: 'd/a', through: null }), ListingIncompleteError);
  await assert.rejects(readAll(scripted(page(['e/a'])).store), /lies elsewhere/);
});

test('the order is that of UTF-8 bytes, not of UTF-16 units', async () => {
  const keys = ['d/z', 'd/\u{ff5e}', 'd/\u{1f600}'];

  assert.deepEqual(await readAll(scripted(page(keys)).store), keys);
  await assert.rejects(readAll(scripted(page(['d/\u{1f600}', 'd/\u{ff5e}'])).store), /not their order/);
});

test('a denied page names the permission, any other refusal fails the listing, throttling passes to be retried', async () => {
  const denied = readAll(scripted(new StoreError('AccessDenied', 'no')).store);
  await assert.rejects(
    denied,
    (error: Error) => error instanceof AccessDeniedError && /s3:ListBucket/.test(error.message),
  );
  await assert.rejects(readAll(scripted(new StoreError('BadRequest', 'bad')).store), ListingIncompleteError);
  await assert.rejects(readAll(scripted(new StoreError('NoSuchBucket', 'gone')).store), ListingIncompleteError);
  await assert.rejects(readAll(scripted(new StoreError('Throttled', 'slow')).store), StoreError);
});

test('compareKeys agrees with the bytes', () => {
  const text = fc.string({ unit: 'binary', maxLength: 6 });
  fc.assert(
    fc.property(text, text, (a, b) => {
      assert.equal(Math.sign(compareKeys(a, b)), Math.sign(Buffer.compare(Buffer.from(a), Buffer.from(b))));
    }),
    { numRuns: 2000 },
  );
});

test('a guess to cut at lies strictly between', () => {
  const text = fc.string({ unit: 'binary', maxLength: 6 }).map((tail) => `d/${tail}`);
  fc.assert(
    fc.property(text, fc.option(text), (lower, upper) => {
      fc.pre(upper === null || compareKeys(lower, upper) < 0);
      const guess = between(lower, upper, 'd/');
      if (guess === null) return;
      assert.ok(compareKeys(guess, lower) > 0);
      assert.ok(upper === null || compareKeys(guess, upper) < 0);
    }),
    { numRuns: 2000 },
  );
});

test('a guess is found between ordinary names', () => {
  for (const [lower, upper] of [
    ['d/00012-1-abc.parquet', null],
    ['d/a', 'd/c'],
    ['d/a', 'd/b'],
    ['d/0101/x', 'd/0110/y'],
    ['d/a', 'd/a/zzz'],
  ] as const) {
    assert.notEqual(between(lower, upper, 'd/'), null, `${lower} ${upper}`);
  }
});
