/** Lets through as many pieces of work as fit into so many bytes together; a larger one goes alone. In order of asking. */
export class ByteGate {
  readonly #limit: number;
  readonly #waiting: { readonly bytes: number; readonly enter: () => void }[] = [];
  #held = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  async hold<T>(bytes: number, work: () => Promise<T>): Promise<T> {
    const held = Math.min(bytes, this.#limit);
    await new Promise<void>((enter) => {
      this.#waiting.push({ bytes: held, enter });
      this.#admit();
    });
    try {
      return await work();
    } finally {
      this.#held -= held;
      this.#admit();
    }
  }

  #admit(): void {
    for (let [first] = this.#waiting; first !== undefined; [first] = this.#waiting) {
      if (this.#held + first.bytes > this.#limit) return;
      this.#waiting.shift();
      this.#held += first.bytes;
      first.enter();
    }
  }
}
