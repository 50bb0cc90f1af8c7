/** What became of each key of a batch: every key ends in exactly one result, the first one that is told stands. */
import type { DeleteReplyNote, SettledKey } from '#shared/run/outcomes.ts';
import type { CandidateLine } from '#shared/run/receipts.ts';

/** Requests that may ask for a key before it is left unknown. */
const TRIES = 5;

export class BatchKeys {
  readonly lines: readonly CandidateLine[];
  readonly settled = new Map<string, SettledKey>();
  readonly #byKey: ReadonlyMap<string, CandidateLine>;
  readonly #tries = new Map<string, number>();

  constructor(lines: readonly CandidateLine[]) {
    this.lines = lines;
    this.#byKey = new Map(lines.map((line) => [line.key, line]));
  }

  open(): CandidateLine[] {
    return this.lines.filter((line) => !this.settled.has(line.key));
  }

  linesOf(keys: readonly string[]): CandidateLine[] {
    return keys.map((key) => this.#byKey.get(key)).filter((line) => line !== undefined);
  }

  settle(entry: SettledKey): void {
    if (!this.settled.has(entry.key)) this.settled.set(entry.key, entry);
  }

  settleRest(result: 'left' | 'unknown'): void {
    for (const { key } of this.open()) this.settle({ key, result });
  }

  /** Takes the answer to a request for these keys. A key that was asked for too often is left unknown. */
  apply(asked: readonly string[], reply: DeleteReplyNote): void {
    for (const entry of reply.settled) this.settle(entry);
    if (reply.unsent === true) return;
    const held = new Set(reply.held);
    for (const key of asked) {
      if (held.has(key)) continue;
      const tries = (this.#tries.get(key) ?? 0) + (reply.throttled ? 0 : 1);
      this.#tries.set(key, tries);
      if (tries >= TRIES) this.settle({ key, result: 'unknown' });
    }
  }
}
