/** The input's names and types (DESIGN section 10), once, for the execution, the tables file and the published JSON Schema. */
import { z } from 'zod';
import { DURATION_PATTERN, INSTANT_PATTERN, type Parsed, parseAge, parseDuration, parseInstant } from './durations.ts';

/** A string that must satisfy `parse`; the pattern is what the JSON Schema can say of it. */
function checked(pattern: RegExp, parse: (text: string) => Parsed<unknown>) {
  return z
    .string()
    .superRefine((text, context) => {
      const parsed = parse(text);
      if ('problem' in parsed) context.addIssue({ code: 'custom', message: parsed.problem });
    })
    .meta({ pattern: pattern.source });
}

const duration = checked(DURATION_PATTERN, parseDuration);
const instant = checked(INSTANT_PATTERN, parseInstant);
const percent = z.number().min(0).max(100);
const atLeast = (least: number) => z.number().int().min(least);
const text = z.string().regex(/\S/, 'is blank');
const texts = z.array(text);
/** Where aliased files now lie: files are read from and listed in S3 only. */
const aliasTarget = z.string().regex(/^[sS]3[aAnN]?:\/\/[^/]+(?:\/|$)/, 'is no s3://bucket/prefix');

export const catalogSchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('path') }),
  z.strictObject({ type: z.literal('glue'), catalog_id: text.optional(), region: text.optional() }),
  z.strictObject({
    type: z.literal('rest'),
    uri: z.url({ protocol: /^https?$/ }),
    warehouse: text.optional(),
    prefix: text.optional(),
    token_secret: text.optional().meta({ description: 'Name of the secret that holds the token, never the token.' }),
    oauth2_server_uri: text.optional(),
    scope: text.optional(),
  }),
]);

/** What each level may say. Whether a level may loosen it is decided in `input.ts`. */
export const settingShape = {
  catalog: catalogSchema.optional(),
  older_than: checked(/^.+$/, parseAge).optional(),
  location: text.optional(),
  scope: z.enum(['DATA_AND_METADATA', 'TABLE']).optional(),
  metadata_choice: z.enum(['version', 'last_updated']).optional(),
  exclude: texts.optional(),
  dry_run: z.boolean().optional(),
  equal_schemes: z.record(text, text).optional(),
  equal_authorities: z.record(z.string(), z.string()).optional(),
  path_aliases: z.record(text, aliasTarget).optional(),
  prefix_mismatch_mode: z.enum(['ERROR', 'IGNORE']).optional(),
  max_orphan_percent: percent.optional(),
  min_files: atLeast(0).optional(),
  max_orphan_files: atLeast(0).optional(),
  max_orphan_bytes: atLeast(0).optional(),
  max_missing_percent: percent.optional(),
  max_writer_lag: duration.optional(),
  max_plan_age: duration.optional(),
  pending_manifest_horizon: duration.optional(),
  max_concurrent_deletes: atLeast(1).optional(),
  delete_batch_size: atLeast(1).max(1000).optional(),
  delete_cooldown_seconds: atLeast(0).max(86_400).optional(),
  max_files_per_run: atLeast(1).optional(),
  max_concurrent_scans: atLeast(1).optional(),
  max_concurrent_lists: atLeast(1).optional(),
  pause_after_files: atLeast(1).optional(),
  pause_ms: atLeast(0).max(600_000).optional(),
};

/** Settings that only the deployment (or, on one machine, the person) may give. */
export const deploymentOnlyShape = {
  include_hidden: texts.optional(),
  former_table_uuids: texts.optional(),
  overlaps_allowed: texts.optional(),
  owned_roots: texts.optional(),
};

export const inputSchema = z.strictObject({
  table: text,
  metadata_location: text.optional(),
  table_uuid: z.guid().optional(),
  plan: text.optional(),
  override: z
    .string()
    .regex(/^[0-9a-f]{64}$/, 'is not a plan digest (64 hex digits, from the record of the refused run)')
    .optional(),
  comment: z.string().max(1000).optional(),
  scheduled_time: instant.optional(),
  ...settingShape,
  ...deploymentOnlyShape,
  stream_results: z.boolean().optional(),
  prefix_listing: z.boolean().optional(),
});

export type RunInput = z.output<typeof inputSchema>;

/** A table's own entry, and the deployment's defaults for all tables. */
export const deploymentSettingSchema = z.strictObject({ ...settingShape, ...deploymentOnlyShape });

export type DeploymentSetting = z.output<typeof deploymentSettingSchema>;
