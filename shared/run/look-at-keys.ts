/** Looking at single keys: before a request where the store cannot be told a condition, after one whose answer was lost. */
import { nameStoreError } from '#shared/catalog/table-objects.ts';
import { IcesweepError } from '#shared/errors.ts';
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

/** S3 refuses requests whose clock is off by more than this, so that no marker of ours can be older than its intent by more. */
export const CLOCK_ALLOWANCE_MS = 15 * 60_000;

/** Where keys were asked for, and whether the bucket keeps versions. */
export interface AskedPlace {
  readonly store: ObjectStore;
  readonly bucket: string;
  readonly versioned: boolean;
}

/**
 * What became of keys that nobody will ask for again and whose answers were lost: keys that are gone are claimed, see
 * {@link claimAbsent}; of keys that are still there nothing is said. A store that cannot be asked now, either, leaves them unknown.
 * `askedAt` is the time of the intent.
 */
export async function settleUnanswered(
  place: AskedPlace,
  lines: readonly CandidateLine[],
  askedAt: (key: string) => string | undefined,
): Promise<{ readonly settled: readonly SettledKey[]; readonly reads: number }> {
  try {
    const looked = await lookAtKeys(place.store, place.bucket, lines);
    const claimed = await claimAbsent(place, looked.settled, askedAt);
    return { settled: claimed.settled, reads: looked.reads + claimed.reads };
  } catch (error) {
    if (!(error instanceof IcesweepError)) throw error;
    return { settled: lines.map(({ key }) => ({ key, result: 'unknown' })), reads: 0 };
  }
}

/**
 * Keys that are gone, and that an earlier request asked for without an answer, were deleted by it: where versions are kept, only if
 * the marker on top is not older than that request. Any other marker is somebody else's: the key was absent already. S3
 * answers a condition on a key that a marker hides as if the object had changed, also where versioning is suspended.
 */
export async function claimAbsent(
  place: AskedPlace,
  settled: readonly SettledKey[],
  askedAt: (key: string) => string | undefined,
): Promise<{ readonly settled: readonly SettledKey[]; readonly reads: number }> {
  const claimed: SettledKey[] = [];
  let reads = 0;
  for (let start = 0; start < settled.length; start += HEADS_AT_ONCE) {
    const group = settled.slice(start, start + HEADS_AT_ONCE).map(async (entry): Promise<SettledKey> => {
      const { key, result } = entry;
      const at = result === 'absent' || result === 'changed' ? askedAt(key) : undefined;
      if (at === undefined) return entry;
      if (!place.versioned && result === 'absent') return { key, result: 'deleted' };
      reads++;
      if (!place.versioned) return (await isGone(place, key)) ? { key, result: 'deleted' } : entry;
      const earliestMs = Date.parse(at) - CLOCK_ALLOWANCE_MS;
      const marker = await markerSince(place, key, earliestMs);
      return marker === undefined ? entry : { key, result: 'deleted', version_id: marker };
    });
    claimed.push(...(await Promise.all(group)));
  }
  return { settled: claimed, reads };
}

async function isGone({ store, bucket }: AskedPlace, key: string): Promise<boolean> {
  try {
    await store.head(bucket, key);
    return false;
  } catch (error) {
    if (isStoreFault(error, 'NotFound')) return true;
    throw nameStoreError(error, 's3:GetObject', bucket, key);
  }
}

async function markerSince(
  { store, bucket }: AskedPlace,
  key: string,
  earliestMs: number,
): Promise<string | undefined> {
  const page = await store.listVersions({ bucket, prefix: key, maxKeys: 2 });
  const top = page.versions.find((version) => version.key === key && version.isLatest && version.isDeleteMarker);
  return top !== undefined && top.lastModifiedMs >= earliestMs ? top.versionId : undefined;
}
