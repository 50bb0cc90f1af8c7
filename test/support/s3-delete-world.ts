/**
 * Runs over the SDK's adapter and a server of its own clock, with a fault proxy in between. Files cannot be given an age there:
 * instead time passes, in that what the server wrote before stays as it is, and whatever it says from then on is that much later.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { RunRecord } from '#shared/run/record.ts';
import { type Restored, restoreRun } from '#shared/run/restore.ts';
import { RunArtefacts } from '#shared/run/run-artefacts.ts';
import type { StagePorts } from '#shared/runtime/stage-ports.ts';
import type { ListPage, ObjectStore, ObjectVersion } from '#shared/storage/object-store.ts';
import { createS3Client } from '#shared/storage/s3-client.ts';
import { S3Store } from '#shared/storage/s3-store.ts';
import { FaultProxy } from './fault-proxy.ts';
import { DAY_MS, type RunResult, RunWorld } from './run-world.ts';
import { TableWriter } from './table-writer.ts';

export interface S3Place {
  readonly endpoint: string;
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string };
  /** Empty, and of this world alone. */
  readonly bucket: string;
}

const PUTS_AT_ONCE = 32;

export class S3DeleteWorld extends RunWorld {
  readonly bucket: string;
  readonly proxy: FaultProxy;
  /** Straight to the server: what others do, and what a test looks at. */
  readonly origin: S3Store;
  readonly writer: TableWriter;
  readonly #store: ObjectStore;
  readonly #passed: { readonly fromMs: number; readonly addMs: number }[] = [];

  private constructor(place: S3Place, proxy: FaultProxy) {
    super();
    const { credentials } = place;
    this.bucket = place.bucket;
    this.proxy = proxy;
    this.origin = storeAt(place.endpoint, credentials);
    this.#store = later(storeAt(proxy.endpoint, credentials), (ms) => this.#seen(ms));
    this.nowMs = Date.now();
    const sink = { put: (bucket: string, key: string, bytes: Uint8Array) => this.origin.put(bucket, key, bytes) };
    this.writer = new TableWriter(sink, {
      location: `s3://${place.bucket}/wh/t`,
      startMs: Date.now() - 2 * DAY_MS,
      names: 'catalog',
    });
  }

  /** A table of three live files, and orphans that are two months old. */
  static async open(place: S3Place, names: number | readonly string[] = 3): Promise<S3DeleteWorld> {
    const world = new S3DeleteWorld(place, await FaultProxy.start(place.endpoint));
    await world.writer.create();
    await world.writer.append(3);
    const list = typeof names === 'number' ? Array.from({ length: names }, (_, index) => `${index}.parquet`) : names;
    for (let start = 0; start < list.length; start += PUTS_AT_ONCE) {
      const group = list.slice(start, start + PUTS_AT_ONCE);
      await Promise.all(group.map((name) => world.origin.put(world.bucket, orphanKey(name), Buffer.from(name))));
    }
    await world.pass(60 * DAY_MS);
    return world;
  }

  override get ports(): StagePorts {
    return { ...super.ports, tables: this.#store, deletingStore: async () => this.#store };
  }

  /** From the next whole second on, since HTTP dates have no fractions. */
  async pass(ms: number): Promise<void> {
    const fromMs = (Math.floor(Date.now() / 1000) + 1) * 1000;
    await sleep(fromMs - Date.now());
    this.#passed.push({ fromMs, addMs: ms });
    this.nowMs = this.#seen(Math.max(fromMs, Date.now()));
  }

  #seen(ms: number): number {
    return this.#passed.reduce((total, { fromMs, addMs }) => (ms >= fromMs ? total + addMs : total), ms);
  }

  override run(input: Readonly<Record<string, unknown>> = {}, name?: string): Promise<RunResult> {
    const full = { table: `s3://${this.bucket}/wh/t`, max_orphan_percent: 100, ...input };
    return name === undefined ? super.run(full) : super.run(full, name);
  }

  restore({ artefacts }: RunRecord): Promise<Restored> {
    return restoreRun(this.#store, new RunArtefacts(this.work, 'work', artefacts), 10);
  }

  /** Names of the orphans that are there. */
  async left(): Promise<string[]> {
    const names = [...(await this.contents()).keys()].filter((key) => key.startsWith(orphanKey('')));
    return names.map((key) => key.slice(orphanKey('').length));
  }

  /** ETag by key of everything there is. */
  async contents(): Promise<Map<string, string>> {
    const found = new Map<string, string>();
    let page: ListPage | undefined;
    do {
      const token = page?.continuationToken;
      const next = token === undefined ? {} : { continuationToken: token };
      page = await this.origin.list({ bucket: this.bucket, prefix: 'wh/', ...next });
      for (const { key, etag } of page.objects) found.set(key, etag);
    } while (page.truncated);
    return found;
  }

  async markers(): Promise<readonly ObjectVersion[]> {
    const { versions } = await this.origin.listVersions({ bucket: this.bucket, prefix: orphanKey('') });
    return versions.filter(({ isDeleteMarker }) => isDeleteMarker);
  }

  /** Keys that the table references and the bucket no longer has. */
  async lost(): Promise<string[]> {
    const there = await this.contents();
    return [...this.writer.referenced()].filter((key) => !there.has(key));
  }
}

export function orphanKey(name: string): string {
  return `wh/t/data/lost/${name}`;
}

function storeAt(endpoint: string, credentials: S3Place['credentials']): S3Store {
  const options = credentials === undefined ? { endpoint } : { endpoint, credentials };
  return new S3Store(createS3Client(options), createS3Client({ ...options, attempts: 1 }));
}

/** The same store, with other times. */
function later(store: ObjectStore, seen: (ms: number) => number): ObjectStore {
  const shift = <T extends { readonly lastModifiedMs: number }>(object: T): T => ({
    ...object,
    lastModifiedMs: seen(object.lastModifiedMs),
  });
  return {
    get: async (...request) => shift(await store.get(...request)),
    head: async (...request) => shift(await store.head(...request)),
    put: (...request) => store.put(...request),
    list: async (request) => {
      const page = await store.list(request);
      return { ...page, objects: page.objects.map(shift) };
    },
    listVersions: async (request) => {
      const page = await store.listVersions(request);
      return { ...page, versions: page.versions.map(shift) };
    },
    deleteObjects: (...request) => store.deleteObjects(...request),
    deleteObject: (...request) => store.deleteObject(...request),
    versioning: (bucket) => store.versioning(bucket),
  };
}
