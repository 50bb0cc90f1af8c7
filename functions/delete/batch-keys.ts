/** What became of each key of a batch: every key ends in exactly one result, the first one that is told stands. */
import type { DeleteReplyNote, SettledKey } from '#shared/run/outcomes.ts';
import type { CandidateLine } from '#shared/run/receipts.ts';

/** Requests that may ask for a key before it is given up. */
const TRIES = 5;

export class BatchKeys {
  readonly lines: readonly CandidateLine[];
  readonly settled = new Map<string, SettledKey>();
  readonly #tries = new Map<string, number>();
  readonly #givenUp = new Set<string>();

  constructor(lines: readonly CandidateLine[]) {
    this.lines = lines;
  }

  /** Keys that are still to be asked for. */
  open(): CandidateLine[] {
    return this.lines.filter(({ key }) => !this.settled.has(key) && !this.#givenUp.has(key));
  }

  /** Keys that were asked for too often, without a result. */
  givenUp(): CandidateLine[] {
    return this.lines.filter(({ key }) => !this.settled.has(key) && this.#givenUp.has(key));
  }

  settle(entry: SettledKey): void {
    if (!this.settled.has(entry.key)) this.settled.set(entry.key, entry);
  }

  leaveRest(): void {
    for (const { key } of this.open()) this.settle({ key, result: 'left' });
  }

  /** Takes the answer to a request for these keys. A key that was asked for too often is given up. */
  apply(asked: readonly string[], reply: DeleteReplyNote): void {
    for (const entry of reply.settled) this.settle(entry);
    if (reply.unsent === true) return;
    const held = new Set(reply.held);
    for (const key of asked) {
      if (held.has(key)) continue;
      const tries = (this.#tries.get(key) ?? 0) + (reply.throttled ? 0 : 1);
      this.#tries.set(key, tries);
      if (tries >= TRIES) this.#givenUp.add(key);
    }
  }
}
