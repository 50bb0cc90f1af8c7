/** The run's settings after deployment, schedule and execution were resolved into one (DESIGN section 10). */

export type CatalogConfig =
  | { readonly type: 'path' }
  | { readonly type: 'glue'; readonly catalog_id?: string; readonly region?: string }
  | {
      readonly type: 'rest';
      readonly uri: string;
      readonly warehouse?: string;
      readonly prefix?: string;
      /** Name of a Secrets Manager secret, or `env:NAME` on one machine. Never the secret itself. */
      readonly token_secret?: string;
      readonly oauth2_server_uri?: string;
      readonly scope?: string;
    };

export type PrefixMismatchMode = 'ERROR' | 'IGNORE';
export type Scope = 'DATA_AND_METADATA' | 'TABLE';

/** Durations are milliseconds here; names stay those of the input. */
export interface ResolvedInput {
  readonly table: string;
  readonly catalog: CatalogConfig;
  readonly metadata_location?: string;
  readonly table_uuid?: string;
  /** `path` tables only: choose by the largest last-updated-ms instead of the version. */
  readonly metadata_choice: 'version' | 'last_updated';
  /** As given, for the record. */
  readonly older_than: string;
  /** Exactly one of the two: an age, or an instant. */
  readonly older_than_ms?: number;
  readonly older_than_instant?: string;
  readonly floor_ms: number;
  readonly location?: string;
  readonly scope: Scope;
  readonly exclude: readonly string[];
  readonly include_hidden: readonly string[];
  readonly dry_run: boolean;
  readonly plan?: string;
  readonly override?: string;
  readonly comment?: string;
  readonly equal_schemes: Readonly<Record<string, string>>;
  readonly equal_authorities: Readonly<Record<string, string>>;
  readonly path_aliases: Readonly<Record<string, string>>;
  readonly prefix_mismatch_mode: PrefixMismatchMode;
  readonly max_orphan_percent: number;
  readonly min_files: number;
  readonly max_orphan_files?: number;
  readonly max_orphan_bytes?: number;
  readonly max_missing_percent: number;
  readonly max_writer_lag_ms: number;
  readonly max_plan_age_ms: number;
  readonly pending_manifest_horizon_ms?: number;
  readonly max_concurrent_deletes: number;
  readonly delete_batch_size: number;
  readonly delete_cooldown_seconds: number;
  readonly max_files_per_run?: number;
  readonly max_concurrent_scans: number;
  readonly max_concurrent_lists: number;
  readonly pause_after_files?: number;
  readonly pause_ms?: number;
  readonly former_table_uuids: readonly string[];
  readonly overlaps_allowed: readonly string[];
  readonly owned_roots: readonly string[];
  readonly scheduled_time?: string;
  /** Of the one-machine runtime: the table's store folds case. */
  readonly ignore_case: boolean;
  /** Said once per run: options without effect, accepted Spark names. */
  readonly warnings: readonly string[];
}
