/** Faults that a test orders from the server: by operation, bucket, key and count. */

export type FaultEffect =
  /** Answered in place of the work. */
  | { readonly error: { readonly status: number; readonly code: string } }
  /** The work is done, then the connection is cut: the answer is lost. */
  | { readonly loseAnswer: true }
  /** The connection is cut before the work. */
  | { readonly drop: true }
  | { readonly delayMs: number }
  /** The body of the answer ends after so many bytes. */
  | { readonly truncateTo: number }
  /** Error codes for single keys of DeleteObjects. */
  | { readonly keyErrors: Readonly<Record<string, string>> };

export interface Fault {
  readonly operation?: string;
  readonly bucket?: string;
  /** Key or prefix as requested. */
  readonly key?: string;
  /** How often it strikes; absent: always. */
  readonly count?: number;
  readonly effect: FaultEffect;
}

export class FaultBook {
  #faults: { fault: Fault; left: number }[] = [];

  add(fault: Fault): void {
    this.#faults.push({ fault, left: fault.count ?? Number.POSITIVE_INFINITY });
  }

  clear(): void {
    this.#faults = [];
  }

  /** The effect for a request, used up once. */
  take(operation: string, bucket: string, key: string): FaultEffect | undefined {
    const found = this.#faults.find(
      ({ fault, left }) =>
        left > 0 &&
        (fault.operation === undefined || fault.operation === operation) &&
        (fault.bucket === undefined || fault.bucket === bucket) &&
        (fault.key === undefined || fault.key === key),
    );
    if (found === undefined) return undefined;
    found.left--;
    return found.fault.effect;
  }
}
