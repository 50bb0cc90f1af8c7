import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { FilterMismatchError } from '#shared/errors.ts';
import {
  distinctSorted,
  FingerprintList,
  FingerprintUnion,
  fromBytes,
  isSorted,
  toBytes,
} from '#shared/filter/fingerprints.ts';
import { RangeIndex } from '#shared/filter/key-ranges.ts';

// Few values, so that equal ones meet, and the extremes of both halves.
const fingerprint = fc.constantFrom(0n, 1n, 2n, 0xffffffffn, 0x100000000n, 0x1_0000_0001n, 2n ** 63n, 2n ** 64n - 1n);
const run = fc.array(fingerprint, { maxLength: 12 });
const ascending = (a: bigint, b: bigint) => (a < b ? -1 : a > b ? 1 : 0);

function distinct(values: readonly bigint[]): BigUint64Array {
  return distinctSorted(BigUint64Array.from(values).sort());
}

test('sorted runs become distinct, whatever repeats', () => {
  fc.assert(
    fc.property(run, (values) => {
      assert.deepEqual([...distinct(values)], [...new Set(values)].sort(ascending));
    }),
  );
});

test('a union visits every fingerprint of its runs once, in order, and knows its size', () => {
  fc.assert(
    fc.property(fc.array(run, { maxLength: 4 }), (runs) => {
      const union = new FingerprintUnion(runs.map(distinct));
      const visited: bigint[] = [];
      union.forEach((low, high) => {
        visited.push((BigInt(high) << 32n) | BigInt(low));
      });

      assert.deepEqual(visited, [...new Set(runs.flat())].sort(ascending));
      assert.equal(union.size, visited.length);
    }),
  );
});

test('countAbsent counts what no run has', () => {
  fc.assert(
    fc.property(run, run, run, (wanted, first, second) => {
      const union = new FingerprintUnion([distinct(first), distinct(second)]);
      const present = new Set([...first, ...second]);
      const expected = [...new Set(wanted)].filter((value) => !present.has(value)).length;
      assert.equal(union.countAbsent(distinct(wanted)), expected);
    }),
  );
});

test('isSorted compares unsigned 64-bit numbers', () => {
  fc.assert(
    fc.property(run, (values) => {
      const expected = values.every((value, index) => index === 0 || value >= (values[index - 1] as bigint));
      assert.equal(isSorted(BigUint64Array.from(values)), expected);
    }),
  );
});

test('bytes and fingerprints are each other, aligned or not', () => {
  const values = BigUint64Array.from([1n, 2n ** 64n - 1n]);
  const bytes = toBytes(values);

  assert.equal(bytes.toString('hex'), '0100000000000000ffffffffffffffff');
  assert.deepEqual(fromBytes(bytes), values);
  assert.deepEqual(fromBytes(Buffer.concat([Buffer.alloc(1), bytes]).subarray(1)), values);
  assert.throws(() => fromBytes(Buffer.alloc(9)), RangeError);
});

test('a list grows and keeps everything', () => {
  const list = new FingerprintList();
  for (let value = 999n; value >= 0n; value--) list.push(value);
  list.pushAll(BigUint64Array.from({ length: 5000 }, (_, index) => BigInt(1000 + index)));

  assert.equal(list.length, 6000);
  assert.deepEqual(
    [...list.sorted()],
    Array.from({ length: 6000 }, (_, index) => BigInt(index)),
  );
});

const hex = (text: string) => Buffer.from(text).toString('hex');

test('every key lies in exactly one range, found by its bytes', () => {
  const cuts = ['b', 'b/x', '\u{ff5e}', '\u{1f600}'];
  const bounds = [null, ...cuts.map(hex), null];
  const index = new RangeIndex(bounds.slice(1).map((to, at) => ({ from: bounds[at] ?? null, to })));

  assert.equal(index.size, 5);
  const found = (key: string) => index.find(Buffer.from(key));
  assert.deepEqual(['', 'a', 'b', 'b/w', 'b/x', 'b/xa', 'z'].map(found), [0, 0, 1, 1, 2, 2, 2]);
  // By UTF-16 units the second would come before the first.
  assert.deepEqual(['\u{ff5e}', '\u{1f600}', '\u{1f601}'].map(found), [3, 4, 4]);
});

test('ranges that leave a gap, overlap or do not cover everything are refused', () => {
  const broken = [
    [],
    [{ from: hex('a'), to: null }],
    [{ from: null, to: hex('a') }],
    [
      { from: null, to: hex('a') },
      { from: hex('b'), to: null },
    ],
    [
      { from: null, to: hex('b') },
      { from: hex('b'), to: hex('a') },
      { from: hex('a'), to: null },
    ],
    [
      { from: null, to: null },
      { from: null, to: null },
    ],
  ];
  for (const ranges of broken) assert.throws(() => new RangeIndex(ranges), FilterMismatchError, JSON.stringify(ranges));
});
