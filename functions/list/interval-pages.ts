/**
 * Reads the raw interval `(after, through]` of a prefix page by page and believes no page that contradicts itself: an object
 * that a listing lost is not deleted, but one that it repeats or misplaces would break every count.
 */
import { AccessDeniedError, ListingIncompleteError } from '#shared/errors.ts';
import { stepAfterDenial } from '#shared/storage/denied.ts';
import { compareKeys } from '#shared/storage/key-order.ts';
import { type ListedObject, type ListPage, type ObjectStore, StoreError } from '#shared/storage/object-store.ts';

export interface Interval {
  readonly after: string | null;
  readonly through: string | null;
}

export interface Place {
  readonly bucket: string;
  readonly prefix: string;
}

/** The objects of one page that lie in the interval. `last`: nothing of the interval follows. */
export interface IntervalPage {
  readonly objects: readonly ListedObject[];
  readonly last: boolean;
}

/** One request, with the store's refusals said in words of the run. Throttling and outages pass, since they are retried. */
export async function requestPage(
  store: ObjectStore,
  place: Place,
  request: { readonly startAfter?: string; readonly continuationToken?: string; readonly maxKeys?: number },
): Promise<ListPage> {
  try {
    return await store.list({ ...place, ...request });
  } catch (error) {
    const where = `s3://${place.bucket}/${place.prefix}`;
    if (error instanceof StoreError && error.fault === 'AccessDenied') {
      throw new AccessDeniedError(`Listing ${where} was denied.`, {
        cause: error,
        next: stepAfterDenial(error, `Grant s3:ListBucket on bucket ${place.bucket} for the prefix ${place.prefix}.`),
      });
    }
    const passes = !(error instanceof StoreError) || ['Throttled', 'Unavailable'].includes(error.fault);
    if (passes) throw error;
    throw new ListingIncompleteError(`Listing ${where} failed: ${(error as Error).message}`, { cause: error });
  }
}

/** The pages of one interval. Every fault is a ListingIncompleteError that names prefix and key. */
export class IntervalReader {
  readonly #store: ObjectStore;
  readonly #place: Place;
  #interval: Interval;
  #token: string | undefined;
  /** Tokens since the last key: with keys, order alone proves progress; empty pages could go in circles for ever. */
  #tokens = new Set<string>();
  #ended = false;

  constructor(store: ObjectStore, place: Place, interval: Interval) {
    this.#store = store;
    this.#place = place;
    this.#interval = interval;
  }

  /** What is not read yet: begins after the last key that was given out. */
  get rest(): Interval {
    return this.#interval;
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** Gives the part above `through` away to another reader. */
  cutAt(through: string): void {
    this.#interval = { ...this.#interval, through };
  }

  async next(): Promise<IntervalPage> {
    const { after } = this.#interval;
    const from =
      this.#token !== undefined ? { continuationToken: this.#token } : after !== null ? { startAfter: after } : {};
    const page = await requestPage(this.#store, this.#place, from);
    return this.#accept(page);
  }

  #accept(page: ListPage): IntervalPage {
    const objects: ListedObject[] = [];
    let previous = this.#interval.after;
    let beyond = false;
    for (const object of page.objects) {
      const { key } = object;
      if (!key.startsWith(this.#place.prefix))
        this.#fail(`the page holds ${JSON.stringify(key)}, which lies elsewhere`);
      if (previous !== null && compareKeys(key, previous) <= 0) {
        this.#fail(`key ${JSON.stringify(key)} comes after ${JSON.stringify(previous)}, which is not their order`);
      }
      previous = key;
      beyond ||= this.#interval.through !== null && compareKeys(key, this.#interval.through) > 0;
      if (!beyond) objects.push(object);
    }
    const lastKey = objects.at(-1)?.key;
    if (lastKey !== undefined) this.#interval = { ...this.#interval, after: lastKey };
    const last = beyond || !page.truncated;
    this.#ended = last;
    if (!last) this.#follow(page.continuationToken, objects.length > 0);
    return { objects, last };
  }

  #follow(token: string | undefined, progressed: boolean): void {
    if (token === undefined || token === '') {
      this.#fail('a page says that more follows and does not say how to go on');
    }
    if (token === this.#token || this.#tokens.has(token))
      this.#fail('the store gave the same continuation token twice');
    if (progressed) this.#tokens = new Set();
    this.#tokens.add(token);
    this.#token = token;
  }

  #fail(what: string): never {
    throw new ListingIncompleteError(`Listing s3://${this.#place.bucket}/${this.#place.prefix}: ${what}.`, {
      next: 'Nothing is deleted on such a listing; start a new run, and look into the store if it happens again.',
    });
  }
}
