/** Fetches the manifests of a shard in their order, a few ahead of the one that is read, within a bound of bytes. */
import { readObject } from '#shared/catalog/table-objects.ts';
import type { PlannedManifest } from '#shared/run/plan.ts';
import type { ObjectStore } from '#shared/storage/object-store.ts';

const MOST_AHEAD = 8;
/** Bodies held at once, the one that is read included. */
const MOST_BYTES = 64 * 1024 * 1024;
/** `commit.manifest.target-size-bytes`, where the list gives no length. */
const USUAL_BYTES = 8 * 1024 * 1024;

/** Undefined: there is no such object. An error is held as a value, since one that nobody awaits yet would end the process. */
type Fetched = { readonly body: Buffer | undefined } | { readonly error: unknown };

export class FetchAhead {
  readonly #store: ObjectStore;
  readonly #manifests: readonly PlannedManifest[];
  readonly #fetched = new Map<number, Promise<Fetched>>();
  #next: number;
  #bytes = 0;
  gets = 0;

  constructor(store: ObjectStore, manifests: readonly PlannedManifest[], start: number) {
    this.#store = store;
    this.#manifests = manifests;
    this.#next = start;
  }

  /** The body of a manifest, asked for in order. Undefined where it does not exist; other failures throw. */
  async take(index: number): Promise<Buffer | undefined> {
    this.#fill(index);
    const fetched = await (this.#fetched.get(index) as Promise<Fetched>);
    this.#fetched.delete(index);
    this.#bytes -= this.#sizeOf(index);
    if ('error' in fetched) throw fetched.error;
    return fetched.body;
  }

  /** Waits for what is under way, so that nothing runs on when the worker answers. */
  async settle(): Promise<void> {
    await Promise.all(this.#fetched.values());
  }

  #fill(index: number): void {
    while (this.#next < this.#manifests.length) {
      const ahead = this.#next > index;
      const full = this.#fetched.size >= MOST_AHEAD || this.#bytes + this.#sizeOf(this.#next) > MOST_BYTES;
      if (ahead && full) return;
      this.#fetched.set(this.#next, this.#fetch(this.#manifests[this.#next] as PlannedManifest));
      this.#bytes += this.#sizeOf(this.#next);
      this.#next++;
    }
  }

  async #fetch({ bucket, key }: PlannedManifest): Promise<Fetched> {
    this.gets++;
    try {
      return { body: (await readObject(this.#store, bucket, key))?.body };
    } catch (error) {
      return { error };
    }
  }

  #sizeOf(index: number): number {
    return this.#manifests[index]?.length ?? USUAL_BYTES;
  }
}
