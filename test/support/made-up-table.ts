/**
 * Tables of any size that exist nowhere: keys, listings and manifests are made up as they are read. Keys grow with their
 * index, so that a listing can begin anywhere.
 */
import type { ListItem, PlannedManifest } from '#shared/run/plan.ts';
import {
  type ListedObject,
  type ListPage,
  type ListRequest,
  type ObjectStore,
  type StoredObject,
  StoreError,
} from '#shared/storage/object-store.ts';
import { OLD_MS } from './mark-world.ts';
import { plannedManifest, type StatEntry, type StatManifestOptions, statManifest } from './stat-manifest.ts';

export type Layout = 'hashed' | 'hive' | 'flat';

export interface MadeUpOptions extends StatManifestOptions {
  readonly files: number;
  readonly layout: Layout;
  readonly isOrphan: (index: number) => boolean;
  readonly entriesPerManifest?: number;
}

export const DATA_PREFIX = 'wh/t/data/';
const FOLDERS = 400;

export class MadeUpTable {
  readonly options: MadeUpOptions;
  readonly entriesPerManifest: number;

  constructor(options: MadeUpOptions) {
    this.options = options;
    this.entriesPerManifest = options.entriesPerManifest ?? 16_000;
  }

  key(index: number): string {
    const name = `00000-0-${String(index).padStart(12, '0')}-${scatter(index)}-4f3a-9d21-00001.parquet`;
    const { files, layout } = this.options;
    if (layout === 'flat') return DATA_PREFIX + name;
    if (layout === 'hashed') {
      // As write.object-storage.enabled has it: 20 bits of a hash in four folders.
      const bits = Math.floor((index / files) * 2 ** 20)
        .toString(2)
        .padStart(20, '0');
      return `${DATA_PREFIX}${bits.slice(0, 4)}/${bits.slice(4, 8)}/${bits.slice(8, 12)}/${bits.slice(12)}/${name}`;
    }
    const folder = Math.floor((index / files) * FOLDERS);
    const day = new Date(Date.UTC(2024, 0, 1) + folder * 86_400_000).toISOString().slice(0, 10);
    return `${DATA_PREFIX}event_day=${day}/${name}`;
  }

  get manifestCount(): number {
    return Math.ceil(this.options.files / this.entriesPerManifest);
  }

  /** Where the manifests lie; `entries` is what a manifest list would promise. */
  plannedManifests(): PlannedManifest[] {
    return Array.from({ length: this.manifestCount }, (_, number) =>
      plannedManifest(`wh/t/metadata/${number}-m0.avro`, [...this.#live(number)].length),
    );
  }

  manifest(number: number): Buffer {
    return statManifest(this.#entries(number), this.options);
  }

  /** Listing shards of about so many keys, cut at keys. */
  listItems(keysPerShard: number): Omit<ListItem, 'shard'>[] {
    const cuts: (string | null)[] = [null];
    for (let index = keysPerShard; index < this.options.files; index += keysPerShard) cuts.push(this.key(index));
    return cuts.map((after, at) => ({ bucket: 'b', prefix: DATA_PREFIX, after, through: cuts[at + 1] ?? null }));
  }

  /** Key-range boundaries for so many ranges. */
  ranges(count: number): { from: string | null; to: string | null }[] {
    const cut = (at: number): string | null =>
      at === 0 || at === count
        ? null
        : Buffer.from(this.key(Math.floor((at * this.options.files) / count))).toString('hex');
    return Array.from({ length: count }, (_, at) => ({ from: cut(at), to: cut(at + 1) }));
  }

  /** Index of the first key after `after` that does not come before `prefix`. */
  firstAfter(after: string, prefix: string): number {
    let low = 0;
    let high = this.options.files;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const key = this.key(middle);
      if (key <= after || key < prefix) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  *#live(number: number): Generator<number> {
    const start = number * this.entriesPerManifest;
    const end = Math.min(start + this.entriesPerManifest, this.options.files);
    for (let index = start; index < end; index++) if (!this.options.isOrphan(index)) yield index;
  }

  *#entries(number: number): Generator<StatEntry> {
    for (const index of this.#live(number)) yield { path: `s3://b/${this.key(index)}` };
  }
}

/** The store in which such a table lies. Read only. */
export class MadeUpStore {
  readonly #table: MadeUpTable;
  lists = 0;

  constructor(table: MadeUpTable) {
    this.#table = table;
  }

  asStore(): ObjectStore {
    return this as unknown as ObjectStore;
  }

  async get(_bucket: string, key: string): Promise<StoredObject> {
    const number = /\/(\d+)-m0\.avro$/.exec(key)?.[1];
    if (number === undefined) throw new StoreError('NotFound', `${key} does not exist`);
    const body = this.#table.manifest(Number(number));
    return { body, sizeBytes: body.length, etag: '"m"', lastModifiedMs: OLD_MS };
  }

  async list({ prefix, startAfter, continuationToken, maxKeys = 1000 }: ListRequest): Promise<ListPage> {
    this.lists++;
    const objects: ListedObject[] = [];
    let index = this.#table.firstAfter(continuationToken ?? startAfter ?? '', prefix);
    for (; index < this.#table.options.files && objects.length < maxKeys; index++) {
      const key = this.#table.key(index);
      if (!key.startsWith(prefix)) break;
      objects.push({ key, sizeBytes: 1000 + (index % 977), lastModifiedMs: OLD_MS, etag: ETAG });
    }
    const last = objects.at(-1)?.key;
    const more = last !== undefined && index < this.#table.options.files && this.#table.key(index).startsWith(prefix);
    return more
      ? { objects, commonPrefixes: [], truncated: true, continuationToken: last }
      : { objects, commonPrefixes: [], truncated: false };
  }
}

const ETAG = '"d41d8cd98f00b204e9800998ecf8427e"';

/** Eight hex digits that look random and are always the same for an index. */
function scatter(index: number): string {
  return (Math.imul(index + 1, 0x9e3779b1) >>> 0).toString(16).padStart(8, '0');
}
