/** Every flag, once: what it takes, which input it becomes, which commands know it, what the help says (DESIGN sections 10, 11). */

export type FlagKind = 'switch' | 'text' | 'number' | 'texts' | 'map';

export interface Flag {
  readonly name: string;
  readonly kind: FlagKind;
  /** What the help shows behind the flag. */
  readonly value?: string;
  /** The input it becomes; absent where it is the command line's own. */
  readonly input?: string;
  readonly group: FlagGroup;
  readonly help: string;
}

/** Groups are given to commands as a whole. */
export type FlagGroup =
  | 'common'
  | 'table'
  | 'store'
  | 'catalog'
  | 'what'
  | 'limits'
  | 'paths'
  | 'pace'
  | 'delete'
  | 'sealed'
  | 'fleet'
  | 'html';

const common: readonly Flag[] = [
  { name: 'state', kind: 'text', value: 'DIR', group: 'common', help: 'where runs are kept (.icesweep)' },
  { name: 'output', kind: 'text', value: 'FORMAT', group: 'common', help: 'text, json or jsonl' },
  { name: 'quiet', kind: 'switch', group: 'common', help: 'no progress; errors only' },
  { name: 'help', kind: 'switch', group: 'common', help: 'this page' },
];

const store: readonly Flag[] = [
  {
    name: 'endpoint-url',
    kind: 'text',
    value: 'URL',
    group: 'store',
    help: 'an S3-compatible store (MinIO, R2, Ceph)',
  },
  { name: 'region', kind: 'text', value: 'NAME', group: 'store', help: 'region of the store' },
  { name: 'path-style', kind: 'switch', group: 'store', help: 'bucket in the path; set with --endpoint-url' },
  { name: 'profile', kind: 'text', value: 'NAME', group: 'store', help: 'AWS profile with the credentials' },
];

const catalog: readonly Flag[] = [
  { name: 'catalog', kind: 'text', value: 'TYPE', group: 'catalog', help: 'path (no catalog), glue or rest' },
  { name: 'uri', kind: 'text', value: 'URL', group: 'catalog', help: 'of a rest catalog' },
  { name: 'warehouse', kind: 'text', value: 'NAME', group: 'catalog', help: 'of a rest catalog' },
  { name: 'catalog-prefix', kind: 'text', value: 'TEXT', group: 'catalog', help: 'path prefix of a rest catalog' },
  { name: 'catalog-id', kind: 'text', value: 'ACCOUNT', group: 'catalog', help: 'Glue catalog of another account' },
  { name: 'token-env', kind: 'text', value: 'NAME', group: 'catalog', help: 'variable that holds the token' },
  { name: 'oauth2-server-uri', kind: 'text', value: 'URL', group: 'catalog', help: 'where the token is exchanged' },
  { name: 'oauth2-scope', kind: 'text', value: 'TEXT', group: 'catalog', help: 'scope of that exchange' },
  {
    name: 'mount',
    kind: 'texts',
    value: 'PREFIX=DIR',
    group: 'table',
    help: 'recorded prefix → local directory; repeatable',
  },
  {
    name: 'metadata-location',
    kind: 'text',
    value: 'PATH',
    input: 'metadata_location',
    group: 'table',
    help: 'stand on this metadata file',
  },
  {
    name: 'metadata-choice',
    kind: 'text',
    value: 'RULE',
    input: 'metadata_choice',
    group: 'table',
    help: 'version or last_updated',
  },
  {
    name: 'table-uuid',
    kind: 'text',
    value: 'UUID',
    input: 'table_uuid',
    group: 'table',
    help: 'the table must have this uuid',
  },
];

