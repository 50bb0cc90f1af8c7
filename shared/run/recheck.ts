/**
 * The look again before every delete request (DESIGN section 8): lease, pointer, and whatever the table's new metadata
 * names that this plan has not read. Found by set difference of paths, never by sequence number or time.
 */
import { type Catalog, type CurrentPointer, pointerLocations, samePointer } from '#shared/catalog/catalog.ts';
import { MetadataUnreadableError, ScanIncompleteError, TableChangedError } from '#shared/errors.ts';
import { distinctSorted, FingerprintList, fromBytes, toBytes } from '#shared/filter/fingerprints.ts';
import type { KeyHasher } from '#shared/filter/key-hash.ts';
import { forEachEntry } from '#shared/iceberg/manifest.ts';
import { promisedEntries } from '#shared/iceberg/manifest-list.ts';
import { directReferences } from '#shared/iceberg/reachability.ts';
import type { ManifestFile, Snapshot, TableMetadata } from '#shared/iceberg/types.ts';
import { foldReference } from '#shared/identity/fold-key.ts';
import { classifyReference } from '#shared/identity/references.ts';
import { shapeError } from '#shared/runtime/shape-error.ts';
import type { StagePorts } from '#shared/runtime/stage-ports.ts';
import { artefact } from './artefacts.ts';
import { readStopMarker, StageStoppedError } from './delete-marks.ts';
import { requireClaimsAllow, requireSameTable } from './gates-recheck.ts';
import { assertLease, type LeaseTicket } from './lease.ts';
import type { ObjectRef, Plan } from './plan.ts';
import type { ScanReceipt } from './receipts.ts';
import { newNonce, type RunArtefacts, sha256Hex } from './run-artefacts.ts';
import { fetchNamed, loadMetadata, manifestsOfAll } from './table-reader.ts';

/** A request is sent at most this long after the look that allowed it began. */
export const RECHECK_VALID_MS = 5000;
const ROUNDS = 5;
/** Manifest bytes that a recheck reads at most; more is a new run's work. */
export const MOST_RECHECK_BYTES = 2 * 1024 ** 3;
const MANIFESTS_AT_ONCE = 4;
const RESERVE_MS = 60_000;
const DELETED = 2;

/** `delete/recheck/<digest>.json`: what one metadata file names beyond the plan. Shared by the batches of a run. */
interface StoredRecheck {
  readonly plan_hash: string;
  readonly metadata_location: string;
  readonly fingerprints: ObjectRef;
  readonly manifests_read: number;
}

/** What the plan's scan has read. */
interface PlanRead {
  readonly read: ReadonlySet<string>;
  /** Nothing was skipped: below every manifest list of the pinned metadata nothing is unread. */
  readonly complete: boolean;
}

export interface RecheckSetup {
  readonly plan: Plan;
  readonly planHash: string;
  readonly ticket: LeaseTicket;
  readonly ports: StagePorts;
  readonly catalog: Catalog;
  readonly hasher: KeyHasher;
  /** Of the run that deletes. */
  readonly artefacts: RunArtefacts;
  /** Of the run that planned; the same one unless a sealed plan is deleted later. */
  readonly planArtefacts: RunArtefacts;
  /** The first look of a delete stage asks the catalog anew, folders and all; later ones read by name. */
  readonly first?: boolean;
}

export interface Look {
  /** When the look began; a request must go within {@link RECHECK_VALID_MS}. */
  readonly at: number;
  /** Whether new metadata names this folded key. */
  isRescued(foldedKey: string): boolean;
  /** Recorded locations of the metadata files that are current now. */
  readonly current: readonly string[];
}

export class Rechecker {
  readonly #setup: RecheckSetup;
  #previous: CurrentPointer;
  #known = new Map<string, ReadonlySet<bigint>>();
  #read: PlanRead | undefined;

  constructor(setup: RecheckSetup) {
    this.#setup = setup;
    this.#previous = setup.plan.pointer;
  }

