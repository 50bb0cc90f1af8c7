/** A sample of the keys that manifests name, for the boundaries of key ranges and the number of listing shards (DESIGN section 5). */
import { inOrder, readObject } from '#shared/catalog/table-objects.ts';
import { forEachEntry } from '#shared/iceberg/manifest.ts';
import { foldReference } from '#shared/identity/fold-key.ts';
import type { KeyRange, PlannedManifest } from '#shared/run/plan.ts';
import type { ObjectStore } from '#shared/storage/object-store.ts';

/** Up to this many references one range is enough; above, a range holds about {@link ENTRIES_PER_RANGE}. */
export const ONE_RANGE_ENTRIES = 10_000_000;
export const ENTRIES_PER_RANGE = 4_000_000;
/** Below it neither ranges nor listing shards need a sample. */
const SAMPLE_FROM_ENTRIES = 100_000;
const MANIFESTS_SAMPLED = 64;
const ENTRIES_PER_MANIFEST = 1000;
const LARGEST_SAMPLED_BYTES = 64 * 1024 * 1024;
const READS_AT_ONCE = 4;
/** Of a compressed entry, where the list gives no counts. */
const BYTES_PER_ENTRY = 100;

/** Entries of a manifest, by its list's counts, else by its length. */
export function entriesOf(manifest: PlannedManifest): number {
  return manifest.entries ?? Math.ceil((manifest.length ?? 0) / BYTES_PER_ENTRY);
}

export function totalEntries(manifests: readonly PlannedManifest[]): number {
  return manifests.reduce((total, manifest) => total + entriesOf(manifest), 0);
}

/** Evenly spread manifests, a bounded number of entries of each. */
function pick(manifests: readonly PlannedManifest[]): PlannedManifest[] {
  const fit = manifests.filter(({ length }) => (length ?? 0) <= LARGEST_SAMPLED_BYTES);
  const count = Math.min(MANIFESTS_SAMPLED, fit.length);
  return Array.from({ length: count }, (_, index) => fit[Math.floor((index * fit.length) / count)]!);
}

async function sampleOne(manifest: PlannedManifest, store: ObjectStore, ignoreCase: boolean): Promise<string[]> {
  const object = await readObject(store, manifest.bucket, manifest.key);
  if (object === undefined) return [];
  const every = Math.max(1, Math.ceil(entriesOf(manifest) / ENTRIES_PER_MANIFEST));
  const keys: string[] = [];
  let index = 0;
  forEachEntry(object.body, manifest.path, {}, (_status, _content, filePath) => {
    if (index % every === 0) keys.push(foldReference(filePath.view().toString('utf8'), ignoreCase));
    index += 1;
  });
  return keys;
}

/** Folded keys, or none where the table is small. A manifest that cannot be read is the scan's to judge. */
export async function sampleKeys(
  manifests: readonly PlannedManifest[],
  store: ObjectStore,
  ignoreCase: boolean,
): Promise<string[]> {
  if (totalEntries(manifests) <= SAMPLE_FROM_ENTRIES) return [];
  const samples = await inOrder(pick(manifests), READS_AT_ONCE, (manifest) =>
    sampleOne(manifest, store, ignoreCase).catch(() => []),
  );
  return samples.flat();
}

/** One range, or quantiles of the sample. The ranges cover everything exactly once, whatever the sample is. */
export function keyRanges(sample: readonly string[], entries: number): KeyRange[] {
  const count = entries <= ONE_RANGE_ENTRIES ? 1 : Math.ceil(entries / ENTRIES_PER_RANGE);
  const sorted = [...new Set(sample)].map((key) => Buffer.from(key)).sort(Buffer.compare);
  const wanted = Array.from(
    { length: count - 1 },
    (_, index) => sorted[Math.floor(((index + 1) * sorted.length) / count)],
  );
  const boundaries = [
    ...new Set(wanted.filter((key) => key !== undefined && key.length > 0).map((key) => key!.toString('hex'))),
  ];
  return Array.from({ length: boundaries.length + 1 }, (_, index) => ({
    from: boundaries[index - 1] ?? null,
    to: boundaries[index] ?? null,
  }));
}
