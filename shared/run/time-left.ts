/** When a worker stops and hands on what it has: read from the invocation's own clock, never from a constant (OR-16, SM-14). */
import type { Budget } from '#shared/runtime/stage-ports.ts';

/** What writing the last objects and the progress may take. */
const RESERVE_MS = 30_000;
/** Of a short invocation at most this share is held back, so that it does more than one step. */
const RESERVED_SHARE = 0.25;

export class TimeLeft {
  readonly #budget: Budget;
  readonly #reserveMs: number;

  constructor(budget: Budget) {
    this.#budget = budget;
    this.#reserveMs = Math.min(RESERVE_MS, budget.remainingMs() * RESERVED_SHARE);
  }

  /** True once the worker should take up no further step. */
  get isShort(): boolean {
    return this.#budget.remainingMs() <= this.#reserveMs;
  }
}