const what: readonly Flag[] = [
  {
    name: 'older-than',
    kind: 'text',
    value: 'AGE',
    input: 'older_than',
    group: 'what',
    help: '3d, 72h, P3D or an instant with zone (3d; least 24h)',
  },
  {
    name: 'location',
    kind: 'text',
    value: 'PATH',
    input: 'location',
    group: 'what',
    help: 'only this part of the table, such as data/',
  },
  {
    name: 'scope',
    kind: 'text',
    value: 'SCOPE',
    input: 'scope',
    group: 'what',
    help: 'DATA_AND_METADATA or TABLE (the whole location)',
  },
  {
    name: 'exclude',
    kind: 'texts',
    value: 'GLOB',
    input: 'exclude',
    group: 'what',
    help: 'keep what matches; repeatable',
  },
  {
    name: 'include-hidden',
    kind: 'texts',
    value: 'GLOB',
    input: 'include_hidden',
    group: 'what',
    help: 'hidden names to judge all the same; repeatable',
  },
  {
    name: 'comment',
    kind: 'text',
    value: 'TEXT',
    input: 'comment',
    group: 'what',
    help: 'why this run was started; kept in its record',
  },
  {
    name: 'scheduled-time',
    kind: 'text',
    value: 'INSTANT',
    input: 'scheduled_time',
    group: 'what',
    help: 'a time that is taken by one run only',
  },
  {
    name: 'pending-manifest-horizon',
    kind: 'text',
    value: 'AGE',
    input: 'pending_manifest_horizon',
    group: 'what',
    help: "ends the protection of Flink's pending manifests",
  },
  {
    name: 'former-table-uuids',
    kind: 'texts',
    value: 'UUID',
    input: 'former_table_uuids',
    group: 'what',
    help: 'dropped tables whose leavings may go; repeatable',
  },
  {
    name: 'overlaps-allowed',
    kind: 'texts',
    value: 'TABLE',
    input: 'overlaps_allowed',
    group: 'what',
    help: 'tables that may overlap this one; repeatable',
  },
  {
    name: 'owned-roots',
    kind: 'texts',
    value: 'PATH',
    input: 'owned_roots',
    group: 'what',
    help: 'outside paths that are this table’s alone; repeatable',
  },
  { name: 'stream-results', kind: 'switch', input: 'stream_results', group: 'what', help: 'Spark’s; always so' },
  { name: 'prefix-listing', kind: 'switch', input: 'prefix_listing', group: 'what', help: 'Spark’s; always so' },
];

const limits: readonly Flag[] = [
  {
    name: 'max-orphan-percent',
    kind: 'number',
    value: 'N',
    input: 'max_orphan_percent',
    group: 'limits',
    help: 'refuse above it (20)',
  },
  {
    name: 'min-files',
    kind: 'number',
    value: 'N',
    input: 'min_files',
    group: 'limits',
    help: 'from so many files on (100)',
  },
  {
    name: 'max-orphan-files',
    kind: 'number',
    value: 'N',
    input: 'max_orphan_files',
    group: 'limits',
    help: 'refuse above it',
  },
  {
    name: 'max-orphan-bytes',
    kind: 'number',
    value: 'N',
    input: 'max_orphan_bytes',
    group: 'limits',
    help: 'refuse above it',
  },
  {
    name: 'max-missing-percent',
    kind: 'number',
    value: 'N',
    input: 'max_missing_percent',
    group: 'limits',
    help: 'referenced files not found (5); 100: do not look',
  },
  {
    name: 'max-writer-lag',
    kind: 'text',
    value: 'AGE',
    input: 'max_writer_lag',
    group: 'limits',
    help: 'files newer than the last commit wait so long (30d)',
  },
  {
    name: 'max-plan-age',
    kind: 'text',
    value: 'AGE',
    input: 'max_plan_age',
    group: 'limits',
    help: 'a plan may be deleted so long (7d)',
  },
];