  /**
   * Looks at lease and table. Throws LeaseLostError, the error of a stop marker, a gate's error, or TableChangedError when
   * the table moves faster than it can be read.
   */
  async look(): Promise<Look> {
    const { ports, ticket, catalog, artefacts } = this.#setup;
    for (let round = 0; round < ROUNDS; round++) {
      const at = ports.clock.now();
      const marker = await readStopMarker(artefacts);
      if (marker !== undefined) throw new StageStoppedError(marker);
      await assertLease(ports, ticket);
      const asksAnew = this.#setup.first === true && round === 0;
      const pointer = asksAnew ? await catalog.currentMetadata() : await catalog.reread(this.#previous);
      if (pointer !== this.#previous) requireClaimsAllow(pointer.claims);
      const fresh = await this.#subtract(pointer);
      const unchanged = samePointer(pointer, this.#previous);
      this.#previous = pointer;
      // What was read took time: only a pointer that is still the same afterwards lets a request go.
      if (unchanged && !fresh) return this.#answer(at, pointer);
    }
    throw new TableChangedError(`The table was committed to faster than it could be read, ${ROUNDS} times in a row.`, {
      next: 'Start a new run when its writers are quieter.',
    });
  }

  #answer(at: number, pointer: CurrentPointer): Look {
    const { hasher } = this.#setup;
    // What an earlier metadata file adopted stays adopted: a rollback does not give its files free.
    const sets = [...this.#known.values()];
    return {
      at,
      current: pointerLocations(pointer),
      isRescued: (foldedKey) => {
        if (sets.length === 0) return false;
        const fingerprint = hasher.ofString(foldedKey);
        return sets.some((set) => set.has(fingerprint));
      },
    };
  }

  /**
   * Makes sure that every metadata file of the pointer is judged and subtracted; true where one had to be read for it. Exempt
   * are the pinned file and the plan's further roots while they are no more than that: one that became current was never
   * judged by the gates, and what it names may have been skipped by the scan.
   */
  async #subtract(pointer: CurrentPointer): Promise<boolean> {
    const { plan } = this.#setup;
    let fresh = false;
    for (const location of pointerLocations(pointer)) {
      const isPinned = location === plan.pointer.metadata_location;
      const isFurther = plan.metadata_roots.includes(location) && location !== pointer.metadata_location;
      if (isPinned || isFurther || this.#known.has(location)) continue;
      this.#known.set(location, await this.#fingerprintsOf(location));
      fresh = true;
    }
    return fresh;
  }

  async #fingerprintsOf(location: string): Promise<ReadonlySet<bigint>> {
    const { artefacts, planHash, plan, ports } = this.#setup;
    const name = artefact.recheck(sha256Hex(Buffer.from(location)));
    const stored = await artefacts.readReceipt<StoredRecheck>(name, planHash, ScanIncompleteError);
    if (stored !== undefined) {
      return new Set(fromBytes(await artefacts.readNamed(stored.fingerprints, ScanIncompleteError)));
    }
    const metadata = await loadMetadata(ports.tables, location, plan.identity);
    if (metadata === undefined) {
      throw new TableChangedError(`The table's metadata file ${location} does not exist.`, {
        next: 'Start a new run.',
      });
    }
    requireSameTable(plan, metadata);
    const { fingerprints, manifests } = await this.#readBeyondPlan(metadata);
    const object = await artefacts.write(
      artefact.rescued(sha256Hex(Buffer.from(location)), newNonce()),
      toBytes(fingerprints),
      fingerprints.length,
    );
    await artefacts.writeOnce<StoredRecheck>(name, {
      plan_hash: planHash,
      metadata_location: location,
      fingerprints: object,
      manifests_read: manifests,
    });
    return new Set(fingerprints);
  }

  /** Everything that this metadata file names, less the manifests that the plan has read. */
  async #readBeyondPlan(metadata: TableMetadata): Promise<{ fingerprints: BigUint64Array; manifests: number }> {
    const { plan, ports } = this.#setup;
    const list = new FingerprintList();
    const add = (path: string) => this.#addKeys(path, list);
    for (const { path } of directReferences(metadata)) add(path);
    const manifests = await manifestsOfAll(ports.tables, await this.#unreadSnapshots(metadata), plan.identity);
    const { read } = await this.#planRead();
    const fresh = [...manifests.values()].filter((manifest) => {
      add(manifest.manifestPath);
      return !read.has(manifest.manifestPath);
    });
    let bytes = 0;
    for await (const { manifest, body } of this.#bodies(fresh)) {
      bytes += body.length;
      if (bytes > MOST_RECHECK_BYTES || ports.budget.remainingMs() < RESERVE_MS) {
        throw new TableChangedError(
          `More manifests came since the plan than can be read: ${fresh.length}, over ${bytes} bytes.`,
          {
            next: 'Start a new run.',
          },
        );
      }
      const expectations = { entries: promisedEntries(manifest), length: manifest.manifestLength };
      forEachEntry(body, manifest.manifestPath, expectations, (status, _content, filePath, referencedDataFile) => {
        if (status === DELETED) return;
        add(filePath.view().toString('utf8'));
        if (referencedDataFile.length > 0) add(referencedDataFile.view().toString('utf8'));
      });
    }
    return { fingerprints: distinctSorted(list.sorted()), manifests: fresh.length };
  }

  /** Snapshots whose manifest lists the plan has not read, or not with all that they name. */
  async #unreadSnapshots(metadata: TableMetadata): Promise<readonly Snapshot[]> {
    const { plan, ports } = this.#setup;
    if (!(await this.#planRead()).complete) return metadata.snapshots;
    const pinned = await loadMetadata(ports.tables, plan.pin.metadata_location, plan.identity);
    const lists = new Set(pinned?.snapshots.map((snapshot) => snapshot.manifestList));
    return metadata.snapshots.filter(({ manifestList }) => manifestList === undefined || !lists.has(manifestList));
  }

  async *#bodies(manifests: readonly ManifestFile[]): AsyncGenerator<{ manifest: ManifestFile; body: Buffer }> {
    for (let start = 0; start < manifests.length; start += MANIFESTS_AT_ONCE) {
      const group = manifests.slice(start, start + MANIFESTS_AT_ONCE);
      const bodies = await Promise.all(group.map((manifest) => this.#manifestBody(manifest)));
      for (const [index, body] of bodies.entries()) yield { manifest: group[index] as ManifestFile, body };
    }
  }

  #addKeys(path: string, list: FingerprintList): void {
    const { plan, hasher } = this.#setup;
    for (const folded of classifyReference(path, plan.identity, plan.roots).folded) list.push(hasher.ofString(folded));
    list.push(hasher.ofString(foldReference(path, plan.identity.ignoreCase)));
  }

  async #manifestBody(manifest: ManifestFile): Promise<Buffer> {
    const { plan, ports } = this.#setup;
    const object = await fetchNamed(ports.tables, manifest.manifestPath, plan.identity);
    if (object === undefined) {
      throw new MetadataUnreadableError(
        `Manifest ${manifest.manifestPath} does not exist, and new metadata names it.`,
        {
          next: 'Start a new run.',
        },
      );
    }
    return object.body;
  }

  async #planRead(): Promise<PlanRead> {
    this.#read ??= await this.#manifestsRead();
    return this.#read;
  }

  /** Manifests that the plan's scan read to their end; skipped ones are not among them. */
  async #manifestsRead(): Promise<PlanRead> {
    const { plan, planArtefacts, planHash } = this.#setup;
    const read = new Set<string>();
    let complete = plan.skipped_manifests.length === 0;
    for (let shard = 0; shard < plan.scan.shards; shard++) {
      const [body, receipt] = await Promise.all([
        planArtefacts.readScanShard(plan, shard),
        planArtefacts.readReceipt<ScanReceipt>(artefact.scanReceipt(shard), planHash, ScanIncompleteError),
      ]);
      // A lost list of what was read only means that more is read again.
      if (body === undefined || receipt === undefined || body.manifests.length !== receipt.manifests_planned) {
        complete = false;
        continue;
      }
      complete &&= receipt.manifests_skipped.length === 0;
      const unread = new Set([...receipt.manifests_skipped, ...receipt.pending_not_avro]);
      for (const { path } of body.manifests) if (!unread.has(path)) read.add(path);
    }
    return { read, complete };
  }
}

/** Errors after which no batch may go on: everything but a passing fault of a store or service. */
export function stopsTheStage(error: unknown): boolean {
  return shapeError(error).name !== 'ServiceUnavailableError';
}
