import assert from 'node:assert/strict';
import test from 'node:test';
import { FilterMismatchError } from '#shared/errors.ts';
import { FingerprintUnion } from '#shared/filter/fingerprints.ts';
import { decodeFilterShard, encodeFilterShard } from '#shared/filter/shard-file.ts';

const SALT = '00ff00ff00ff00ff';

function sorted(...values: bigint[]): BigUint64Array {
  return BigUint64Array.from(values).sort();
}

/** A fingerprint with both halves set, as hashes are. */
function hash(value: number): bigint {
  return BigInt.asUintN(64, BigInt(value + 1) * 0x9e3779b97f4a7c15n);
}

function union(...runs: BigUint64Array[]): FingerprintUnion {
  return new FingerprintUnion(runs);
}

function shardOf(): Buffer {
  return encodeFilterShard(union(sorted(hash(5), hash(8), hash(9))), union(sorted(hash(7))), SALT).bytes;
}

function changed(change: (bytes: Buffer) => void): Buffer {
  const bytes = Buffer.from(shardOf());
  change(bytes);
  return bytes;
}

test('a shard answers for content and metadata apart after it was written and read', () => {
  const shard = decodeFilterShard(shardOf(), SALT, 's');

  assert.deepEqual([shard.contentEntries, shard.metadataEntries], [3, 1]);
  for (const fingerprint of [5, 8, 9].map(hash)) assert.ok(shard.hasContent(fingerprint));
  assert.ok(shard.hasMetadata(hash(7)));
  assert.equal(shard.hasMetadata(hash(5)), false);
  assert.equal(shard.hasContent(hash(7)), false);
});

test('a shard without references is a shard, and finds nothing', () => {
  const shard = decodeFilterShard(encodeFilterShard(union(), union(), SALT).bytes, SALT, 's');

  assert.deepEqual([shard.contentEntries, shard.metadataEntries], [0, 0]);
  for (let value = 0; value < 1000; value++) assert.equal(shard.hasContent(hash(value)), false);
});

test('the layout is the documented one: raw bits after 96 bytes (SM-12)', () => {
  const bytes = shardOf();

  assert.equal(bytes.toString('latin1', 0, 8), 'ICSWPFLT');
  assert.deepEqual([bytes.readUInt32LE(8), bytes.readUInt32LE(12)], [1, 13]);
  assert.equal(bytes.readBigUInt64LE(16), BigInt(`0x${SALT}`));
  assert.equal(bytes.toString('latin1', 24, 29), 'xxh64');
  assert.equal(bytes.length, 96 + Number(bytes.readBigUInt64LE(32) + bytes.readBigUInt64LE(48)) / 8);
  assert.deepEqual([bytes.readBigUInt64LE(40), bytes.readBigUInt64LE(56)], [3n, 1n]);
});

const BROKEN: Readonly<Record<string, Buffer>> = {
  empty: Buffer.alloc(0),
  'only a header': shardOf().subarray(0, 96),
  'half a header': shardOf().subarray(0, 40),
  'cut by a byte': shardOf().subarray(0, -1),
  'a byte too long': Buffer.concat([shardOf(), Buffer.alloc(1)]),
  'another magic': changed((bytes) => bytes.write('ICSWPFLX', 0, 'latin1')),
  'another version': changed((bytes) => bytes.writeUInt32LE(2, 8)),
  'another k': changed((bytes) => bytes.writeUInt32LE(11, 12)),
  'another hash': changed((bytes) => bytes.write('mur3', 24, 'latin1')),
  'a cleared bit': changed((bytes) => bytes.fill(0, bytes.length - 8192, bytes.length)),
  'fewer entries': changed((bytes) => bytes.writeBigUInt64LE(1n, 40)),
  'no bits': changed((bytes) => bytes.writeBigUInt64LE(0n, 32)),
  'bits that are no words': changed((bytes) => bytes.writeBigUInt64LE(65_537n, 32)),
  'far more bits than bytes': changed((bytes) => bytes.writeBigUInt64LE(2n ** 60n, 32)),
};

for (const [what, bytes] of Object.entries(BROKEN)) {
  test(`a shard file is refused: ${what} (SM-13)`, () => {
    assert.throws(() => decodeFilterShard(bytes, SALT, 's'), FilterMismatchError);
  });
}

test('a shard of another run is refused by its salt', () => {
  assert.throws(() => decodeFilterShard(shardOf(), '00ff00ff00ff00fe', 's'), /salt of another run/);
});
