/** Since when a batch has asked for keys without an answer for them: one that is gone by then is its own doing. */
import type { DeleteIntent, DeleteReplyNote } from './outcomes.ts';

export class AskedKeys {
  readonly #since = new Map<string, string>();

  /** Takes one request of the batch and what became of it. */
  note(intent: DeleteIntent, reply: DeleteReplyNote): void {
    if (reply.unsent === true || reply.rejected !== undefined) return;
    const answered = new Set(reply.held);
    for (const { key } of reply.settled) answered.add(key);
    for (const key of intent.keys) {
      if (!answered.has(key) && !this.#since.has(key)) this.#since.set(key, intent.at);
    }
  }

  /** Time of the first request for the key that left it without an answer. */
  since(key: string): string | undefined {
    return this.#since.get(key);
  }
}
