/** The plan artefact and the work items that hang on it. Written once by the plan stage, never edited (DESIGN section 2, 3). */

import type { CurrentPointer } from '#shared/catalog/catalog.ts';
import type { IdentityRules, Root } from '#shared/identity/types.ts';
import type { ResolvedInput } from './resolved-input.ts';

export interface GateResult {
  readonly name: string;
  readonly value: string | number | boolean | null;
  readonly limit: string | number | boolean | null;
  readonly passed: boolean;
}

/** The metadata file that the run stands on. */
export interface Pin {
  /** Recorded spelling, as the catalog or the input gave it. */
  readonly metadata_location: string;
  readonly bucket: string;
  readonly key: string;
  readonly table_uuid: string | null;
  readonly format_version: number;
  readonly last_updated_ms: number;
  /** Decimal strings: 64-bit ids do not fit a JSON number. */
  readonly last_sequence_number: string;
  readonly snapshot_id: string | null;
}

/** A location may have a folder per partition. */
export const MOST_UNMANAGED_PREFIXES = 100;

/** A folded-key interval `[from, to)` in byte order; null is unbounded. Hex of the UTF-8 bytes. */
export interface KeyRange {
  readonly from: string | null;
  readonly to: string | null;
}

export interface Folder {
  readonly bucket: string;
  readonly prefix: string;
}

export interface Plan {
  readonly version: 1;
  readonly run_id: string;
  readonly table: string;
  /** `runs/<table>/<run_id>`. */
  readonly prefix: string;
  readonly input: ResolvedInput;
  /** Start of the execution, ISO 8601 in UTC. */
  readonly t0: string;
  /** Files must be strictly older. */
  readonly cutoff: string;
  /** Files not older than this wait for their writer until `max_writer_lag`; null: the beginning of time. */
  readonly writer_time: string | null;
  readonly pin: Pin;
  /** What the catalog answered for the pin: the rechecks compare with it. */
  readonly pointer: CurrentPointer;
  readonly location: string;
  /** The pinned file and further roots of reachability, recorded spellings; the pin is first. */
  readonly metadata_roots: readonly string[];
  readonly roots: readonly Root[];
  readonly data_folders: readonly Folder[];
  readonly metadata_folders: readonly Folder[];
  readonly identity: IdentityRules;
  /** Names of the partition fields of every spec: `<field>=` components are not hidden. */
  readonly partition_fields: readonly string[];
  readonly flink: {
    readonly job_ids: readonly string[];
    readonly manifest_folders: readonly Folder[];
  };
  /** Seed of the key hash, 16 hex digits. */
  readonly salt: string;
  readonly ranges: readonly KeyRange[];
  readonly scan: {
    readonly shards: number;
    readonly manifests: number;
    /** SHA-256 of each shard's body: a shard of another run would leave files of this table unread. */
    readonly digests: readonly string[];
  };
  readonly list: { readonly shards: number };
  /** The rest of the location: its first folders, and the count of the files beside them. Never touched. */
  readonly unmanaged: { readonly prefixes: readonly string[]; readonly files: number; readonly bytes: number };
  readonly tables_compared: number | null;
  /** Manifest lists and manifests that answered 404 and are no longer named (DESIGN section 2). */
  readonly skipped_manifests: readonly string[];
  readonly pending_manifests: { readonly kept: number; readonly read: number; readonly skipped: number };
  /** `write` path → unlogged metadata files of ours with a lower version than the pinned: in neither ratio. */
  readonly superseded_metadata_files: number;
  readonly gates: readonly GateResult[];
  readonly warnings: readonly string[];
}

/** A manifest to read. `optional`: only later roots or pending names lead to it, so a 404 is skipped and counted. */
export interface PlannedManifest {
  readonly path: string;
  readonly bucket: string;
  readonly key: string;
  readonly content: 'data' | 'deletes';
  readonly length?: number;
  /** Total entries that the list promises (added + existing + deleted), where it gives all three. */
  readonly entries?: number;
  readonly kind: 'pinned' | 'later_root' | 'pending';
}

/** Body of `plan/scan-shards/<n>.json`. `references` names a `plan/references-*` object: metadata-level references. */
export interface ScanShard {
  readonly shard: number;
  readonly manifests: readonly PlannedManifest[];
  readonly references?: ObjectRef;
}

export interface ScanItem {
  readonly shard: number;
}
export interface BuildItem {
  readonly range: number;
}
/** The raw interval `(after, through]` under a prefix; null is unbounded. */
export interface ListItem {
  readonly shard: number;
  readonly bucket: string;
  readonly prefix: string;
  readonly after: string | null;
  readonly through: string | null;
}

/** A line of `plan/references-*`: what metadata names directly. `referenced_data_file`s come from manifests only. */
export interface PlannedReference {
  readonly path: string;
  readonly kind:
    | 'metadata_file'
    | 'version_hint'
    | 'manifest_list'
    | 'manifest'
    | 'statistics'
    | 'partition_statistics'
    | 'pending_manifest';
}

/** A named object with what it must be when read again. */
export interface ObjectRef {
  /** Relative to the run's prefix. */
  readonly name: string;
  readonly bytes: number;
  readonly entries: number;
  readonly sha256: string;
}
