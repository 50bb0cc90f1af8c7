/**
 * A store's keys below a prefix as a tree of prefixes, seen through few LIST requests: common prefixes where keys have
 * slashes, and skipping with `StartAfter` from one next character to the following one where they have not.
 */
import { listPage } from '#shared/catalog/table-objects.ts';
import type { Folder } from '#shared/run/plan.ts';
import type { ObjectStore } from '#shared/storage/object-store.ts';

/** A prefix with more next characters than this is not worth enumerating. */
const MOST_CHILDREN = 256;
const PAGE = 1000;
const DRILLS = 3;
const DEEPEST = 64;
/** What is known by then is good enough: where shards are cut only decides how even they are. */
const MOST_REQUESTS = 4000;

/** The next string of the same length in code-point order, without surrogates. */
function successor(character: string): string | undefined {
  const code = character.codePointAt(0)! + 1;
  if (code > 0x10ffff) return undefined;
  return String.fromCodePoint(code >= 0xd800 && code <= 0xdfff ? 0xe000 : code);
}

/** Reproducible choice: a repeated plan must come to the same shards. */
function draw(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

export class KeyTree {
  readonly #store: ObjectStore;
  readonly #bucket: string;
  readonly #mayAsk: () => boolean;
  #requests = 0;

  /** `mayAsk` turns false when time is up. */
  constructor(store: ObjectStore, bucket: string, mayAsk: () => boolean = () => true) {
    this.#store = store;
    this.#bucket = bucket;
    this.#mayAsk = mayAsk;
  }

  get requests(): number {
    return this.#requests;
  }

  /** Nothing more is to be asked. */
  get isSpent(): boolean {
    return this.#requests >= MOST_REQUESTS || !this.#mayAsk();
  }

  #page(prefix: string, options: { startAfter?: string; delimiter?: string; maxKeys?: number } = {}) {
    this.#requests += 1;
    return listPage(this.#store, { bucket: this.#bucket, prefix, ...options });
  }

  /** The number of keys where one page shows them all, else undefined. */
  async countIfSmall(prefix: string): Promise<number | undefined> {
    const page = await this.#page(prefix, { maxKeys: PAGE });
    return page.truncated ? undefined : page.objects.length;
  }

  /** Folders below a prefix, from one page; keys between them do not matter here. */
  async folders(prefix: string): Promise<readonly string[]> {
    return (await this.#page(prefix, { delimiter: '/', maxKeys: PAGE })).commonPrefixes;
  }

  /** The prefix with each next character that keys have. */
  async children(prefix: string): Promise<string[]> {
    const children: string[] = [];
    let startAfter: string | undefined;
    while (children.length < MOST_CHILDREN && !this.isSpent) {
      const page = await this.#page(prefix, startAfter === undefined ? { maxKeys: 1 } : { maxKeys: 1, startAfter });
      const key = page.objects[0]?.key;
      if (key === undefined) break;
      const next = Array.from(key.slice(prefix.length))[0];
      if (next !== undefined) children.push(prefix + next);
      const following = next === undefined ? undefined : successor(next);
      if (next !== undefined && following === undefined) break;
      startAfter = following === undefined ? key : prefix + following;
    }
    return children;
  }

  /**
   * About how many keys a prefix has: walks down at random, multiplying by the choices at each step (Knuth's estimate of a
   * tree's size). Right on average; good enough to choose a number of shards.
   */
  async estimate(folder: Folder): Promise<number> {
    const random = draw(folder.prefix.length + 1);
    let total = 0;
    for (let drill = 0; drill < DRILLS; drill += 1) {
      let prefix = folder.prefix;
      let weight = 1;
      let count = await this.countIfSmall(prefix);
      for (let depth = 0; count === undefined && depth < DEEPEST && !this.isSpent; depth += 1) {
        const children = await this.children(prefix);
        if (children.length === 0) break;
        weight *= children.length;
        prefix = children[Math.floor(random() * children.length)]!;
        count = await this.countIfSmall(prefix);
      }
      total += weight * (count ?? PAGE);
    }
    return total / DRILLS;
  }
}
