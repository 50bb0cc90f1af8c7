/** The JSON Schema of the input as the build publishes it: what the parser takes, with words and defaults for people and editors. */
import { z } from 'zod';
import { BUILT_IN } from './input-levels.ts';
import { inputSchema } from './input-schema.ts';

type Schema = Record<string, unknown>;

/** Why a setting is there, for editors that show it. */
const WORDS: Readonly<Record<keyof typeof inputSchema.shape, string>> = {
  table: '`db.table`, or the table’s location where there is no catalog.',
  metadata_location: 'The metadata file to stand on, instead of asking a catalog.',
  table_uuid: 'The table must have this uuid.',
  plan: 'The run whose sealed plan is deleted.',
  override: 'The plan digest of a run that a threshold refused: deletes that plan once.',
  comment: 'Why this run was started; kept in its record.',
  scheduled_time: 'Set by the scheduler: a time that is taken by one run only.',
  catalog: 'Who holds the pointer to the metadata; the deployment’s unless it is set.',
  older_than: 'Files must be older: a duration (P3D, 3d, 72h) or an instant with zone; never under 24 hours.',
  location: 'Restricts the run to a sub-path of its roots.',
  scope: 'DATA_AND_METADATA lists data and metadata folders, TABLE the whole location.',
  metadata_choice: 'Without a catalog: the file of the highest version, or the one that was updated last.',
  exclude: 'Globs below the roots; what matches is kept.',
  include_hidden: 'Globs of hidden names (_x, .x) to judge all the same.',
  dry_run: 'Lists and judges only; the deployment’s unless it is set, and true at first.',
  equal_schemes: 'Schemes that are one, added to `s3a,s3n` = `s3`.',
  equal_authorities: 'Buckets or hosts that are one.',
  path_aliases: 'Recorded prefix → where its files lie now.',
  prefix_mismatch_mode: 'ERROR refuses recorded paths of another scheme or bucket, IGNORE keeps such files.',
  max_orphan_percent: 'Refuses when a larger share of the files looks orphaned.',
  min_files: 'From so many files on the share counts.',
  max_orphan_files: 'Refuses when more files look orphaned.',
  max_orphan_bytes: 'Refuses when more bytes look orphaned.',
  max_missing_percent: 'Refuses when a larger share of the referenced files is not found.',
  max_writer_lag: 'Files newer than the last commit wait so long for theirs. Such as P7D, 7d or 168h.',
  max_plan_age: 'How long a sealed plan may be deleted. Such as P7D, 7d or 168h.',
  pending_manifest_horizon: 'Ends the protection of Flink’s pending manifests by age; for ever unless it is set.',
  max_concurrent_deletes: 'Batches at a time.',
  delete_batch_size: 'Files in a batch.',
  delete_cooldown_seconds: 'Pause after a batch.',
  max_files_per_run: 'Ends the run PARTIAL after so many.',
  max_concurrent_scans: 'Scan workers at a time.',
  max_concurrent_lists: 'List workers at a time.',
  pause_after_files: 'A worker rests after so many files.',
  pause_ms: 'How long it rests.',
  former_table_uuids: 'Dropped tables whose leavings under the roots may go.',
  overlaps_allowed: 'Tables that may lie in, over or beside this one.',
  owned_roots: 'Write paths outside the location that are this table’s alone.',
  stream_results: 'Spark’s; taken without effect.',
  prefix_listing: 'Spark’s; taken without effect.',
};

/** Adds words and built-in defaults to the settings among `properties`. */
export function describeSettings(properties: Schema): Schema {
  const described = Object.entries(properties).map(([name, property]) => {
    const words = (WORDS as Readonly<Record<string, string>>)[name];
    const builtIn = (BUILT_IN as Readonly<Record<string, unknown>>)[name];
    return [
      name,
      {
        ...(words === undefined ? {} : { description: words }),
        ...(property as Schema),
        ...(builtIn === undefined ? {} : { default: builtIn }),
      },
    ];
  });
  return Object.fromEntries(described);
}

/** The JSON Schema (draft 2020-12) of `$$.Execution.Input`. */
export function inputJsonSchema(): Schema {
  const schema = z.toJSONSchema(inputSchema, { io: 'input', target: 'draft-2020-12' });
  return {
    ...schema,
    title: 'icesweep run',
    description: 'Input of one run; durations and instants are strings.',
    properties: describeSettings(schema.properties as Schema),
  };
}
