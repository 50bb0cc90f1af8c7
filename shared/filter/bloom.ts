/**
 * A classic Bloom filter over 64-bit fingerprints. k = 13 probes are derived from the two 32-bit halves of the fingerprint
 * (Kirsch and Mitzenmacher's double hashing, the second half made odd so that it reaches every bit).
 * An inserted fingerprint is always found; one that was not is found with about the probability the filter was sized for.
 */

export const PROBES = 13;
/** What a shard is sized for: 0.01 %. */
export const TARGET_FPP = 0.0001;

/**
 * The least size, 8 KB. Two numbers choose all probes, so that a filter of m bits knows about m²/2 patterns only: in a handful
 * of words far more keys than planned would share the pattern of an inserted one.
 */
const LEAST_BITS = 65_536;

/** Bits for `entries` distinct fingerprints at the target rate: about 19.2 a piece, in whole 64-bit words. */
export function bitsFor(entries: number): number {
  const bits = (-PROBES * entries) / Math.log(1 - TARGET_FPP ** (1 / PROBES));
  return Math.max(LEAST_BITS, Math.ceil(bits / 64) * 64);
}

/** The rate to expect of a filter with so many bits and distinct entries. */
export function expectedFpp(bits: number, entries: number): number {
  return entries === 0 ? 0 : (1 - Math.exp((-PROBES * entries) / bits)) ** PROBES;
}

export class BloomFilter {
  readonly bits: number;
  readonly bytes: Uint8Array;

  constructor(bits: number, bytes: Uint8Array = new Uint8Array(bits / 8)) {
    // Below 2^32, so that a bit's number fits the shifts of `add` and `has`: 223 million entries.
    if (!Number.isSafeInteger(bits) || bits <= 0 || bits % 64 !== 0 || bits >= 2 ** 32) {
      throw new RangeError(`A filter has a positive multiple of 64 bits below 2^32, not ${bits}.`);
    }
    if (bytes.length !== bits / 8) throw new RangeError(`${bits} bits need ${bits / 8} bytes, not ${bytes.length}.`);
    this.bits = bits;
    this.bytes = bytes;
  }

  add(low: number, high: number): void {
    const { bits, bytes } = this;
    let bit = low % bits;
    const step = stepOf(high, bits);
    for (let probe = 0; probe < PROBES; probe++) {
      bytes[bit >>> 3]! |= 1 << (bit & 7);
      bit += step;
      if (bit >= bits) bit -= bits;
    }
  }

  has(low: number, high: number): boolean {
    const { bits, bytes } = this;
    let bit = low % bits;
    const step = stepOf(high, bits);
    for (let probe = 0; probe < PROBES; probe++) {
      if ((bytes[bit >>> 3]! & (1 << (bit & 7))) === 0) return false;
      bit += step;
      if (bit >= bits) bit -= bits;
    }
    return true;
  }
}

/** Probe i stands at `(low + i * step) mod bits`: taken step by step, since a division for each costs more than all the rest. */
function stepOf(high: number, bits: number): number {
  return ((high | 1) >>> 0) % bits;
}

const cell = new BigUint64Array(1);
const halves = new Uint32Array(cell.buffer);
/** Which of the two is the lower: the other one on a big-endian machine. */
const LOW = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1 ? 0 : 1;

/** Lower half of a fingerprint, unsigned. By way of memory: arithmetic on BigInt allocates. */
export function lowHalf(fingerprint: bigint): number {
  cell[0] = fingerprint;
  return halves[LOW] as number;
}

/** Upper half of a fingerprint, unsigned. */
export function highHalf(fingerprint: bigint): number {
  cell[0] = fingerprint;
  return halves[1 - LOW] as number;
}
