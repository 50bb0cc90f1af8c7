/** Looking at single keys: before a request where the store cannot be told a condition, after one whose answer was lost. */
import { nameStoreError } from '#shared/catalog/table-objects.ts';
import { isStoreFault, type ObjectStore } from '#shared/storage/object-store.ts';
import type { SettledKey } from './outcomes.ts';
import type { CandidateLine } from './receipts.ts';

const HEADS_AT_ONCE = 16;

export interface LookedAt {
  readonly unchanged: readonly CandidateLine[];
  /** Absent ones, and such as are another object by now. */
  readonly settled: readonly SettledKey[];
  readonly reads: number;
}

/** HEADs each key; another ETag, size or time than the listing's means changed. */
export async function lookAtKeys(
  store: ObjectStore,
  bucket: string,
  lines: readonly CandidateLine[],
): Promise<LookedAt> {
  const unchanged: CandidateLine[] = [];
  const settled: SettledKey[] = [];
  for (let start = 0; start < lines.length; start += HEADS_AT_ONCE) {
    const group = lines.slice(start, start + HEADS_AT_ONCE);
    const results = await Promise.all(group.map((line) => lookAt(store, bucket, line)));
    group.forEach((line, index) => {
      const result = results[index];
      if (result === 'same') unchanged.push(line);
      else settled.push({ key: line.key, result: result as 'absent' | 'changed' });
    });
  }
  return { unchanged, settled, reads: lines.length };
}

async function lookAt(store: ObjectStore, bucket: string, line: CandidateLine): Promise<'same' | 'absent' | 'changed'> {
  try {
    const head = await store.head(bucket, line.key);
    // HTTP dates have whole seconds, listings may have milliseconds.
    const sameTime = Math.abs(head.lastModifiedMs - Date.parse(line.last_modified)) < 1000;
    const same = sameTime && head.sizeBytes === line.size && (line.etag === '' || head.etag === line.etag);
    return same ? 'same' : 'changed';
  } catch (error) {
    if (isStoreFault(error, 'NotFound')) return 'absent';
    throw nameStoreError(error, 's3:GetObject', bucket, line.key);
  }
}

/**
 * What became of a request whose answer was lost: keys that are gone count as deleted by it, with the marker that stands on
 * top of them; keys that are still there are left to the next request.
 */
export async function settleLostReply(
  store: ObjectStore,
  bucket: string,
  lines: readonly CandidateLine[],
  versioned: boolean,
): Promise<{ readonly settled: readonly SettledKey[]; readonly reads: number }> {
  const looked = await lookAtKeys(store, bucket, lines);
  const settled: SettledKey[] = [];
  let { reads } = looked;
  for (const entry of looked.settled) {
    if (entry.result !== 'absent') {
      settled.push(entry);
      continue;
    }
    const marker = versioned ? await markerOf(store, bucket, entry.key) : undefined;
    if (versioned) reads++;
    settled.push(
      marker === undefined
        ? { key: entry.key, result: 'deleted' }
        : { key: entry.key, result: 'deleted', version_id: marker },
    );
  }
  return { settled, reads };
}

async function markerOf(store: ObjectStore, bucket: string, key: string): Promise<string | undefined> {
  const page = await store.listVersions({ bucket, prefix: key, maxKeys: 2 });
  return page.versions.find((version) => version.key === key && version.isLatest && version.isDeleteMarker)?.versionId;
}
