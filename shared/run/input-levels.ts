/**
 * Which level may say what (DESIGN section 10): the deployment and the table's own entry decide, an execution may only be
 * stricter or stay within a ceiling. On one machine the person is the deployment.
 */
import { InvalidInputError } from '#shared/errors.ts';
import type { DeploymentSettings } from './deployment.ts';
import { parseDuration } from './durations.ts';
import type { DeploymentSetting, RunInput } from './input-schema.ts';

/** Built-in values; durations as text. */
export const BUILT_IN = {
  older_than: 'P3D',
  scope: 'DATA_AND_METADATA',
  metadata_choice: 'version',
  prefix_mismatch_mode: 'ERROR',
  max_orphan_percent: 20,
  min_files: 100,
  max_missing_percent: 5,
  max_writer_lag: 'P30D',
  max_plan_age: 'P7D',
  max_concurrent_deletes: 1,
  delete_batch_size: 1000,
  delete_cooldown_seconds: 1,
  max_concurrent_scans: 100,
  max_concurrent_lists: 100,
} as const satisfies DeploymentSetting;

/** The deployment's defaults under the table's own entry. */
export function deploymentLevel(deployment: DeploymentSettings, table: string): DeploymentSetting {
  return { ...BUILT_IN, ...deployment.defaults, ...(deployment.tables[table] ?? {}) };
}

type LimitName =
  | 'max_orphan_percent'
  | 'min_files'
  | 'max_orphan_files'
  | 'max_orphan_bytes'
  | 'max_missing_percent'
  | 'max_writer_lag'
  | 'max_plan_age'
  | 'pending_manifest_horizon';

/** In which direction a setting grows stricter. An absent one is no limit, or no horizon: infinity either way. */
const STRICTER: Readonly<Record<LimitName, 'lower' | 'higher'>> = {
  max_orphan_percent: 'lower',
  min_files: 'lower',
  max_orphan_files: 'lower',
  max_orphan_bytes: 'lower',
  max_missing_percent: 'lower',
  max_writer_lag: 'higher',
  max_plan_age: 'lower',
  pending_manifest_horizon: 'higher',
};

function magnitude(value: number | string | undefined): number {
  if (value === undefined) return Number.POSITIVE_INFINITY;
  if (typeof value === 'number') return value;
  const parsed = parseDuration(value);
  return 'value' in parsed ? parsed.value : Number.NaN;
}

function refuseLooser(name: string, given: unknown, base: unknown): never {
  const limit = base === undefined ? 'none is set there' : `it is ${JSON.stringify(base)} there`;
  throw new InvalidInputError(
    `${name} ${JSON.stringify(given)} is looser than the deployment's: ${limit}, and a run may only be stricter.`,
    { next: "Leave it out, or change the table's entry in the deployment." },
  );
}

/** Throws InvalidInputError where the input loosens a limit of the deployment. */
export function requireStricter(input: RunInput, base: DeploymentSetting): void {
  for (const [name, direction] of Object.entries(STRICTER) as [LimitName, 'lower' | 'higher'][]) {
    if (input[name] === undefined) continue;
    const given = magnitude(input[name]);
    const limit = magnitude(base[name]);
    const allowed = direction === 'lower' ? given <= limit : given >= limit;
    if (!allowed) refuseLooser(name, input[name], base[name]);
  }
}

type CeilingName =
  | 'max_concurrent_deletes'
  | 'delete_batch_size'
  | 'max_files_per_run'
  | 'max_concurrent_scans'
  | 'max_concurrent_lists';

const CEILINGS: readonly CeilingName[] = [
  'max_concurrent_deletes',
  'delete_batch_size',
  'max_files_per_run',
  'max_concurrent_scans',
  'max_concurrent_lists',
];

/** Throws InvalidInputError where the input asks for more speed than the deployment allows. */
export function requireWithinCeilings(input: RunInput, base: DeploymentSetting, deployment: DeploymentSettings): void {
  for (const name of CEILINGS) {
    const given = input[name];
    const ceiling = deployment.ceilings[name];
    const limit = ceiling === undefined ? undefined : Math.max(ceiling, base[name] ?? 0);
    if (given !== undefined && limit !== undefined && given > limit) {
      throw new InvalidInputError(`${name} ${given} is above the deployment's ceiling of ${limit}.`, {
        next: `Use at most ${limit}, or raise the ceiling in the deployment.`,
      });
    }
  }
  const least = Math.min(deployment.ceilings.least_delete_cooldown_seconds, base.delete_cooldown_seconds ?? 0);
  if (input.delete_cooldown_seconds !== undefined && input.delete_cooldown_seconds < least) {
    throw new InvalidInputError(
      `delete_cooldown_seconds ${input.delete_cooldown_seconds} is below the deployment's least of ${least}.`,
    );
  }
}

const DEPLOYMENT_ONLY = ['include_hidden', 'former_table_uuids', 'overlaps_allowed', 'owned_roots'] as const;

/** Throws InvalidInputError for settings that unprotect files and so are never taken from an execution. */
export function refuseDeploymentOnly(input: RunInput): void {
  const name = DEPLOYMENT_ONLY.find((candidate) => input[candidate] !== undefined);
  if (name === undefined) return;
  throw new InvalidInputError(`${name} is a setting of the deployment and cannot come with an execution.`, {
    next: "Put it into the table's entry of the tables file and deploy.",
  });
}

/** Joins maps of which the execution may add entries, but not change one. */
export function addToMap(
  name: string,
  base: Readonly<Record<string, string>>,
  added: Readonly<Record<string, string>>,
  mayChange: boolean,
): Record<string, string> {
  for (const [key, value] of Object.entries(added)) {
    const existing = base[key];
    if (existing !== undefined && existing !== value && !mayChange) {
      throw new InvalidInputError(
        `${name} maps ${JSON.stringify(key)} to ${JSON.stringify(value)}, but the deployment maps it to ${JSON.stringify(existing)}.`,
        { next: 'An execution may add entries only; change the deployment.' },
      );
    }
  }
  return { ...base, ...added };
}
