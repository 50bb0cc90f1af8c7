/** One candidate as `--output jsonl` prints it; the first column bears Spark's name (DESIGN section 11). */
import type { CandidateLine } from '#shared/run/receipts.ts';

export interface OrphanLine {
  /** Full path, spelled as the table's metadata spells its own. */
  readonly orphan_file_location: string;
  readonly size_bytes: number;
  /** ISO 8601 in UTC. */
  readonly last_modified: string;
  readonly kind: string;
}

/** @param spell gives the recorded spelling of a listed key */
export function orphanLine(line: CandidateLine, spell: (bucket: string, key: string) => string): OrphanLine {
  return {
    orphan_file_location: spell(line.bucket, line.key),
    size_bytes: line.size,
    last_modified: line.last_modified,
    kind: line.kind,
  };
}