const paths: readonly Flag[] = [
  {
    name: 'equal-schemes',
    kind: 'map',
    value: 'A,B=C',
    input: 'equal_schemes',
    group: 'paths',
    help: 'schemes that are one (s3a,s3n=s3); repeatable',
  },
  {
    name: 'equal-authorities',
    kind: 'map',
    value: 'A=B',
    input: 'equal_authorities',
    group: 'paths',
    help: 'buckets that are one; repeatable',
  },
  {
    name: 'path-aliases',
    kind: 'map',
    value: 'PREFIX=URI',
    input: 'path_aliases',
    group: 'paths',
    help: 'recorded prefix → where it lies now; repeatable',
  },
  {
    name: 'prefix-mismatch-mode',
    kind: 'text',
    value: 'MODE',
    input: 'prefix_mismatch_mode',
    group: 'paths',
    help: 'ERROR (refuse) or IGNORE (keep)',
  },
];

const pace: readonly Flag[] = [
  {
    name: 'max-concurrent-deletes',
    kind: 'number',
    value: 'N',
    input: 'max_concurrent_deletes',
    group: 'pace',
    help: 'batches at a time (1)',
  },
  {
    name: 'delete-batch-size',
    kind: 'number',
    value: 'N',
    input: 'delete_batch_size',
    group: 'pace',
    help: 'files in a batch (1000)',
  },
  {
    name: 'delete-cooldown-seconds',
    kind: 'number',
    value: 'N',
    input: 'delete_cooldown_seconds',
    group: 'pace',
    help: 'pause after a batch (1)',
  },
  {
    name: 'max-files-per-run',
    kind: 'number',
    value: 'N',
    input: 'max_files_per_run',
    group: 'pace',
    help: 'stop there; the next run goes on',
  },
  {
    name: 'max-concurrent-scans',
    kind: 'number',
    value: 'N',
    input: 'max_concurrent_scans',
    group: 'pace',
    help: 'scan workers (2)',
  },
  {
    name: 'max-concurrent-lists',
    kind: 'number',
    value: 'N',
    input: 'max_concurrent_lists',
    group: 'pace',
    help: 'list workers (2)',
  },
  {
    name: 'pause-after-files',
    kind: 'number',
    value: 'N',
    input: 'pause_after_files',
    group: 'pace',
    help: 'rest after so many files',
  },
  { name: 'pause-ms', kind: 'number', value: 'N', input: 'pause_ms', group: 'pace', help: 'how long (100)' },
];

const deleting: readonly Flag[] = [
  { name: 'yes', kind: 'switch', group: 'delete', help: 'do not ask' },
  { name: 'dry-run', kind: 'switch', input: 'dry_run', group: 'what', help: 'only plan, whatever the command' },
  { name: 'detailed-exitcode', kind: 'switch', group: 'common', help: 'exit 2 when orphans were found' },
  {
    name: 'override',
    kind: 'text',
    value: 'DIGEST',
    input: 'override',
    group: 'sealed',
    help: 'delete a plan that a threshold refused',
  },
  {
    name: 'plan',
    kind: 'text',
    value: 'RUN',
    input: 'plan',
    group: 'sealed',
    help: 'delete this run’s plan, as `delete RUN` does',
  },
];

const fleet: readonly Flag[] = [
  { name: 'state-machine', kind: 'text', value: 'ARN', group: 'fleet', help: 'the deployed state machine' },
  { name: 'run-table', kind: 'text', value: 'NAME', group: 'fleet', help: 'the deployed run table (DynamoDB)' },
  { name: 'work-bucket', kind: 'text', value: 'NAME', group: 'fleet', help: 'the deployed work bucket' },
  { name: 'html', kind: 'text', value: 'FILE', group: 'html', help: 'write the page there' },
  { name: 'limit', kind: 'number', value: 'N', group: 'html', help: 'show so many runs (50)' },
];

export const FLAGS: readonly Flag[] = [
  ...common,
  ...what,
  ...catalog,
  ...store,
  ...limits,
  ...paths,
  ...pace,
  ...deleting,
  ...fleet,
];
