/**
 * Undo on versioned buckets: deletes exactly the delete markers that one run made, so that the objects under them are current
 * again. Never another version; where a newer version stands on top, the marker is not what hides the file, and it stays.
 */
import { PlanNotDeletableError } from '#shared/errors.ts';
import { isStoreFault, type ObjectStore } from '#shared/storage/object-store.ts';
import type { RunArtefacts } from './run-artefacts.ts';
import { readOutcome } from './settle-batch.ts';

export interface Restored {
  readonly restored: number;
  /** Markers that were gone already. */
  readonly alreadyGone: number;
  /** Keys with a newer version or marker on top of ours. */
  readonly covered: number;
  /** Deleted without a marker: nothing brings those back. */
  readonly unversioned: number;
}

/** Walks the outcomes of the run's batches. `onKey` is told of every restored key. */
export async function restoreRun(
  store: ObjectStore,
  artefacts: RunArtefacts,
  batches: number,
  onKey: (key: string) => void = () => undefined,
): Promise<Restored> {
  const counts = { restored: 0, alreadyGone: 0, covered: 0, unversioned: 0 };
  for (let batch = 0; batch < batches; batch++) {
    const outcome = await readOutcome(artefacts, batch);
    if (outcome === undefined) continue;
    const markers = outcome.keys.filter((entry) => entry.result === 'deleted' && entry.version_id !== undefined);
    counts.unversioned += outcome.tallies.deleted.files - markers.length;
    for (const { key, version_id } of markers) {
      const state = await markerState(store, outcome.bucket, key, version_id as string);
      if (state !== 'latest') {
        counts[state]++;
        continue;
      }
      await store.deleteObject(outcome.bucket, key, { versionId: version_id as string });
      counts.restored++;
      onKey(key);
    }
  }
  if (counts.restored + counts.alreadyGone + counts.covered === 0) {
    throw new PlanNotDeletableError(
      'The run made no delete markers: the bucket was not versioned, or nothing was deleted.',
      {
        next: 'Files that were deleted without versioning cannot be brought back.',
      },
    );
  }
  return counts;
}

async function markerState(
  store: ObjectStore,
  bucket: string,
  key: string,
  versionId: string,
): Promise<'latest' | 'alreadyGone' | 'covered'> {
  try {
    const page = await store.listVersions({ bucket, prefix: key, maxKeys: 1000 });
    const mine = page.versions.find((version) => version.key === key && version.versionId === versionId);
    if (mine === undefined || !mine.isDeleteMarker) return 'alreadyGone';
    return mine.isLatest ? 'latest' : 'covered';
  } catch (error) {
    if (isStoreFault(error, 'NotFound')) return 'alreadyGone';
    throw error;
  }
}
