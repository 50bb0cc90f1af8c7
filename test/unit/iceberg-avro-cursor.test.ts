import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { AvroCursor, AvroError } from '#shared/iceberg/avro-cursor.ts';

/** Zig-zag as Avro writes it. */
function varint(value: bigint): number[] {
  let rest = BigInt.asUintN(64, (value << 1n) ^ (value >> 63n));
  const bytes: number[] = [];
  for (; rest > 0x7fn; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
  return [...bytes, Number(rest)];
}

const MOST = 2n ** 63n - 1n;
const numbers = fc.array(
  fc.oneof(fc.bigInt(-70n, 70n), fc.bigInt(-(2n ** 20n), 2n ** 20n), fc.bigInt(-MOST - 1n, MOST)),
  { minLength: 1, maxLength: 40 },
);
const pairs = fc.array(
  fc.tuple(
    fc.oneof(fc.bigInt(0n, 63n), fc.bigInt(-MOST, MOST)),
    fc.oneof(fc.uint8Array({ maxLength: 8 }), fc.uint8Array({ minLength: 60, maxLength: 140 })),
  ),
  { minLength: 1, maxLength: 12 },
);

/** Something stands before and after, so that what is found is not just the end of the buffer. */
function cursorOver(bytes: readonly number[], tail: number): AvroCursor {
  return new AvroCursor(Buffer.from([0x80, ...bytes, ...Array(tail).fill(0x01)]), 1);
}

test('numbers in a row end where they end one by one', () => {
  fc.assert(
    fc.property(numbers, fc.nat(9), (values, tail) => {
      const bytes = values.flatMap(varint);
      const cursor = cursorOver(bytes, tail);
      cursor.skipVarints(values.length);
      assert.equal(cursor.pos, 1 + bytes.length);
    }),
  );
});

test('pairs of a number and bytes end where they end one by one', () => {
  fc.assert(
    fc.property(pairs, fc.nat(9), (values, tail) => {
      const bytes = values.flatMap(([key, value]) => [...varint(key), ...varint(BigInt(value.length)), ...value]);
      const cursor = cursorOver(bytes, tail);
      cursor.skipNumbersAndBytes(values.length);
      assert.equal(cursor.pos, 1 + bytes.length);
    }),
  );
});

test('data that ends anywhere inside a row is an error, also where the buffer goes on', () => {
  fc.assert(
    fc.property(numbers, pairs, (alone, paired) => {
      const rows: [number[], (cursor: AvroCursor) => void][] = [
        [alone.flatMap(varint), (cursor) => cursor.skipVarints(alone.length)],
        [
          paired.flatMap(([key, value]) => [...varint(key), ...varint(BigInt(value.length)), ...value]),
          (cursor) => cursor.skipNumbersAndBytes(paired.length),
        ],
      ];
      for (const [bytes, skip] of rows) {
        for (let end = 0; end < bytes.length; end++) {
          assert.throws(() => skip(new AvroCursor(Buffer.from(bytes), 0, end)), AvroError);
          assert.throws(() => skip(new AvroCursor(Buffer.from(bytes.slice(0, end)))), AvroError);
        }
      }
    }),
    { numRuns: 20 },
  );
});

test('a negative length is an error, not a step back', () => {
  const bytes = Buffer.from([0x02, ...varint(-1n), 0, 0, 0]);
  assert.throws(() => new AvroCursor(bytes).skipNumbersAndBytes(1), AvroError);
});
