/** Runs of 64-bit fingerprints: growing, sorting, writing as little-endian bytes, reading back, merging. */

/** A growable list of fingerprints; 8 bytes each, doubled when full. */
export class FingerprintList {
  #values = new BigUint64Array(64);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(fingerprint: bigint): void {
    if (this.#length === this.#values.length) {
      const larger = new BigUint64Array(this.#values.length * 2);
      larger.set(this.#values);
      this.#values = larger;
    }
    this.#values[this.#length++] = fingerprint;
  }

  pushAll(fingerprints: BigUint64Array): void {
    const needed = this.#length + fingerprints.length;
    if (needed > this.#values.length) {
      const larger = new BigUint64Array(Math.max(needed, this.#values.length * 2));
      larger.set(this.#values.subarray(0, this.#length));
      this.#values = larger;
    }
    this.#values.set(fingerprints, this.#length);
    this.#length = needed;
  }

  /** A sorted copy-free view; the list must not be pushed to afterwards. */
  sorted(): BigUint64Array {
    return this.#values.subarray(0, this.#length).sort();
  }
}

/** Sorted input, equal neighbours dropped; a view on the same memory. */
export function distinctSorted(sorted: BigUint64Array): BigUint64Array {
  let kept = 0;
  for (let index = 0; index < sorted.length; index++) {
    if (index === 0 || sorted[index] !== sorted[index - 1]) sorted[kept++] = sorted[index] as bigint;
  }
  return sorted.subarray(0, kept);
}

/** Little-endian bytes; every machine that runs this is little-endian, which is checked. */
export function toBytes(fingerprints: BigUint64Array): Buffer {
  requireLittleEndian();
  return Buffer.from(fingerprints.buffer, fingerprints.byteOffset, fingerprints.byteLength);
}

/** The fingerprints of `bytes`, copied where the memory is not aligned. */
export function fromBytes(bytes: Uint8Array): BigUint64Array {
  requireLittleEndian();
  if (bytes.length % 8 !== 0) throw new RangeError(`${bytes.length} bytes are no whole number of fingerprints.`);
  if (bytes.byteOffset % 8 === 0) return new BigUint64Array(bytes.buffer, bytes.byteOffset, bytes.length / 8);
  return new BigUint64Array(Uint8Array.from(bytes).buffer);
}

/** Whether no fingerprint is below its predecessor. */
export function isSorted(fingerprints: BigUint64Array): boolean {
  const halves = halvesOf(fingerprints);
  for (let at = 2; at < halves.length; at += 2) {
    const [low, high, lowBefore, highBefore] = [halves[at], halves[at + 1], halves[at - 2], halves[at - 1]] as number[];
    if ((high as number) < (highBefore as number)) return false;
    if (high === highBefore && (low as number) < (lowBefore as number)) return false;
  }
  return true;
}

/**
 * The union of several runs, each sorted and distinct, without making it: a key range of 10M references would otherwise be
 * in memory twice. Walks on 32-bit halves, since a BigInt per element costs more than the rest.
 */
export class FingerprintUnion {
  readonly #runs: readonly Uint32Array[];
  /** Distinct fingerprints. */
  readonly size: number;

  constructor(runs: readonly BigUint64Array[]) {
    this.#runs = runs.filter((run) => run.length > 0).map(halvesOf);
    let size = 0;
    if (this.#runs.length <= 1) size = (this.#runs[0]?.length ?? 0) / 2;
    else {
      this.forEach(() => {
        size++;
      });
    }
    this.size = size;
  }

  /** Visits every distinct fingerprint once, in order, as its unsigned halves. */
  forEach(visit: (low: number, high: number) => void): void {
    const runs = this.#runs;
    const at = runs.map(() => 0);
    for (;;) {
      let low = 0;
      let high = -1;
      for (let run = 0; run < runs.length; run++) {
        const halves = runs[run] as Uint32Array;
        const index = at[run] as number;
        if (index >= halves.length) continue;
        const [nextLow, nextHigh] = [halves[index] as number, halves[index + 1] as number];
        if (high < 0 || nextHigh < high || (nextHigh === high && nextLow < low)) {
          low = nextLow;
          high = nextHigh;
        }
      }
      if (high < 0) return;
      visit(low, high);
      for (let run = 0; run < runs.length; run++) {
        const halves = runs[run] as Uint32Array;
        const index = at[run] as number;
        if (halves[index] === low && halves[index + 1] === high) at[run] = index + 2;
      }
    }
  }

  /** How many of these (sorted, distinct) are not in the union. */
  countAbsent(wanted: BigUint64Array): number {
    return new FingerprintUnion([wanted, ...this.#runs.map(wholeOf)]).size - this.size;
  }
}

function halvesOf(fingerprints: BigUint64Array): Uint32Array {
  requireLittleEndian();
  return new Uint32Array(fingerprints.buffer, fingerprints.byteOffset, fingerprints.length * 2);
}

function wholeOf(halves: Uint32Array): BigUint64Array {
  return new BigUint64Array(halves.buffer, halves.byteOffset, halves.length / 2);
}

function requireLittleEndian(): void {
  if (new Uint8Array(new Uint16Array([1]).buffer)[0] !== 1)
    throw new Error('Fingerprints need a little-endian machine.');
}
