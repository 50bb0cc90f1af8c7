/** `evaluate/seal.json`: everything that the delete stage may act on (DESIGN section 7, rule 5). */
import type { Root } from '#shared/identity/types.ts';
import type { GateResult, ObjectRef } from './plan.ts';

/** One batch: consecutive candidate chunks of one bucket, at most `delete_batch_size` files unless one chunk has more. */
export interface SealedBatch {
  readonly batch: number;
  readonly bucket: string;
  readonly chunks: readonly ObjectRef[];
  readonly files: number;
  readonly bytes: number;
}

export interface Seal {
  readonly version: 1;
  readonly run_id: string;
  readonly table: string;
  readonly prefix: string;
  readonly plan_hash: string;
  readonly t0: string;
  readonly cutoff: string;
  readonly writer_time: string | null;
  readonly roots: readonly Root[];
  readonly metadata_location: string;
  readonly table_uuid: string | null;
  readonly verdict: 'DRY_RUN' | 'DELETE' | 'REFUSED' | 'NOTHING_TO_DO';
  /** Error names of every rule that refused; empty unless REFUSED. `coverage_rule` tells the second rule of coverage. */
  readonly refusals: readonly { readonly error: string; readonly rule: string; readonly message: string }[];
  readonly gates: readonly GateResult[];
  readonly batches: readonly SealedBatch[];
  readonly orphan_files: number;
  readonly orphan_bytes: number;
}
