/** The record of a run: the output of the execution, the item in the run table and `report/summary.json` (DESIGN section 9). */
import type { Verdict } from '#shared/errors.ts';
import type { GateResult } from './plan.ts';
import type { RequestCounts } from './receipts.ts';

export interface TableTotals {
  readonly data_files: number;
  readonly data_bytes: number;
  readonly metadata_files: number;
  readonly metadata_bytes: number;
}

export interface RunRecord {
  readonly version: 1;
  readonly run_id: string;
  readonly table: string;
  readonly verdict: Verdict;
  readonly error?: string;
  readonly cause?: string;
  /** What the operator does next, in one sentence. */
  readonly next_step?: string;
  readonly started_at: string;
  readonly finished_at: string;
  readonly dry_run: boolean;
  readonly comment?: string;
  readonly cutoff: string | null;
  readonly metadata_location: string | null;
  readonly table_uuid: string | null;
  /** Decimal string. */
  readonly snapshot_id: string | null;
  readonly plan_digest: string | null;
  /** The run whose sealed plan was deleted, where it is not this one. */
  readonly plan_run?: string;
  readonly override?: string;
  readonly before: TableTotals;
  readonly after: TableTotals;
  readonly processed_manifests_count: number;
  readonly referenced_files_count: number;
  readonly outside_roots_count: number;
  readonly scanned_files_count: number;
  readonly missing_files_count: number;
  readonly tombstone_only_files_count: number;
  readonly orphan_files_count: number;
  readonly orphan_bytes: number;
  readonly orphan_percent: { readonly content: number | null; readonly metadata: number | null };
  readonly deleted_data_files_count: number;
  readonly deleted_position_delete_files_count: number;
  readonly deleted_equality_delete_files_count: number;
  readonly deleted_manifest_files_count: number;
  readonly deleted_manifest_lists_count: number;
  readonly deleted_metadata_files_count: number;
  readonly deleted_statistics_files_count: number;
  readonly skipped_missing_metadata_count: number;
  readonly failed_deletions_count: number;
  readonly deleted_files_count: number;
  readonly deleted_bytes: number;
  /** False on versioned buckets: markers were written, the bytes are still billed. */
  readonly bytes_reclaimed: boolean;
  readonly rescued_files_count: number;
  readonly changed_files_count: number;
  readonly already_absent_files_count: number;
  readonly remaining_files_count: number;
  readonly kept: {
    readonly young: number;
    readonly protected: number;
    readonly waiting: number;
    readonly undated: number;
    /** Files that lie in the location beside its folders. What other folders hold is not counted; `warnings` names them. */
    readonly unmanaged: number;
  };
  readonly skipped_manifests_count: number;
  readonly gates: readonly GateResult[];
  readonly filters: { readonly shards: number; readonly entries: number; readonly expected_fpp: number };
  readonly delete_rate?: { readonly keys_per_second: number; readonly throttles: number };
  readonly requests: RequestCounts;
  readonly estimated_cost_usd: number;
  readonly tables_compared: number | null;
  /** Absolute key prefix of the run's artefacts in the work bucket, and the report in it. */
  readonly artefacts: string;
  readonly report: string | null;
  /** Console links, absent on one machine. */
  readonly links?: Readonly<Record<string, string>>;
  /** At most 20 recorded-style paths. */
  readonly sample: readonly string[];
  readonly warnings: readonly string[];
}
