/**
 * The file of a filter shard: one key range, two filters (content and metadata references), raw bits, never compressed,
 * since half-full filters do not shrink. Layout, little-endian:
 *
 * ```
 *  0  magic 'ICSWPFLT'        8 bytes
 *  8  version                 u32
 * 12  k                       u32
 * 16  salt                    u64
 * 24  hash name, zero padded  8 bytes
 * 32  content bits, entries   u64, u64
 * 48  metadata bits, entries  u64, u64
 * 64  SHA-256                 32 bytes over bytes 0..63 and everything after the header
 * 96  content bits, then metadata bits
 * ```
 */
import { createHash } from 'node:crypto';
import { FilterMismatchError } from '#shared/errors.ts';
import { BloomFilter, bitsFor, expectedFpp, highHalf, lowHalf, PROBES, TARGET_FPP } from './bloom.ts';
import type { FingerprintUnion } from './fingerprints.ts';
import { HASH_NAME } from './key-hash.ts';

const MAGIC = 'ICSWPFLT';
const VERSION = 1;
const HEADER_BYTES = 96;
const CHECKED_BYTES = 64;

/** A loaded shard: what a lister asks. */
export interface FilterShard {
  readonly contentEntries: number;
  readonly metadataEntries: number;
  hasContent(fingerprint: bigint): boolean;
  hasMetadata(fingerprint: bigint): boolean;
}

export interface EncodedShard {
  readonly bytes: Buffer;
  /** The larger of the two filters' expected rates. */
  readonly expectedFpp: number;
}

/** Builds a shard, in the memory that becomes its file. */
export function encodeFilterShard(content: FingerprintUnion, metadata: FingerprintUnion, salt: string): EncodedShard {
  const [contentBits, metadataBits] = [bitsFor(content.size), bitsFor(metadata.size)];
  const bytes = Buffer.alloc(HEADER_BYTES + contentBits / 8 + metadataBits / 8);
  bytes.write(MAGIC, 0, 'latin1');
  bytes.writeUInt32LE(VERSION, 8);
  bytes.writeUInt32LE(PROBES, 12);
  bytes.writeBigUInt64LE(BigInt(`0x${salt}`), 16);
  bytes.write(HASH_NAME, 24, 8, 'latin1');
  bytes.writeBigUInt64LE(BigInt(contentBits), 32);
  bytes.writeBigUInt64LE(BigInt(content.size), 40);
  bytes.writeBigUInt64LE(BigInt(metadataBits), 48);
  bytes.writeBigUInt64LE(BigInt(metadata.size), 56);
  const split = HEADER_BYTES + contentBits / 8;
  fill(new BloomFilter(contentBits, bytes.subarray(HEADER_BYTES, split)), content);
  fill(new BloomFilter(metadataBits, bytes.subarray(split)), metadata);
  checksum(bytes, bytes.subarray(HEADER_BYTES, split), bytes.subarray(split)).copy(bytes, CHECKED_BYTES);
  return {
    bytes,
    expectedFpp: Math.max(expectedFpp(contentBits, content.size), expectedFpp(metadataBits, metadata.size)),
  };
}

function fill(filter: BloomFilter, fingerprints: FingerprintUnion): void {
  fingerprints.forEach((low, high) => {
    filter.add(low, high);
  });
}

/**
 * Loads a shard and checks all of it. An empty, cut, foreign or altered file would say "not referenced" for live files, so
 * each of them is a {@link FilterMismatchError}.
 */
export function decodeFilterShard(bytes: Buffer, salt: string, name: string): FilterShard {
  const fail = (what: string): never => {
    throw new FilterMismatchError(`Filter shard ${name} ${what}; start a new run.`);
  };
  if (bytes.length < HEADER_BYTES) fail(`has ${bytes.length} bytes, less than its header`);
  if (bytes.toString('latin1', 0, 8) !== MAGIC) fail('does not begin as a filter shard');
  if (bytes.readUInt32LE(8) !== VERSION) fail(`has version ${bytes.readUInt32LE(8)}, not ${VERSION}`);
  if (bytes.readUInt32LE(12) !== PROBES) fail(`has ${bytes.readUInt32LE(12)} probes, not ${PROBES}`);
  if (bytes.readBigUInt64LE(16) !== BigInt(`0x${salt}`)) fail('has the salt of another run');
  const hashName = bytes.toString('latin1', 24, 32).replace(/\0+$/, '');
  if (hashName !== HASH_NAME) fail(`was hashed by ${hashName}, not ${HASH_NAME}`);
  const [contentBits, contentEntries, metadataBits, metadataEntries] = [32, 40, 48, 56].map((at) =>
    Number(bytes.readBigUInt64LE(at)),
  ) as [number, number, number, number];
  for (const bits of [contentBits, metadataBits]) {
    if (!Number.isSafeInteger(bits) || bits <= 0 || bits % 64 !== 0) fail(`states ${bits} bits`);
  }
  const expected = HEADER_BYTES + contentBits / 8 + metadataBits / 8;
  if (bytes.length !== expected) fail(`has ${bytes.length} bytes, its header promises ${expected}`);
  const content = bytes.subarray(HEADER_BYTES, HEADER_BYTES + contentBits / 8);
  const metadata = bytes.subarray(HEADER_BYTES + contentBits / 8);
  const stored = bytes.subarray(CHECKED_BYTES, HEADER_BYTES);
  if (!checksum(bytes.subarray(0, HEADER_BYTES), content, metadata).equals(stored)) fail('fails its checksum');
  for (const [bits, entries] of [
    [contentBits, contentEntries],
    [metadataBits, metadataEntries],
  ] as const) {
    const rate = expectedFpp(bits, entries);
    if (!(rate <= 2 * TARGET_FPP)) fail(`is too full: ${rate} false positives expected, ${TARGET_FPP} aimed at`);
  }
  const contentFilter = new BloomFilter(contentBits, content);
  const metadataFilter = new BloomFilter(metadataBits, metadata);
  return {
    contentEntries,
    metadataEntries,
    hasContent: (fingerprint) => contentFilter.has(lowHalf(fingerprint), highHalf(fingerprint)),
    hasMetadata: (fingerprint) => metadataFilter.has(lowHalf(fingerprint), highHalf(fingerprint)),
  };
}

function checksum(header: Uint8Array, content: Uint8Array, metadata: Uint8Array): Buffer {
  return createHash('sha256').update(header.subarray(0, CHECKED_BYTES)).update(content).update(metadata).digest();
}
