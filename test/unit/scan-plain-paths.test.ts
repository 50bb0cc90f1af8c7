import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { PlainPaths } from '#functions/scan/plain-paths.ts';
import { ByteSpan } from '#shared/iceberg/avro-cursor.ts';
import { classifyReference } from '#shared/identity/references.ts';
import type { Plan } from '#shared/run/plan.ts';
import { planOf } from '../support/mark-world.ts';

const identity = planOf().identity;

const PLANS: Readonly<Record<string, Plan>> = {
  usual: planOf(),
  's3a is another store': planOf({ identity: { ...identity, equalSchemes: { s3a: 'other', s3n: 's3' } } }),
  'an alias': planOf({ identity: { ...identity, pathAliases: [{ from: 's3://b/wh', to: 's3://b/new' }] } }),
  'a store that ignores case': planOf({ identity: { ...identity, ignoreCase: true } }),
  'two buckets': planOf({
    roots: [...planOf().roots, { bucket: 'c', prefix: 'x/', scheme: 's3', authority: 'c' }],
  }),
  'two spellings of a root': planOf({
    roots: [...planOf().roots, { bucket: 'b', prefix: 'wh//t/data/', scheme: 's3', authority: 'b' }],
  }),
  'no roots': planOf({ roots: [] }),
};

/** Slashes and dots stand around it, which are none of its own. */
function spanOf(path: string): ByteSpan {
  const span = new ByteSpan();
  span.bytes = Buffer.from(`/${path}/.`);
  [span.start, span.end] = [1, span.bytes.length - 2];
  return span;
}

const part = fc.constantFrom('wh', 't', 'data', 'a', 'A', 'é', '%41', '%', '.', '..', '.h', '', ' ', '=');
const key = fc.array(part, { maxLength: 6 }).map((parts) => parts.join('/'));
const scheme = fc.constantFrom(
  's3://b/',
  's3a://b/',
  's3n://b/',
  'S3://b/',
  's3://c/',
  's3://bb/',
  'hdfs://b/',
  '/',
  '',
);

for (const [name, plan] of Object.entries(PLANS)) {
  test(`the short way says what classifyReference says: ${name}`, () => {
    const plain = new PlainPaths(plan);
    fc.assert(
      fc.property(
        scheme,
        fc.oneof(
          key,
          key.map((rest) => `wh/t/data/${rest}`),
        ),
        (start, rest) => {
          const path = start + rest;
          const short = plain.keyOf(spanOf(path));
          if (short === null) return;
          const long = classifyReference(path, plan.identity, plan.roots);
          assert.deepEqual(long.folded, [Buffer.from(short.key).toString()], path);
          assert.equal(long.coverageKey, long.folded[0]);
          assert.equal(long.insideRoots, short.inside, path);
          assert.equal(long.fault, undefined, path);
        },
      ),
      { numRuns: 3000 },
    );
  });
}

test('usual paths do go the short way', () => {
  const plain = new PlainPaths(planOf());
  for (const start of ['s3://b/', 's3a://b/', 's3n://b/']) {
    const found = plain.keyOf(spanOf(`${start}wh/t/data/day=1/x.parquet`));
    assert.equal(Buffer.from(found?.key ?? []).toString(), 'wh/t/data/day=1/x.parquet');
    assert.equal(found?.inside, true);
  }
});
