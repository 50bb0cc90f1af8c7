/**
 * Flink's pending manifests: written before the commit, named by no snapshot, needed to restore the job (DESIGN section 3, Flink;
 * ET-01, ET-06). `FlinkManifestUtil` names them `<job>-<operator>-<subtask>-<attempt>-<checkpoint>-<n>.avro`; older releases
 * without the operator, the dynamic sink with a suffix.
 */
import type { TableMetadata } from './types.ts';

export interface PendingManifest {
  readonly jobId: string;
  readonly checkpoint: bigint;
}

/** Subtask and count are printed with at least five digits; operator and suffix may be any text. Ordinary manifests do not fit (ET-07). */
const PENDING = /^([^-]+)-(?:.*?-)??(\d{5,})-(\d+)-(\d+)-(\d{5,})(?:-.+)?\.avro$/;

/** Parses the name of a pending manifest, without its folder; null for any other name. */
export function parsePendingManifest(fileName: string): PendingManifest | null {
  const match = PENDING.exec(fileName);
  return match === null ? null : { jobId: match[1] as string, checkpoint: BigInt(match[4] as string) };
}

/** Job ids from the summaries of every snapshot, of every job that ever committed to what is retained. */
export function flinkJobIds(meta: TableMetadata): string[] {
  const ids = meta.snapshots.flatMap(({ summary }) =>
    Object.entries(summary).flatMap(([key, value]) => (key.startsWith('flink.job-id') && value !== '' ? [value] : [])),
  );
  return [...new Set(ids)];
}

/** Whether a file's name starts with one of the job ids: such a file belongs to a job that may still need it. */
export function startsWithJobId(fileName: string, jobIds: readonly string[]): boolean {
  return jobIds.some((id) => fileName.startsWith(id));
}
