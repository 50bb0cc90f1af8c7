/** What became of every key of a batch. Written once per batch, read by the record stage, by restore and by repeats. */
import { fileKind } from '#shared/iceberg/file-kind.ts';
import type { CandidateLine } from './receipts.ts';

/**
 * deleted: by us. absent: was gone already. rescued: new metadata names it. changed: another object by now.
 * failed: the store said why. unknown: the store gave no answer, also after retries and a look. left: still to be asked for (throttle,
 * cap, stop).
 */
export type KeyResult = 'deleted' | 'absent' | 'rescued' | 'changed' | 'failed' | 'unknown' | 'left';

export interface SettledKey {
  readonly key: string;
  readonly result: KeyResult;
  /** Of the delete marker, on versioned buckets. */
  readonly version_id?: string;
  /** The store's code, for `failed`. */
  readonly code?: string;
}

export interface ResultTally {
  readonly files: number;
  readonly bytes: number;
}

export interface BatchOutcome {
  readonly plan_hash: string;
  readonly plan_digest: string;
  readonly batch: number;
  readonly bucket: string;
  readonly tallies: Readonly<Record<KeyResult, ResultTally>>;
  /** Deleted files by kind (guessed from the name, for counting only). */
  readonly kinds: Readonly<Record<string, number>>;
  readonly deleted_metadata: ResultTally;
  /** Every key that is not simply deleted, and every marker. */
  readonly keys: readonly SettledKey[];
  readonly codes: Readonly<Record<string, number>>;
  readonly requests: number;
  readonly reads: number;
  readonly throttles: number;
  readonly started_at: string;
  readonly finished_at: string;
}

/** `delete/<batch>/intent-<n>.json`: what a request is about to ask. */
export interface DeleteIntent {
  readonly keys: readonly string[];
  readonly at: string;
}

/** `delete/<batch>/reply-<n>.json`: what became of it. Keys that are to be tried again are not in it. */
export interface DeleteReplyNote {
  readonly settled: readonly SettledKey[];
  readonly throttled: boolean;
  readonly reads: number;
  /** Nothing was sent: the look that allowed the request had grown too old before it could go. */
  readonly unsent?: true;
  /** The store rejected this form of request as a whole: the next one takes another form. */
  readonly rejected?: 'NotImplemented' | 'BadRequest';
  /** Keys of the intent that were not asked for, since the look at the table had become too old for them. */
  readonly held?: readonly string[];
}

export type KeyCounts = Pick<BatchOutcome, 'tallies' | 'kinds' | 'deleted_metadata' | 'keys' | 'codes'>;

/** Counts every line of a batch under its result; lines without one count as `otherwise`. */
export function countKeys(
  lines: Iterable<CandidateLine>,
  settled: ReadonlyMap<string, SettledKey>,
  otherwise: 'unknown' | 'left',
): KeyCounts {
  const tallies = emptyTallies();
  const kinds: Record<string, number> = {};
  const codes: Record<string, number> = {};
  const deletedMetadata = { files: 0, bytes: 0 };
  const keys: SettledKey[] = [];
  for (const line of lines) {
    const entry = settled.get(line.key) ?? { key: line.key, result: otherwise };
    tallies[entry.result].files++;
    tallies[entry.result].bytes += line.size;
    if (entry.code !== undefined) codes[entry.code] = (codes[entry.code] ?? 0) + 1;
    if (entry.result !== 'deleted' || entry.version_id !== undefined) keys.push(entry);
    if (entry.result !== 'deleted') continue;
    const kind = fileKind(line.key);
    kinds[kind] = (kinds[kind] ?? 0) + 1;
    if (line.group === 'metadata') {
      deletedMetadata.files++;
      deletedMetadata.bytes += line.size;
    }
  }
  return { tallies, kinds, deleted_metadata: deletedMetadata, keys, codes };
}

function emptyTallies(): Record<KeyResult, { files: number; bytes: number }> {
  const zero = () => ({ files: 0, bytes: 0 });
  return {
    deleted: zero(),
    absent: zero(),
    rescued: zero(),
    changed: zero(),
    failed: zero(),
    unknown: zero(),
    left: zero(),
  };
}
