/** Who names a file: looked up once more in the metadata that the run stood on, by the same identity as in the run. */

import { readManifest } from '#shared/iceberg/manifest.ts';
import { directReferences } from '#shared/iceberg/reachability.ts';
import type { Snapshot, TableMetadata } from '#shared/iceberg/types.ts';
import { foldKey } from '#shared/identity/fold-key.ts';
import { classifyReference } from '#shared/identity/references.ts';
import type { Plan } from '#shared/run/plan.ts';
import { fetchNamed, loadMetadata, manifestsOf } from '#shared/run/table-reader.ts';
import type { ObjectStore } from '#shared/storage/object-store.ts';

/** At most so many sentences: a file that 500 snapshots share needs no 500 lines. */
const ENOUGH = 5;

const STATUS = ['EXISTING', 'ADDED', 'DELETED'];
const CONTENT = ['data file', 'position delete file', 'equality delete file'];

export interface References {
  /** Sentences; empty where nothing names the file. */
  readonly found: readonly string[];
  /** Metadata that could not be read any more, so that the answer may be incomplete. */
  readonly gone: readonly string[];
  /** Named by DELETED entries only. */
  readonly deletedOnly: boolean;
}

class Search {
  readonly found: string[] = [];
  readonly gone: string[] = [];
  deleted = false;
  readonly #plan: Plan;
  readonly #store: ObjectStore;
  readonly #wanted: string;
  readonly #readManifests = new Set<string>();

  constructor(plan: Plan, store: ObjectStore, wantedKey: string) {
    this.#plan = plan;
    this.#store = store;
    this.#wanted = foldKey(wantedKey, plan.identity.ignoreCase);
  }

  #names(path: string): boolean {
    return classifyReference(path, this.#plan.identity, []).folded.includes(this.#wanted);
  }

  async metadata(location: string): Promise<void> {
    const meta = await loadMetadata(this.#store, location, this.#plan.identity);
    if (meta === undefined) {
      this.gone.push(location);
      return;
    }
    for (const reference of directReferences(meta)) {
      if (this.#names(reference.path))
        this.found.push(`named as ${reference.kind.replaceAll('_', ' ')} by ${location}`);
    }
    // Newest first: the current snapshot is what a person expects to hear of.
    for (const snapshot of [...meta.snapshots].reverse()) {
      if (this.found.length >= ENOUGH) return;
      await this.#snapshot(snapshot, meta);
    }
  }

  async #snapshot(snapshot: Snapshot, meta: TableMetadata): Promise<void> {
    const manifests = await manifestsOf(this.#store, snapshot, this.#plan.identity);
    if (manifests === undefined) {
      this.gone.push(snapshot.manifestList as string);
      return;
    }
    const current = snapshot.snapshotId === meta.currentSnapshotId ? ', the current one,' : '';
    const which = `snapshot ${snapshot.snapshotId}${current} of ${new Date(snapshot.timestampMs).toISOString()}`;
    for (const { manifestPath } of manifests) {
      if (this.#names(manifestPath)) this.found.push(`named as manifest by ${which}`);
      if (!this.#readManifests.has(manifestPath)) await this.#manifest(manifestPath, which);
    }
  }

  async #manifest(path: string, which: string): Promise<void> {
    this.#readManifests.add(path);
    const object = await fetchNamed(this.#store, path, this.#plan.identity);
    if (object === undefined) {
      this.gone.push(path);
      return;
    }
    for (const entry of readManifest(object.body, path)) {
      const live = entry.status !== 2;
      if (this.#names(entry.filePath)) {
        this.deleted ||= !live;
        if (live)
          this.found.push(
            `named as ${CONTENT[entry.content] ?? 'content file'} (${STATUS[entry.status] ?? entry.status}) by manifest ${path} of ${which}`,
          );
      }
      if (live && entry.referencedDataFile !== undefined && this.#names(entry.referencedDataFile)) {
        this.found.push(`the data file of a deletion vector or delete file in manifest ${path} of ${which}`);
      }
    }
  }
}

/** Reads the plan's metadata files, their snapshots and manifests, newest first, until a few references are found. */
export async function findReferences(plan: Plan, store: ObjectStore, key: string): Promise<References> {
  const search = new Search(plan, store, key);
  for (const location of plan.metadata_roots) {
    if (search.found.length < ENOUGH) await search.metadata(location);
  }
  return {
    found: search.found.slice(0, ENOUGH),
    gone: search.gone,
    deletedOnly: search.deleted && search.found.length === 0,
  };
}
