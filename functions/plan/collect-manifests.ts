/**
 * Reads the manifest lists, fetched ahead and decoded row by row, and keeps each manifest once, with the first list (by
 * sequence number) that names it (DESIGN section 3).
 */
import type { Catalog } from '#shared/catalog/catalog.ts';
import { ahead, readObject } from '#shared/catalog/table-objects.ts';
import { MetadataUnreadableError, TableChangedError, UnsupportedTableError } from '#shared/errors.ts';
import { manifestListRows, promisedEntries } from '#shared/iceberg/manifest-list.ts';
import type { ManifestFile, TableMetadata } from '#shared/iceberg/types.ts';
import { locateReference } from '#shared/identity/references.ts';
import type { IdentityRules } from '#shared/identity/types.ts';
import type { PlannedManifest } from '#shared/run/plan.ts';
import { loadMetadata } from '#shared/run/table-reader.ts';
import { TimeLeft } from '#shared/run/time-left.ts';
import type { Budget } from '#shared/runtime/stage-ports.ts';
import type { ObjectStore, StoredObject } from '#shared/storage/object-store.ts';
import type { ListSource, ManifestHarvest, PlanDraft } from './plan-draft.ts';

/** Lists for which the catalog is asked once whether the table moved on. */
const LISTS_PER_ROUND = 64;
const READS_AT_ONCE = 16;

export interface CollectPorts {
  readonly tables: ObjectStore;
  readonly catalog: Catalog;
  readonly budget: Budget;
}

/** Manifest lists of the pinned metadata by sequence number, then those that only later roots name. */
export function listSources(pinned: TableMetadata, laterRoots: readonly TableMetadata[]): ListSource[] {
  const sources = new Map<string, ListSource>();
  const add = (meta: TableMetadata, kind: ListSource['kind']): void => {
    const ordered = [...meta.snapshots].sort((a, b) =>
      a.sequenceNumber === b.sequenceNumber
        ? a.timestampMs - b.timestampMs
        : a.sequenceNumber < b.sequenceNumber
          ? -1
          : 1,
    );
    for (const { manifestList } of ordered) {
      if (manifestList !== undefined && !sources.has(manifestList))
        sources.set(manifestList, { path: manifestList, kind });
    }
  };
  add(pinned, 'pinned');
  for (const root of laterRoots) add(root, 'later_root');
  return [...sources.values()];
}

/** Manifests that v1 snapshots name without a list. */
export function inlineManifests(
  pinned: TableMetadata,
  laterRoots: readonly TableMetadata[],
  identity: IdentityRules,
): PlannedManifest[] {
  const of = (meta: TableMetadata, kind: PlannedManifest['kind']): PlannedManifest[] =>
    meta.snapshots
      .flatMap(({ manifests }) => manifests ?? [])
      .map((path) => ({ path, ...locateReference(path, identity), content: 'data' as const, kind }));
  return [...of(pinned, 'pinned'), ...laterRoots.flatMap((root) => of(root, 'later_root'))];
}

/** Tells whether the table moved on, which decides what an absent or broken list means. Asked once per round at most. */
class CurrentTable {
  readonly #draft: PlanDraft;
  readonly #ports: CollectPorts;
  #meta: TableMetadata | null | undefined;

  constructor(draft: PlanDraft, ports: CollectPorts) {
    this.#draft = draft;
    this.#ports = ports;
  }

