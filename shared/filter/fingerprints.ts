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

/** How many of `wanted` (sorted, distinct) are not in `present` (sorted, may repeat). */
export function countAbsent(wanted: BigUint64Array, present: BigUint64Array): number {
  let absent = 0;
  let at = 0;
  for (const fingerprint of wanted) {
    while (at < present.length && (present[at] as bigint) < fingerprint) at++;
    if (at === present.length || present[at] !== fingerprint) absent++;
  }
  return absent;
}

function requireLittleEndian(): void {
  if (new Uint8Array(new Uint16Array([1]).buffer)[0] !== 1)
    throw new Error('Fingerprints need a little-endian machine.');
}
