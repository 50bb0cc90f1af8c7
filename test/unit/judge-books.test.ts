import assert from 'node:assert/strict';
import test from 'node:test';
import { balanceBooks, type Receipts } from '#shared/run/judge-books.ts';
import type { ListItem, Plan } from '#shared/run/plan.ts';
import type { BuildReceipt, ListReceipt, ScanReceipt } from '#shared/run/receipts.ts';
import { planOf } from '#test/support/mark-world.ts';

const HASH = 'plan-hash';
const scanIncomplete = { name: 'ScanIncompleteError' };
const filterMismatch = { name: 'FilterMismatchError' };
const listingIncomplete = { name: 'ListingIncompleteError' };

interface Books {
  plan: Plan;
  items: ListItem[];
  scans: (ScanReceipt | undefined)[];
  builds: (BuildReceipt | undefined)[];
  lists: (ListReceipt | undefined)[];
}

const DATA = 'wh/t/data/';
const METADATA = 'wh/t/metadata/';

/** Books in order: two scan shards, two ranges, data in three listing shards and metadata in one. */
function books(): Books {
  const plan = planOf({
    scan: { shards: 2, manifests: 5, digests: [] },
    ranges: [
      { from: null, to: '6d' },
      { from: '6d', to: null },
    ],
    list: { shards: 4 },
  });
  const intervals: readonly [string, string | null, string | null][] = [
    [DATA, null, `${DATA}g`],
    [DATA, `${DATA}g`, `${DATA}p`],
    [DATA, `${DATA}p`, null],
    [METADATA, null, null],
  ];
  const items = intervals.map(([prefix, after, through], shard) => ({ shard, bucket: 'b', prefix, after, through }));
  const scan = (shard: number, read: number, skipped: string[], notAvro: string[], entries: readonly number[]) => ({
    plan_hash: HASH,
    shard,
    manifests_planned: read + skipped.length + notAvro.length,
    manifests_read: read,
    manifests_skipped: skipped,
    pending_not_avro: notAvro,
    fingerprints: entries.reduce((a, b) => a + b, 0),
    objects: [{ name: 'f', bytes: 0, sha256: '', entries: entries.reduce((a, b) => a + b, 0) }],
    sections: entries.map((count, range) => ({
      object: 0,
      range,
      group: 'content_covered',
      offset: 0,
      entries: count,
    })),
  });
  const build = (range: number, entries: number) => ({ plan_hash: HASH, range, entries_merged: entries });
  return {
    plan,
    items,
    scans: [scan(0, 2, ['s'], [], [3, 4]), scan(1, 1, [], ['n'], [5, 6])] as unknown as ScanReceipt[],
    builds: [build(0, 8), build(1, 10)] as unknown as BuildReceipt[],
    lists: items.map((item) => ({ plan_hash: HASH, ...item, reached_end: true })) as unknown as ListReceipt[],
  };
}

function balance({ plan, items, ...receipts }: Books) {
  return balanceBooks(plan, HASH, items, receipts as Receipts);
}

/** Balances books in which one thing is changed. */
function changed(change: (value: Books) => void): () => void {
  const value = books();
  change(value);
  return () => void balance(value);
}

function patch<T extends object>(list: (T | undefined)[], index: number, changes: Partial<T>): void {
  list[index] = { ...(list[index] as T), ...changes };
}

test('books in order are answered complete, in order', () => {
  const value = books();
  assert.deepEqual(balance(value), { scans: value.scans, builds: value.builds, lists: value.lists });
});

test('each planned piece of work must have left a receipt of this plan', () => {
  for (const [kind, error] of [
    ['scans', scanIncomplete],
    ['builds', filterMismatch],
    ['lists', listingIncomplete],
  ] as const) {
    assert.throws(
      changed((value) => {
        value[kind][1] = undefined;
      }),
      { ...error, message: /1 of \d left no receipt/ },
    );
    assert.throws(
      changed((value) => {
        value[kind].pop();
      }),
      { ...error, message: /were planned/ },
    );
    assert.throws(
      changed((value) => {
        value[kind].push(value[kind][0] as never);
      }),
      { ...error, message: /were planned/ },
    );
    assert.throws(
      changed((value) => patch<{ plan_hash: string }>(value[kind], 1, { plan_hash: 'another' })),
      { ...error, message: /another plan/ },
    );
  }
});

test('nothing planned is never complete', () => {
  for (const shards of [0, Number.NaN, -1]) {
    assert.throws(
      changed((value) => {
        value.plan = { ...value.plan, scan: { ...value.plan.scan, shards } };
        value.scans = [];
      }),
      { ...scanIncomplete, message: /of "Scan shard" were planned/ },
    );
  }
});

test('manifests planned, given to shards, and scanned or skipped are one number', () => {
  assert.throws(
    changed((value) => {
      value.plan = { ...value.plan, scan: { ...value.plan.scan, manifests: 6 } };
    }),
    { ...scanIncomplete, message: /6 manifests were planned, 5 given to scan shards and 5 scanned/ },
  );
  for (const changes of [
    { manifests_read: 1 },
    { manifests_read: 3 },
    { manifests_skipped: [] },
    { pending_not_avro: ['x'] },
  ]) {
    assert.throws(
      changed((value) => patch(value.scans, 0, changes)),
      scanIncomplete,
    );
  }
});