  /** The metadata that is current now, null while it is still the pinned one. */
  async moved(): Promise<TableMetadata | null> {
    if (this.#meta !== undefined) return this.#meta;
    const { plan } = this.#draft;
    const pointer = await this.#ports.catalog.currentMetadata();
    if (pointer.metadata_location === plan.pin.metadata_location) this.#meta = null;
    else this.#meta = (await loadMetadata(this.#ports.tables, pointer.metadata_location, plan.identity)) ?? null;
    return this.#meta;
  }
}

type Fetched = { readonly place: string } & (
  | { readonly object: StoredObject | undefined }
  | { readonly error: unknown }
);

async function fetchList(source: ListSource, draft: PlanDraft, ports: CollectPorts): Promise<Fetched> {
  const { bucket, key } = locateReference(source.path, draft.plan.identity);
  const place = `s3://${bucket}/${key}`;
  return readObject(ports.tables, bucket, key).then(
    (object) => ({ place, object }),
    (error: unknown) => ({ place, error }),
  );
}

/** Takes the rows of a list; false for one that may be skipped: it expired meanwhile, or only a later root names it. */
async function readList(
  source: ListSource,
  fetched: Fetched,
  now: CurrentTable,
  take: (row: ManifestFile) => void,
): Promise<boolean> {
  try {
    if ('error' in fetched) throw fetched.error;
    if (fetched.object !== undefined) {
      for (const row of manifestListRows(fetched.object.body, source.path)) take(row);
      return true;
    }
  } catch (error) {
    if (!(error instanceof MetadataUnreadableError)) throw error;
    if ((await now.moved()) === null) throw error;
    throw new TableChangedError(`${error.message} The table moved on while it was planned.`, {
      cause: error,
      next: 'Start a new run.',
    });
  }
  if (source.kind === 'later_root') return false;
  const moved = await now.moved();
  if (moved === null) {
    throw new MetadataUnreadableError(`The manifest list ${source.path} (${fetched.place}) does not exist.`, {
      next: 'The table is damaged: what that snapshot names cannot be told from orphans.',
    });
  }
  if (moved.snapshots.some(({ manifestList }) => manifestList === source.path)) {
    throw new TableChangedError(`The manifest list ${source.path} does not exist, and the table moved on.`, {
      next: 'Start a new run.',
    });
  }
  return false;
}

function plannedFrom(row: ManifestFile, source: ListSource, identity: IdentityRules): PlannedManifest {
  if (row.encrypted) {
    throw new UnsupportedTableError(
      `${source.path} names encrypted manifests, which cannot be read without their keys.`,
    );
  }
  const entries = promisedEntries(row);
  return {
    path: row.manifestPath,
    ...locateReference(row.manifestPath, identity),
    content: row.content,
    ...(row.manifestLength === undefined ? {} : { length: row.manifestLength }),
    ...(entries === undefined ? {} : { entries }),
    kind: source.kind,
  };
}

/** Manifests by place: two recorded spellings of one object are read once and both protected. */
export class ManifestSet {
  readonly #byPlace = new Map<string, PlannedManifest>();
  readonly #paths = new Set<string>();
  readonly #others = new Set<string>();

  constructor(manifests: readonly PlannedManifest[], otherSpellings: readonly string[]) {
    for (const manifest of manifests) this.add(manifest);
    for (const path of otherSpellings) this.#others.add(path);
  }

  has(path: string): boolean {
    return this.#paths.has(path);
  }

  /** False where the object is planned already. */
  add(manifest: PlannedManifest): boolean {
    if (this.#paths.has(manifest.path)) return false;
    const place = `${manifest.bucket}/${manifest.key}`;
    if (this.#byPlace.has(place)) {
      this.#others.add(manifest.path);
      return false;
    }
    this.#paths.add(manifest.path);
    this.#byPlace.set(place, manifest);
    return true;
  }

  get manifests(): PlannedManifest[] {
    return [...this.#byPlace.values()];
  }

  get otherSpellings(): string[] {
    return [...this.#others];
  }
}

/** Reads on from where the harvest stands, until all lists are read or time runs short (at least one list). */
export async function collectManifests(
  draft: PlanDraft,
  harvest: ManifestHarvest,
  ports: CollectPorts,
): Promise<ManifestHarvest> {
  const time = new TimeLeft(ports.budget);
  const set = new ManifestSet(harvest.manifests, harvest.other_spellings);
  const skipped = [...harvest.skipped];
  let next = harvest.next_source;
  if (next === 0) for (const manifest of draft.inline) set.add(manifest);
  let now = new CurrentTable(draft, ports);
  const sources = draft.sources.slice(next);
  for await (const { item: source, answer } of ahead(sources, READS_AT_ONCE, (each) => fetchList(each, draft, ports))) {
    if (next % LISTS_PER_ROUND === 0) now = new CurrentTable(draft, ports);
    const wasRead = await readList(source, answer, now, (row) => {
      if (!set.has(row.manifestPath)) set.add(plannedFrom(row, source, draft.plan.identity));
    });
    if (!wasRead) skipped.push(source.path);
    next += 1;
    if (time.isShort) break;
  }
  return { next_source: next, manifests: set.manifests, other_spellings: set.otherSpellings, skipped };
}
