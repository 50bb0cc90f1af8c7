/** The deployment's level of the settings: construct props, the tables file, and on one machine the person (DESIGN section 10). */
import { z } from 'zod';
import { MisconfiguredError } from '#shared/errors.ts';
import { DAY_MS } from './durations.ts';
import { catalogSchema, deploymentSettingSchema } from './input-schema.ts';

const count = z.number().int().min(1);

/** How far an execution may go; a deployment raises or lowers these. */
const ceilingsSchema = z.strictObject({
  max_concurrent_deletes: count.default(10),
  delete_batch_size: count.max(1000).default(1000),
  /** The shortest pause between batches that an execution may ask for. */
  least_delete_cooldown_seconds: z.number().int().min(0).default(0),
  max_files_per_run: count.optional(),
  max_concurrent_scans: count.default(1000),
  max_concurrent_lists: count.default(1000),
});

export const deploymentSchema = z.strictObject({
  /** One machine: the person is the deployment, and the input may loosen everything but the floor. */
  local: z.boolean().default(false),
  /** `dryRunByDefault`. */
  dry_run: z.boolean().default(true),
  /** The least age of a file that may be deleted. Never below 24 h. */
  floor_ms: z.number().int().min(DAY_MS).default(DAY_MS),
  /** The tables' store folds case. */
  ignore_case: z.boolean().default(false),
  catalog: catalogSchema.optional(),
  /** For all tables; a table's own entry wins. */
  defaults: deploymentSettingSchema.prefault({}),
  ceilings: ceilingsSchema.prefault({}),
  /** By the name that the input's `table` has. */
  tables: z.record(z.string(), deploymentSettingSchema).default({}),
});

export type DeploymentSettings = z.output<typeof deploymentSchema>;

/** Reads the deployment's settings and fills in what is left out. Throws MisconfiguredError, naming each faulty setting. */
export function parseDeployment(settings: unknown = {}): DeploymentSettings {
  const parsed = deploymentSchema.safeParse(settings);
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map((issue) => `${issue.path.join('.') || 'settings'}: ${issue.message}`);
  throw new MisconfiguredError(`The deployment's settings are not valid: ${faults.join('; ')}.`, {
    next: 'Correct the construct props or the tables file and deploy again.',
  });
}