test('a scan shard says one number of fingerprints in three places', () => {
  assert.throws(
    changed((value) => patch(value.scans, 0, { fingerprints: 8 })),
    { ...scanIncomplete, message: /shard 0 contradicts itself/ },
  );
  assert.throws(
    changed((value) => patch(value.scans, 1, { objects: [] })),
    { ...scanIncomplete, message: /shard 1 contradicts itself/ },
  );
});

test('what was written for a range is what its filter merged', () => {
  for (const entries_merged of [7, 9]) {
    assert.throws(
      changed((value) => patch(value.builds, 0, { entries_merged })),
      { ...filterMismatch, message: /range 0 merged \d entries, the scan wrote 8/ },
    );
  }
  assert.throws(
    changed((value) => value.builds.reverse()),
    filterMismatch,
  );
});

test('a filter of another range is none of this one, though its numbers fit', () => {
  assert.throws(
    changed((value) => patch(value.builds, 1, { range: 0 })),
    filterMismatch,
  );
});

test('a range for which nothing was written merges nothing', () => {
  const quiet = (merged: number) =>
    changed((value) => {
      for (const index of [0, 1]) {
        const { sections, objects } = value.scans[index] as ScanReceipt;
        const [first] = sections;
        patch(value.scans, index, {
          sections: [first as ScanReceipt['sections'][number]],
          fingerprints: first?.entries as number,
          objects: [{ ...objects[0], entries: first?.entries } as ScanReceipt['objects'][number]],
        });
      }
      patch(value.builds, 1, { entries_merged: merged });
    });
  assert.doesNotThrow(quiet(0));
  assert.throws(quiet(1), filterMismatch);
});

test('entries for a range that nobody built are an error', () => {
  assert.throws(
    changed((value) => {
      value.plan = { ...value.plan, ranges: [{ from: null, to: null }] };
      value.builds.pop();
    }),
    { ...filterMismatch, message: /nobody built: 1/ },
  );
});

test('every shard lists exactly its planned interval, to the end', () => {
  for (const changes of [
    { shard: 0 },
    { bucket: 'c' },
    { prefix: METADATA },
    { after: `${DATA}f` },
    { after: null },
    { through: `${DATA}q` },
    { through: null },
    { reached_end: false as never },
  ]) {
    assert.throws(
      changed((value) => patch(value.lists, 1, changes)),
      { ...listingIncomplete, message: /shard 1 did not list its interval/ },
    );
  }
  assert.throws(
    changed((value) => {
      value.items.pop();
    }),
    { ...listingIncomplete, message: /3 listing shards stand in the plan's items, 4/ },
  );
});

/** Items and receipts that agree with each other, whatever they cover. */
function listed(intervals: readonly (readonly [string, string | null, string | null])[]): () => void {
  return changed((value) => {
    value.items = intervals.map(([prefix, after, through], shard) => ({ shard, bucket: 'b', prefix, after, through }));
    value.lists = value.items.map(
      (item) => ({ plan_hash: HASH, ...item, reached_end: true }) as unknown as ListReceipt,
    );
    value.plan = { ...value.plan, list: { shards: intervals.length } };
  });
}

test('the intervals of a root cover every key of it, once and in order', () => {
  const gap = (prefix: string) => ({ ...listingIncomplete, message: new RegExp(`s3://b/${prefix} has a gap`) });
  const g = `${DATA}g`;
  const rest = [METADATA, null, null] as const;
  assert.doesNotThrow(listed([[DATA, null, null], rest]));
  assert.doesNotThrow(listed([[DATA, null, g], [DATA, g, null], rest]));
  assert.throws(listed([rest]), gap(DATA));
  assert.throws(listed([[DATA, null, null]]), gap(METADATA));
  assert.throws(listed([[DATA, null, g], rest]), gap(DATA));
  assert.throws(listed([[DATA, g, null], rest]), gap(DATA));
  assert.throws(listed([[DATA, null, g], [DATA, `${DATA}h`, null], rest]), gap(DATA));
  assert.throws(listed([[DATA, null, g], [DATA, `${DATA}f`, null], rest]), gap(DATA));
  assert.throws(listed([[DATA, g, null], [DATA, null, g], rest]), gap(DATA));
  assert.throws(listed([[DATA, null, null], [DATA, g, `${DATA}h`], rest]), gap(DATA));
  assert.throws(listed([[DATA, null, null], [DATA, null, null], rest]), gap(DATA));
});

test('the same prefix in another bucket is another root', () => {
  assert.throws(
    changed((value) => {
      const other = { ...value.plan.roots[0]!, bucket: 'c' };
      value.plan = { ...value.plan, roots: [...value.plan.roots, other] };
    }),
    { ...listingIncomplete, message: /s3:\/\/c\/wh\/t\/data\/ has a gap/ },
  );
});
