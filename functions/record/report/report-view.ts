/** What the page shows, counted beforehand, so that rendering is pure and takes the same time whatever the table's size. */
import type { RunRecord } from '#shared/run/record.ts';

export interface NamedTally {
  readonly name: string;
  readonly files: number;
  readonly bytes: number;
}

/** Orphans of one write operation, known by the id in their names. */
export interface OriginTally extends NamedTally {
  /** `Spark or Flink job`, `Trino query`, …: what kind of id `name` is. */
  readonly writer: string;
  /** ISO 8601; null where no file had a time. */
  readonly first: string | null;
  readonly last: string | null;
  readonly example: string;
}

export interface SampleFile {
  readonly path: string;
  readonly bytes: number;
  readonly last_modified: string;
  readonly kind: string;
  /** What became of it, where the run came to delete. */
  readonly outcome?: string;
}

/** An earlier run of the table, or this one; oldest first. */
export interface HistoryPoint {
  readonly run_id: string;
  readonly started_at: string;
  readonly verdict: string;
  readonly orphan_files: number;
  readonly orphan_bytes: number;
  readonly deleted_bytes: number;
}

export interface ReportView {
  readonly record: RunRecord;
  readonly kinds: readonly NamedTally[];
  /** Folders with a final slash, deepest known; the renderer makes the tree. */
  readonly prefixes: readonly NamedTally[];
  /** In order, youngest first. */
  readonly ages: readonly NamedTally[];
  /** In order, smallest first. */
  readonly sizes: readonly NamedTally[];
  readonly origins: readonly OriginTally[];
  readonly sample: readonly SampleFile[];
  readonly history: readonly HistoryPoint[];
  /** Settings as resolved, for "how it was decided"; name and value in words. */
  readonly settings: readonly { readonly name: string; readonly value: string }[];
  /** Files beside the page, by relative name. */
  readonly lists: readonly { readonly href: string; readonly label: string }[];
}
