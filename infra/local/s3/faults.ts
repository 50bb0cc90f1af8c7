/** Faults that a test orders from the server: by operation, bucket, key and count. */

export type FaultEffect =
  /** Answered in place of the work. */
  | { readonly error: { readonly status: number; readonly code: string } }
  /** The work is done, then the connection is cut: the answer is lost. */
  | { readonly loseAnswer: true }
  /** The connection is cut before the work. */
  | { readonly drop: true }
  | { readonly delayMs: number }
  /** The work is done and answered with 200 and this body, whole as HTTP has it. */
  | { readonly body: string }
  /** The connection is cut after so many bytes of the answer's body. */
  | { readonly truncateTo: number }
  /** Error codes for single keys of DeleteObjects. */
  | { readonly keyErrors: Readonly<Record<string, string>> };

export interface Fault {
  readonly operation?: string;
  readonly bucket?: string;
  /** Key or prefix as requested. */
  readonly key?: string;
  /** The first request that it strikes, counted from 1 among those that it is meant for. */
  readonly nth?: number;
  /** How often it strikes; absent: always. */
  readonly count?: number;
  readonly effect: FaultEffect;
}

export class FaultBook {
  #faults: { readonly fault: Fault; ahead: number; left: number }[] = [];

  add(fault: Fault): void {
    this.#faults.push({ fault, ahead: (fault.nth ?? 1) - 1, left: fault.count ?? Number.POSITIVE_INFINITY });
  }

  clear(): void {
    this.#faults = [];
  }

  /** The effect for a request, used up once. */
  take(operation: string, bucket: string, key: string): FaultEffect | undefined {
    const meant = this.#faults.filter(
      ({ fault, left }) =>
        left > 0 &&
        (fault.operation === undefined || fault.operation === operation) &&
        (fault.bucket === undefined || fault.bucket === bucket) &&
        (fault.key === undefined || fault.key === key),
    );
    const found = meant.find(({ ahead }) => ahead === 0);
    for (const entry of meant) if (entry.ahead > 0) entry.ahead--;
    if (found === undefined) return undefined;
    found.left--;
    return found.fault.effect;
  }
}
