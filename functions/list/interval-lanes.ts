/**
 * Lists the intervals of a shard. One lane at first; a shard that proves far larger than planned is cut and listed by several
 * lanes, since a store answers a page in some 75 ms whatever the worker could take.
 */
import type { TimeLeft } from '#shared/run/time-left.ts';
import type { ListedObject, ObjectStore } from '#shared/storage/object-store.ts';
import { type Interval, IntervalReader, type Place } from './interval-pages.ts';
import { findCut } from './split-interval.ts';

/** Twice the keys that a shard is planned for: 200 pages of 1,000. */
export const LARGE_AFTER_PAGES = 200;
/** Pages a lane reads before it is worth cutting again. */
const CUT_AFTER_PAGES = 10;
export const MOST_LANES = 8;

export interface LaneOptions {
  readonly store: ObjectStore;
  readonly place: Place;
  readonly time: TimeLeft;
  readonly mostLanes: number;
  /** One page at a time, whichever lane read it. */
  take(objects: readonly ListedObject[]): Promise<void>;
}

export class IntervalLanes {
  readonly #options: LaneOptions;
  readonly #waiting: Interval[];
  readonly #unread: Interval[] = [];
  readonly #lanes = new Set<Promise<void>>();
  #turn: Promise<void> = Promise.resolve();
  #failure: unknown = null;
  readonly #pagesBefore: number;
  pages = 0;
  probes = 0;

  /** @param pagesBefore pages that earlier calls read of this shard */
  constructor(options: LaneOptions, intervals: readonly Interval[], pagesBefore: number) {
    this.#options = options;
    this.#waiting = [...intervals];
    this.#pagesBefore = pagesBefore;
  }

  /** Lists until everything is read or time is short. Returns what is still unread. The first failure of a lane stops all. */
  async run(): Promise<readonly Interval[]> {
    this.#startLanes();
    while (this.#lanes.size > 0) await Promise.race(this.#lanes);
    if (this.#failure !== null) throw this.#failure;
    return [...this.#unread, ...this.#waiting];
  }

  #startLanes(): void {
    // A continued shard was cut already: as many lanes as there are parts. A new one begins with its only part.
    while (this.#lanes.size < this.#options.mostLanes && this.#waiting.length > 0 && !this.#stopped) {
      const lane: Promise<void> = this.#read(this.#waiting.shift() as Interval).then(
        () => this.#ended(lane),
        (error) => {
          this.#failure ??= error;
          this.#ended(lane);
        },
      );
      this.#lanes.add(lane);
    }
  }

  #ended(lane: Promise<void>): void {
    this.#lanes.delete(lane);
    this.#startLanes();
  }

  /** At least one page is read in any call, so that every call comes further. */
  get #stopped(): boolean {
    return this.#failure !== null || (this.pages > 0 && this.#options.time.isShort);
  }

  async #read(interval: Interval): Promise<void> {
    const reader = new IntervalReader(this.#options.store, this.#options.place, interval);
    let sinceCut = 0;
    while (!reader.ended) {
      if (this.#stopped) {
        this.#unread.push(reader.rest);
        return;
      }
      const page = await reader.next();
      this.pages++;
      sinceCut++;
      await this.#inTurn(() => this.#options.take(page.objects));
      if (!page.last && sinceCut >= CUT_AFTER_PAGES && this.#mayCut) {
        await this.#cut(reader);
        sinceCut = 0;
      }
    }
  }

  get #mayCut(): boolean {
    const large = this.#pagesBefore + this.pages >= LARGE_AFTER_PAGES;
    return large && !this.#stopped && this.#waiting.length === 0 && this.#lanes.size < this.#options.mostLanes;
  }

  async #cut(reader: IntervalReader): Promise<void> {
    const { rest } = reader;
    const { at, probes } = await findCut(this.#options.store, this.#options.place, rest);
    this.probes += probes;
    if (at === null) return;
    reader.cutAt(at);
    this.#waiting.push({ after: at, through: rest.through });
    this.#startLanes();
  }

  async #inTurn(work: () => Promise<void>): Promise<void> {
    const mine = this.#turn.then(work);
    this.#turn = mine.catch(() => undefined);
    await mine;
  }
}
