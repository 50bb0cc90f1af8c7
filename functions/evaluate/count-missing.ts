/**
 * Exact coverage: per key range, the covered references that no lister saw. Both sides are sorted fingerprints, so that one
 * range is in memory at a time, whatever the table's size.
 */
import { createCatalog } from '#shared/catalog/catalog.ts';
import { FilterMismatchError, ListingIncompleteError, TableChangedError } from '#shared/errors.ts';
import { distinctSorted, FingerprintList, fromBytes } from '#shared/filter/fingerprints.ts';
import { createKeyHasher } from '#shared/filter/key-hash.ts';
import { readManifest } from '#shared/iceberg/manifest.ts';
import { classifyReference } from '#shared/identity/references.ts';
import { readSections } from '#shared/run/fragments.ts';
import type { CompleteReceipts } from '#shared/run/judge-books.ts';
import type { Plan } from '#shared/run/plan.ts';
import type { RunArtefacts } from '#shared/run/run-artefacts.ts';
import { fetchNamed, loadMetadata, manifestsOf, manifestsOfAll } from '#shared/run/table-reader.ts';
import type { StagePorts } from '#shared/runtime/stage-ports.ts';

const DELETED = 2;

/** Sorted fingerprints of one range's covered references that were not listed. */
export async function missingOfRange(
  artefacts: RunArtefacts,
  { builds, lists }: CompleteReceipts,
  range: number,
): Promise<BigUint64Array> {
  const build = builds[range];
  if (build === undefined) throw new FilterMismatchError(`Key range ${range} left no receipt; start a new run.`);
  const covered = fromBytes(await artefacts.readNamed(build.coverage, FilterMismatchError));
  if (covered.length !== build.coverage.entries) {
    throw new FilterMismatchError(`The covered references of key range ${range} are short; start a new run.`);
  }
  const seen = new FingerprintList();
  for (const receipt of lists) {
    for await (const { fingerprints } of readSections(artefacts, receipt.seen, range, ListingIncompleteError)) {
      seen.pushAll(fingerprints);
    }
  }
  return without(covered, seen.sorted());
}

/** `wanted` less `present`, both sorted. */
export function without(wanted: BigUint64Array, present: BigUint64Array): BigUint64Array {
  const left = new FingerprintList();
  let at = 0;
  for (const fingerprint of wanted) {
    while (at < present.length && (present[at] as bigint) < fingerprint) at++;
    if (at === present.length || present[at] !== fingerprint) left.push(fingerprint);
  }
  return left.sorted();
}

/**
 * Where the pointer has moved since the pin: fingerprints of the live entries of manifests that only vanished snapshots
 * name. Their files may have been deleted by the expiry, so that they are not missing. Null where the pointer is the pin.
 */
export async function vanishedEntries(plan: Plan, ports: StagePorts): Promise<BigUint64Array | null> {
  const pointer = await createCatalog(plan.input, ports).currentMetadata();
  if (pointer.metadata_location === plan.pin.metadata_location) return null;
  const [pinned, current] = await Promise.all([
    loadMetadata(ports.tables, plan.pin.metadata_location, plan.identity),
    loadMetadata(ports.tables, pointer.metadata_location, plan.identity),
  ]);
  if (pinned === undefined || current === undefined) {
    throw new TableChangedError('A metadata file of the table was removed during the run.', {
      next: 'Start a new run.',
    });
  }
  const kept = new Set(current.snapshots.map((snapshot) => snapshot.snapshotId));
  const still = await manifestsOfAll(ports.tables, current.snapshots, plan.identity);
  const hasher = await createKeyHasher(plan.salt);
  const entries = new FingerprintList();
  for (const snapshot of pinned.snapshots.filter((candidate) => !kept.has(candidate.snapshotId))) {
    for (const manifest of (await manifestsOf(ports.tables, snapshot, plan.identity)) ?? []) {
      if (still.has(manifest.manifestPath)) continue;
      const object = await fetchNamed(ports.tables, manifest.manifestPath, plan.identity);
      if (object === undefined) continue;
      for (const entry of readManifest(object.body, manifest.manifestPath)) {
        if (entry.status === DELETED) continue;
        const { coverageKey } = classifyReference(entry.filePath, plan.identity, plan.roots);
        entries.push(hasher.ofString(coverageKey));
      }
    }
  }
  return distinctSorted(entries.sorted());
}
