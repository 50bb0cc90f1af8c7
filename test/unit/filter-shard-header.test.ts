/** Headers that say what their bytes are not, under a checksum that is right: written wrong, not damaged later. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import test from 'node:test';
import { FingerprintUnion } from '#shared/filter/fingerprints.ts';
import { decodeFilterShard, encodeFilterShard } from '#shared/filter/shard-file.ts';

const SALT = '00ff00ff00ff00ff';

function written(change: (bytes: Buffer) => void, more = 0): Buffer {
  const references = new FingerprintUnion([BigUint64Array.from([5n, 8n, 9n])]);
  const bytes = Buffer.concat([
    encodeFilterShard(references, new FingerprintUnion([]), SALT).bytes,
    Buffer.alloc(more),
  ]);
  change(bytes);
  const sum = createHash('sha256').update(bytes.subarray(0, 64)).update(bytes.subarray(96)).digest();
  sum.copy(bytes, 64);
  return bytes;
}

test('a file of the length that it says is read', () => {
  assert.equal(
    decodeFilterShard(
      written(() => undefined),
      SALT,
      's',
    ).contentEntries,
    3,
  );
});

test('a file longer than its header says is refused', () => {
  assert.throws(
    () =>
      decodeFilterShard(
        written(() => undefined, 8),
        SALT,
        's',
      ),
    {
      name: 'FilterMismatchError',
      message: /its header promises/,
    },
  );
});

test('a filter that holds more than it was sized for is refused (SM-09)', () => {
  for (const at of [40, 56]) {
    assert.throws(
      () =>
        decodeFilterShard(
          written((bytes) => bytes.writeBigUInt64LE(10_000n, at)),
          SALT,
          's',
        ),
      {
        name: 'FilterMismatchError',
        message: /too full/,
      },
    );
  }
});
