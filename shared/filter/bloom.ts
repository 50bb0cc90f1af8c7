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
    if (!Number.isSafeInteger(bits) || bits <= 0 || bits % 64 !== 0) {
      throw new RangeError(`A filter has a positive multiple of 64 bits, not ${bits}.`);
    }
    if (bytes.length !== bits / 8) throw new RangeError(`${bits} bits need ${bits / 8} bytes, not ${bytes.length}.`);
    this.bits = bits;
    this.bytes = bytes;
  }

  add(low: number, high: number): void {
    let position = low;
    const step = (high | 1) >>> 0;
    for (let probe = 0; probe < PROBES; probe++) {
      const bit = position % this.bits;
      this.bytes[Math.floor(bit / 8)]! |= 1 << (bit & 7);
      // Below 2^53 for every probe: low + 13 * 2^32.
      position += step;
    }
  }

  has(low: number, high: number): boolean {
    let position = low;
    const step = (high | 1) >>> 0;
    for (let probe = 0; probe < PROBES; probe++) {
      const bit = position % this.bits;
      if ((this.bytes[Math.floor(bit / 8)]! & (1 << (bit & 7))) === 0) return false;
      position += step;
    }
    return true;
  }
}

/** Lower half of a fingerprint, unsigned. */
export function lowHalf(fingerprint: bigint): number {
  return Number(fingerprint & 0xffffffffn);
}

/** Upper half of a fingerprint, unsigned. */
export function highHalf(fingerprint: bigint): number {
  return Number(fingerprint >> 32n);
}
