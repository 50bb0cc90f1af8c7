import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { BloomFilter, bitsFor, expectedFpp, highHalf, lowHalf, PROBES, TARGET_FPP } from '#shared/filter/bloom.ts';
import { createKeyHasher } from '#shared/filter/key-hash.ts';

const hasher = await createKeyHasher('0123456789abcdef');

function filterOf(keys: Iterable<string>, count: number): BloomFilter {
  const filter = new BloomFilter(bitsFor(count));
  for (const key of keys) {
    const fingerprint = hasher.ofString(key);
    filter.add(lowHalf(fingerprint), highHalf(fingerprint));
  }
  return filter;
}

function has(filter: BloomFilter, key: string): boolean {
  const fingerprint = hasher.ofString(key);
  return filter.has(lowHalf(fingerprint), highHalf(fingerprint));
}

function* names(count: number, prefix: string): Generator<string> {
  for (let index = 0; index < count; index++) yield `${prefix}${index}`;
}

function measured(entries: number, probes: number): number {
  const filter = filterOf(names(entries, 'live/'), entries);
  let found = 0;
  for (const key of names(probes, 'dead/')) if (has(filter, key)) found++;
  return found / probes;
}

test('what was inserted is always found', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'binary' }), { maxLength: 300 }), (keys) => {
      const filter = filterOf(keys, keys.length);
      for (const key of keys) assert.ok(has(filter, key));
    }),
  );
});

test('a filter has about 19.2 bits an entry: 24 MB for 10M', () => {
  assert.equal(PROBES, 13);
  assert.ok(Math.abs(bitsFor(10_000_000) / 10_000_000 - 19.17) < 0.02);
  assert.ok(bitsFor(10_000_000) / 8 < 25_000_000);
  assert.ok(Math.abs(expectedFpp(bitsFor(10_000_000), 10_000_000) - TARGET_FPP) < TARGET_FPP / 100);
});

test('the false-positive rate is the promised one', () => {
  const rate = measured(200_000, 1_000_000);
  assert.ok(rate > TARGET_FPP * 0.6 && rate < TARGET_FPP * 1.4, `measured ${rate}`);
});

test('small filters do not answer wrongly more often than large ones', () => {
  for (const entries of [0, 1, 7, 100, 3000]) {
    const rate = measured(entries, 200_000);
    assert.ok(rate <= TARGET_FPP * 1.5, `${entries} entries: ${rate}`);
  }
});

test('a filter that holds ten times what it was sized for shows it in its expected rate (SM-09)', () => {
  assert.ok(expectedFpp(bitsFor(100_000), 1_000_000) > 0.9);
});

test('probe i sets the bit (low + i * step) mod bits, step being the odd upper half', () => {
  for (const bits of [64, 65_536, 191_701_184, 2 ** 32 - 64]) {
    for (const fingerprint of [0n, 1n, 0xfffffffffffffffen, 0x8000000080000000n, 0x0123456789abcdefn]) {
      const set = new Set<number>();
      const bytes = new Proxy({ length: bits / 8 } as Record<number, number> & Uint8Array, {
        get: (target, name) => (name === 'length' ? target.length : 0),
        set: (_, name, value: number) => set.add(Number(name) * 8 + Math.log2(value)) !== undefined,
      });
      new BloomFilter(bits, bytes).add(lowHalf(fingerprint), highHalf(fingerprint));
      const step = (fingerprint >> 32n) | 1n;
      const expected = Array.from({ length: PROBES }, (_, probe) =>
        Number(((fingerprint & 0xffffffffn) + BigInt(probe) * step) % BigInt(bits)),
      );
      assert.deepEqual([...set].sort(), [...new Set(expected)].sort());
    }
  }
});

test('sizes that no filter has are refused', () => {
  for (const bits of [0, -64, 63, 65, 1.5, Number.NaN, 2 ** 32]) assert.throws(() => new BloomFilter(bits), RangeError);
  assert.throws(() => new BloomFilter(128, new Uint8Array(8)), RangeError);
});

test('the hash is XXH64, and another salt gives another fingerprint', async () => {
  const unsalted = await createKeyHasher('0000000000000000');
  assert.equal(unsalted.ofString(''), 0xef46db3751d8e999n);
  assert.equal(unsalted.ofString('wh/é'), unsalted.ofBytes(Buffer.from('wh/é')));
  assert.notEqual(hasher.ofString('wh/é'), unsalted.ofString('wh/é'));
  await assert.rejects(createKeyHasher('xyz'), RangeError);
});

test('a false positive of one run is none in the next', async () => {
  const salts = ['0000000000000001', '0000000000000002'];
  const missed: Set<string>[] = [];
  for (const salt of salts) {
    const salted = await createKeyHasher(salt);
    const filter = new BloomFilter(bitsFor(20_000));
    const halves = (key: string) => {
      const fingerprint = salted.ofString(key);
      return [lowHalf(fingerprint), highHalf(fingerprint)] as const;
    };
    for (const key of names(20_000, 'live/')) filter.add(...halves(key));
    missed.push(new Set([...names(300_000, 'dead/')].filter((key) => filter.has(...halves(key)))));
  }
  const [first, second] = missed as [Set<string>, Set<string>];
  assert.ok(first.size > 0 && second.size > 0);
  assert.deepEqual(
    [...first].filter((key) => second.has(key)),
    [],
  );
});
