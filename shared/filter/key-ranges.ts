/** Finding the key range of a folded key: half-open intervals of UTF-8 bytes that cover everything exactly once. */
import { FilterMismatchError } from '#shared/errors.ts';

/** `[from, to)` in byte order, hex of UTF-8 bytes; null is unbounded. */
export interface RangeBounds {
  readonly from: string | null;
  readonly to: string | null;
}

/** Looks up ranges; made once per worker. Throws where the ranges leave a gap, overlap, or do not cover everything. */
export class RangeIndex {
  readonly #starts: readonly Buffer[];

  constructor(ranges: readonly RangeBounds[]) {
    const broken = (): never => {
      throw new FilterMismatchError('The key ranges of the plan do not cover every key exactly once; start a new run.');
    };
    if (ranges.length === 0 || ranges[0]?.from !== null || ranges.at(-1)?.to !== null) broken();
    for (let index = 1; index < ranges.length; index++) {
      const from = ranges[index]?.from ?? null;
      if (from === null || from !== ranges[index - 1]?.to) broken();
    }
    this.#starts = ranges.slice(1).map((range) => Buffer.from(range.from as string, 'hex'));
    for (let index = 1; index < this.#starts.length; index++) {
      if (Buffer.compare(this.#starts[index - 1] as Buffer, this.#starts[index] as Buffer) >= 0) broken();
    }
  }

  get size(): number {
    return this.#starts.length + 1;
  }

  /** Index of the range that holds a folded key, given as UTF-8 bytes. */
  find(key: Uint8Array): number {
    let low = 0;
    let high = this.#starts.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (Buffer.compare(this.#starts[middle] as Buffer, key) <= 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
