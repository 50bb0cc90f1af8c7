/**
 * From what the operator typed to the settings of the run (DESIGN section 10). Pure: nothing is asked of catalog or store,
 * so that a wrong input costs nothing.
 */
import { InvalidInputError } from '#shared/errors.ts';
import type { DeploymentSettings } from './deployment.ts';
import { parseDuration, parseInstant } from './durations.ts';
import { ageFields, checkAge } from './input-age.ts';
import { equalAuthorities, equalSchemes } from './input-equal.ts';
import {
  addToMap,
  BUILT_IN,
  deploymentLevel,
  refuseDeploymentOnly,
  requireStricter,
  requireWithinCeilings,
} from './input-levels.ts';
import { type DeploymentSetting, inputSchema, type RunInput } from './input-schema.ts';
import { suggestName } from './input-suggestions.ts';
import { checkTableName, chooseCatalog, explicitFile } from './input-table.ts';
import type { ResolvedInput } from './resolved-input.ts';

export { inputJsonSchema } from './json-schema.ts';

/** Step Functions puts it into the input of an execution that another execution started. */
const STARTED_BY = 'AWS_STEP_FUNCTIONS_STARTED_BY_EXECUTION_ID';
const KNOWN_NAMES = Object.keys(inputSchema.shape);

interface Issue {
  readonly code?: string;
  readonly message: string;
  readonly path: readonly PropertyKey[];
  readonly keys?: readonly string[];
}

function describeIssue(issue: Issue): string {
  const where = issue.path.map(String).join('.');
  if (issue.code === 'unrecognized_keys') {
    const inside = where === '' ? '' : ` in ${where}`;
    return (issue.keys ?? [])
      .map((key) => {
        const meant = where === '' ? suggestName(key, KNOWN_NAMES) : undefined;
        return `${JSON.stringify(key)}${inside} is not known${meant === undefined ? '' : `; did you mean ${meant}?`}`;
      })
      .join('; ');
  }
  if (where === 'prefix_mismatch_mode') {
    return 'prefix_mismatch_mode is ERROR or IGNORE; DELETE is not offered, since it unprotects files that the metadata names';
  }
  return where === '' ? issue.message : `${where}: ${issue.message}`;
}

/** The input's own shape, before any level is compared. Throws InvalidInputError naming everything that is wrong. */
export function parseInput(input: unknown): RunInput {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    throw new InvalidInputError('The input is no JSON object.', {
      next: 'Two lines are enough: {"table": "analytics.orders", "dry_run": true}.',
    });
  }
  const { [STARTED_BY]: _startedBy, ...known } = input as Record<string, unknown>;
  const parsed = inputSchema.safeParse(known);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map((issue) => describeIssue(issue as Issue)).filter((text) => text !== '');
  throw new InvalidInputError(`The input is not valid: ${problems.join('; ')}.`, {
    next: 'Nothing was read; correct it and start again.',
  });
}

function millisecondsOf(text: string): number {
  const parsed = parseDuration(text);
  if ('problem' in parsed) throw new InvalidInputError(`A duration of the deployment ${parsed.problem}.`);
  return parsed.value;
}

function checkPlanOptions(input: RunInput): void {
  const narrowing = (['location', 'exclude'] as const).find((name) => input[name] !== undefined);
  if (input.plan !== undefined && narrowing !== undefined) {
    throw new InvalidInputError(`${narrowing} cannot narrow a plan that is sealed already.`, {
      next: 'Leave it out, or plan again with it.',
    });
  }
  if (input.override !== undefined && input.plan === undefined) {
    throw new InvalidInputError('override belongs to a sealed plan; name the refused run as plan.');
  }
  if (input.plan !== undefined && input.dry_run === true) {
    throw new InvalidInputError('plan deletes what a sealed plan lists; dry_run contradicts it.', {
      next: 'Leave one of the two out.',
    });
  }
  if (/(^|\/)\.\.(\/|$)/.test(input.location ?? '')) {
    throw new InvalidInputError(`location ${JSON.stringify(input.location)} has a ".." segment.`, {
      next: 'Name a folder inside the table, such as "data/".',
    });
  }
}

function warningsOf(input: RunInput): string[] {
  const warnings: string[] = [];
  if (input.stream_results !== undefined) warnings.push('stream_results has no effect: results are always streamed.');
  if (input.prefix_listing !== undefined)
    warnings.push('prefix_listing has no effect: storage is always listed by prefix.');
  return warnings;
}

const optional = <T>(name: string, value: T | undefined): Record<string, T> =>
  value === undefined ? {} : { [name]: value };

