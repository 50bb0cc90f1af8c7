import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { foldKey, foldReference } from '#shared/identity/fold-key.ts';

const ALPHABET = [
  ...'ab4eF01 +%#?&;=:@\'"~^/',
  '//',
  'é',
  'é',
  'Å',
  '\u{1F600}',
  '%2F',
  '%41',
  '%e9',
  '%C3%A9',
  '..',
  'data',
  'İ',
  'ς',
];
const keys = fc.array(fc.constantFrom(...ALPHABET), { minLength: 1, maxLength: 14 }).map((parts) => parts.join(''));
const RUNS = { numRuns: 10_000, seed: 20260131 };

const hex = (byte: number, upper: boolean) =>
  `%${byte.toString(16).padStart(2, '0')}`[upper ? 'toUpperCase' : 'toString']();

/** A spelling that a writer may record for a key: some of its bytes percent-encoded (all `%` then, or none), slashes doubled, a scheme. */
function spelling(key: string, choice: readonly number[]): string {
  const pick = (index: number) => choice[index % choice.length] as number;
  const form = pick(0) % 3 === 0 ? key.normalize('NFD') : pick(0) % 3 === 1 ? key.normalize('NFC') : key;
  const encodePercent = pick(1) % 2 === 0;
  const encoded = [...form].map((character, index) => {
    const wanted = character === '%' ? encodePercent : pick(index + 2) % 3 === 0;
    const bytes = wanted
      ? [...Buffer.from(character)].map((byte) => hex(byte, pick(index) % 2 === 0)).join('')
      : character;
    return character === '/' && pick(index + 3) % 4 === 0 ? '//' : bytes;
  });
  const prefix = ['s3://b/', 's3a://other/', 'S3N://b/', 'file:///', 'file:/', 'hdfs://name:8020//'][
    pick(4) % 6
  ] as string;
  // After `file:/` a second slash would begin an authority.
  return prefix + (prefix === 'file:/' ? encoded.join('').replace(/^\/+/, '') : encoded.join(''));
}

test('any recorded spelling of a key folds to the fold of the listed key (PI-12)', () => {
  const choices = fc.array(fc.nat(1000), { minLength: 5, maxLength: 20 });
  fc.assert(
    fc.property(keys, choices, (key, choice) => {
      assert.equal(foldReference(spelling(key, choice)), foldKey(key));
    }),
    RUNS,
  );
});

test('folding is idempotent, with and without case', () => {
  fc.assert(
    fc.property(keys, fc.boolean(), (key, ignoreCase) => {
      const fold = foldKey(key, ignoreCase);
      assert.equal(foldKey(fold, ignoreCase), fold);
      // An escape that stays, being no UTF-8, may stand before an accent.
      if (!/%[89A-F]/i.test(fold)) assert.equal(fold.normalize('NFC'), fold);
      assert.doesNotMatch(fold, /\/\/|^\//);
    }),
    RUNS,
  );
});

test('any bytes behind percent signs fold to text that stays', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 30 }), (bytes) => {
      const fold = foldKey(Buffer.from(bytes).toString('hex').replace(/../g, '%$&'));
      assert.ok(fold.isWellFormed());
      assert.equal(foldKey(fold), fold);
    }),
    { numRuns: 3000 },
  );
});

test('every single character folds to a fixed point, whatever its case', () => {
  for (let point = 1; point < 0x3_0000; point++) {
    if (point >= 0xd800 && point <= 0xdfff) continue;
    const character = String.fromCodePoint(point);
    const [lower, upper] = [foldKey(character.toLowerCase(), true), foldKey(character.toUpperCase(), true)];
    const fold = foldKey(character, true);
    if (foldKey(fold, true) !== fold || lower !== fold || upper !== fold) {
      assert.fail(`U+${point.toString(16)}: ${fold} ${lower} ${upper}`);
    }
  }
});

const folds: readonly (readonly [string, string, string])[] = [
  ['PI-04 double slashes', 'wh/t//data/x.parquet', 'wh/t/data/x.parquet'],
  ['PI-06 percent-encoded values', 'wh/t/data/name=a%2Fb/x', 'wh/t/data/name=a/b/x'],
  ['double encoding', 'a%25252Fb', 'a/b'],
  ['escapes that decoding completes', '%%32%35x', '%x'],
  ['a percent sign alone', 'a%zz/100%', 'a%zz/100%'],
  ['bytes that are no UTF-8', 'a%e9b', 'a%E9b'],
  ['PI-08 # and ?', 'data/c=a#1/x?y', 'data/c=a#1/x?y'],
  ['plus is plus', 'a+b', 'a+b'],
  ['a scheme in a listed key is text', 's3://b/x', 's3:/b/x'],
  ['a leading slash', '/wh/t', 'wh/t'],
  ['a trailing slash stays', 'wh/t//', 'wh/t/'],
  ['PI-09 dot segments', 'a/../b/./c', 'a/../b/./c'],
  ['decomposed letters', 'cafe\u0301', 'café'],
  ['an accent on a hex digit', '%4\u00e9', '\u0143'],
];
for (const [name, key, fold] of folds) {
  test(`folds ${name}`, () => assert.equal(foldKey(key), fold));
}

const cuts: readonly (readonly [string, string])[] = [
  ['s3://b/wh/t', 'wh/t'],
  ['S3A://My_Bkt/wh/t', 'wh/t'],
  ['file:/wh/t', 'wh/t'],
  ['file:///wh/t', 'wh/t'],
  ['FILE:/wh/t', 'wh/t'],
  ['/wh/t', 'wh/t'],
  ['s3://b', ''],
  ['s3://b/data/x://y', 'data/x:/y'],
  ['data/s3://b/x', 'data/s3:/b/x'],
  ['abfss://c@a.dfs.core.windows.net/x', 'x'],
];
for (const [path, key] of cuts) {
  test(`cuts scheme and authority off ${path}`, () => assert.equal(foldReference(path), key));
}

test('a fold keeps different files apart (PI-13)', () => {
  const different = [
    'data/p=1/0.parquet',
    'data/p=2/0.parquet',
    'data/P=1/0.parquet',
    'data/p=1/0.parquet/',
    'p=1/0.parquet',
    'data/p=1/0 .parquet',
  ];
  assert.equal(new Set(different.map((key) => foldKey(key))).size, different.length);
});
