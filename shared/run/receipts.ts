/** The small objects that finished pieces of work leave behind (DESIGN section 2). */
import type { ReferenceFault } from '#shared/identity/types.ts';
import type { ObjectRef } from './plan.ts';

export interface ReceiptBase {
  /** SHA-256 of the plan artefact. */
  readonly plan_hash: string;
}

/**
 * Fingerprints of one scan shard, one section per key range and group, each section a sorted run of u64 little-endian.
 * `offset` in bytes within the fragment object named by `object` (index into `objects`).
 */
export type FragmentGroup =
  /** Counts for coverage: a live entry of the pinned metadata, under the roots. */
  | 'content_covered'
  | 'content_inside'
  | 'content_outside'
  | 'metadata_inside'
  | 'metadata_outside'
  /** A further spelling of a reference (both keys of an alias): protects, counts nowhere. */
  | 'content_alias'
  | 'metadata_alias'
  /** Named only by DELETED entries of this shard: protects nothing, counted. */
  | 'deleted_entry';

export interface FragmentSection {
  readonly object: number;
  readonly range: number;
  readonly group: FragmentGroup;
  readonly offset: number;
  readonly entries: number;
  /** Of the section's bytes: a part of an object cannot be told by the object's digest. */
  readonly crc32?: number;
}

export interface ReferenceFaultTally {
  readonly fault: ReferenceFault;
  readonly evidence: string;
  readonly count: number;
  /** A few recorded paths. */
  readonly sample: readonly string[];
}

export interface ScanReceipt extends ReceiptBase {
  readonly shard: number;
  readonly manifests_planned: number;
  readonly manifests_read: number;
  /** Manifests that answered 404 where that is allowed; recorded paths. Not "read" for the recheck. */
  readonly manifests_skipped: readonly string[];
  readonly pending_not_avro: readonly string[];
  /** Entries by status and content, as read. */
  readonly entries: {
    readonly live_data: number;
    readonly live_position_deletes: number;
    readonly live_equality_deletes: number;
    readonly deleted: number;
  };
  /** Fingerprints written to the fragments, before deduplication, all sections together. */
  readonly fingerprints: number;
  readonly objects: readonly ObjectRef[];
  readonly sections: readonly FragmentSection[];
  readonly faults: readonly ReferenceFaultTally[];
  /** References under a folded root whose raw spelling is none of the listed spellings; raw prefixes, at most 20. */
  readonly unlisted_spellings: readonly string[];
  readonly requests: RequestCounts;
}

export interface BuildReceipt extends ReceiptBase {
  readonly range: number;
  readonly fragments: number;
  readonly entries_merged: number;
  readonly distinct: {
    readonly content: number;
    readonly metadata: number;
    readonly covered: number;
    readonly outside: number;
    /** All references, each once. */
    readonly named: number;
    /** Named by DELETED entries and live nowhere. */
    readonly deleted_only: number;
  };
  readonly filter: ObjectRef;
  /** Sorted u64 fingerprints of the covered references, for the coverage rule. */
  readonly coverage: ObjectRef;
  readonly expected_fpp: number;
  readonly requests: RequestCounts;
}

/** Classes of section 6. */
export type FileClass = 'referenced' | 'protected' | 'undated' | 'young' | 'waiting' | 'candidate';
export type FileGroup = 'content' | 'metadata';

export interface Tally {
  readonly files: number;
  readonly bytes: number;
}

export type ClassTallies = Readonly<Record<FileClass, Readonly<Record<FileGroup, Tally>>>>;

export interface ForeignMetadataFile {
  readonly key: string;
  readonly found: 'foreign_uuid' | 'foreign_location' | 'unreadable';
  readonly table_uuid: string | null;
}

export interface ListReceipt extends ReceiptBase {
  readonly shard: number;
  readonly bucket: string;
  readonly prefix: string;
  readonly after: string | null;
  readonly through: string | null;
  /** The listing went past the end of the interval, or the store said that nothing follows. */
  readonly reached_end: true;
  readonly listed: Tally;
  readonly folder_markers: number;
  readonly classes: ClassTallies;
  /** Candidates among our own superseded metadata files: in neither part of a ratio. */
  readonly superseded: Tally;
  readonly foreign: readonly ForeignMetadataFile[];
  readonly foreign_count: number;
  /** Keys with a component of another table format below a root, at most 20, and their number. */
  readonly other_formats: readonly string[];
  readonly other_formats_count: number;
  /** Keys with a `.` or `..` component below a root, at most 20, and their number. A directory's names that are no UTF-8 are such. */
  readonly dot_segments: readonly string[];
  readonly dot_segments_count: number;
  readonly chunks: readonly (ObjectRef & { readonly candidate_bytes: number })[];
  /** Fingerprints of listed keys that the content filter has, sections by range; group is always content_covered. */
  readonly seen: { readonly objects: readonly ObjectRef[]; readonly sections: readonly FragmentSection[] };
  readonly pages: number;
  readonly requests: RequestCounts;
  /** By kind (guessed from the name), for the report. */
  readonly candidate_kinds: Readonly<Record<string, Tally>>;
  /** Candidates that lie in a partition of the report: prefix → tally, at most 200 prefixes, the rest under ''. */
  readonly candidate_prefixes: Readonly<Record<string, Tally>>;
}

/** A line of a candidate chunk (gzip JSONL). */
export interface CandidateLine {
  readonly key: string;
  readonly bucket: string;
  readonly size: number;
  /** ISO 8601 in UTC, milliseconds kept. */
  readonly last_modified: string;
  readonly etag: string;
  readonly kind: string;
  readonly group: FileGroup;
  readonly superseded?: true;
}

export interface RequestCounts {
  readonly get: number;
  readonly list: number;
  readonly put: number;
  readonly delete: number;
}