function limits(merged: DeploymentSetting) {
  return {
    max_orphan_percent: merged.max_orphan_percent ?? BUILT_IN.max_orphan_percent,
    min_files: merged.min_files ?? BUILT_IN.min_files,
    ...optional('max_orphan_files', merged.max_orphan_files),
    ...optional('max_orphan_bytes', merged.max_orphan_bytes),
    max_missing_percent: merged.max_missing_percent ?? BUILT_IN.max_missing_percent,
    max_writer_lag_ms: millisecondsOf(merged.max_writer_lag ?? BUILT_IN.max_writer_lag),
    max_plan_age_ms: millisecondsOf(merged.max_plan_age ?? BUILT_IN.max_plan_age),
    ...(merged.pending_manifest_horizon === undefined
      ? {}
      : { pending_manifest_horizon_ms: millisecondsOf(merged.pending_manifest_horizon) }),
  };
}

function pacing(merged: DeploymentSetting) {
  const paced = merged.pause_after_files !== undefined || merged.pause_ms !== undefined;
  return {
    max_concurrent_deletes: merged.max_concurrent_deletes ?? BUILT_IN.max_concurrent_deletes,
    delete_batch_size: merged.delete_batch_size ?? BUILT_IN.delete_batch_size,
    delete_cooldown_seconds: merged.delete_cooldown_seconds ?? BUILT_IN.delete_cooldown_seconds,
    ...optional('max_files_per_run', merged.max_files_per_run),
    max_concurrent_scans: merged.max_concurrent_scans ?? BUILT_IN.max_concurrent_scans,
    max_concurrent_lists: merged.max_concurrent_lists ?? BUILT_IN.max_concurrent_lists,
    ...(paced ? { pause_after_files: merged.pause_after_files ?? 1500, pause_ms: merged.pause_ms ?? 100 } : {}),
  };
}

function requireAllowed(input: RunInput, base: DeploymentSetting, deployment: DeploymentSettings): void {
  if (deployment.local) return;
  refuseDeploymentOnly(input);
  requireStricter(input, base);
  requireWithinCeilings(input, base, deployment);
  if ((input.max_missing_percent ?? base.max_missing_percent ?? 0) >= 100) {
    throw new InvalidInputError(
      'max_missing_percent 100 switches the coverage rules off, which only one machine allows.',
    );
  }
}

/**
 * Resolves deployment, table entry and execution into the run's settings.
 *
 * @param t0 start of the execution, from which ages count
 * @throws InvalidInputError what is not understood or not allowed to this level, and what to write instead
 * @throws OlderThanTooRecentError a cut-off in the future or younger than the floor
 */
export function resolveInput(input: unknown, deployment: DeploymentSettings, t0: Date = new Date()): ResolvedInput {
  const given = parseInput(input);
  checkPlanOptions(given);
  const file = explicitFile(given);
  const known = deploymentLevel(deployment, given.table);
  const catalog = chooseCatalog(given, known, deployment);
  checkTableName(given.table, catalog, file !== undefined);
  // Glue keeps names in lower case; another spelling must not slip past the table's entry.
  const table = catalog.type === 'glue' ? given.table.toLowerCase() : given.table.replace(/(?<=[^/])\/+$/, '');
  const base = deploymentLevel(deployment, table);
  const olderThan = checkAge(given, base, deployment, t0);
  requireAllowed(given, base, deployment);
  const merged: DeploymentSetting = { ...base, ...given };
  return {
    table,
    catalog,
    ...optional('metadata_location', file),
    ...optional('table_uuid', given.table_uuid?.toLowerCase()),
    metadata_choice: merged.metadata_choice ?? BUILT_IN.metadata_choice,
    older_than: olderThan,
    ...ageFields(olderThan),
    floor_ms: deployment.floor_ms,
    ...optional('location', merged.location),
    scope: merged.scope ?? BUILT_IN.scope,
    exclude: [...(base.exclude ?? []), ...(given.exclude ?? [])],
    include_hidden: merged.include_hidden ?? [],
    dry_run: given.plan === undefined && (merged.dry_run ?? deployment.dry_run),
    ...optional('plan', given.plan),
    ...optional('override', given.override),
    ...optional('comment', given.comment),
    equal_schemes: equalSchemes(given, base, deployment.local),
    equal_authorities: equalAuthorities(given, base, deployment.local),
    path_aliases: addToMap('path_aliases', base.path_aliases ?? {}, given.path_aliases ?? {}, deployment.local),
    prefix_mismatch_mode: merged.prefix_mismatch_mode ?? BUILT_IN.prefix_mismatch_mode,
    ...limits(merged),
    ...pacing(merged),
    former_table_uuids: (merged.former_table_uuids ?? []).map((uuid) => uuid.toLowerCase()),
    overlaps_allowed: merged.overlaps_allowed ?? [],
    owned_roots: merged.owned_roots ?? [],
    ...scheduledTime(given),
    ignore_case: deployment.ignore_case,
    warnings: warningsOf(given),
  };
}

function scheduledTime(given: RunInput): { scheduled_time?: string } {
  if (given.scheduled_time === undefined) return {};
  const parsed = parseInstant(given.scheduled_time);
  if ('problem' in parsed) throw new InvalidInputError(`scheduled_time ${parsed.problem}.`);
  return { scheduled_time: parsed.value };
}
