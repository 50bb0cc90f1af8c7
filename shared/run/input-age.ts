/** `older_than`: from the text to a cut-off that the floor and the deployment allow (DESIGN sections 7 and 10). */
import { InvalidInputError, OlderThanTooRecentError } from '#shared/errors.ts';
import type { DeploymentSettings } from './deployment.ts';
import { describeSpan, parseAge } from './durations.ts';
import { BUILT_IN } from './input-levels.ts';
import type { DeploymentSetting, RunInput } from './input-schema.ts';

/** The cut-off of an `older_than` for a run that starts at `t0`, in epoch milliseconds. */
function cutoffMs(olderThan: string, t0: Date): number {
  const age = parseAge(olderThan);
  if ('problem' in age) throw new InvalidInputError(`older_than ${age.problem}.`);
  return 'instant' in age.value ? Date.parse(age.value.instant) : t0.getTime() - age.value.ageMs;
}

/** The `older_than` that counts, once it is neither in the future, nor below the floor, nor looser than the deployment's. */
export function checkAge(input: RunInput, base: DeploymentSetting, deployment: DeploymentSettings, t0: Date): string {
  const olderThan = input.older_than ?? base.older_than ?? BUILT_IN.older_than;
  const cutoff = cutoffMs(olderThan, t0);
  if (cutoff > t0.getTime()) {
    throw new OlderThanTooRecentError(`older_than ${JSON.stringify(olderThan)} lies in the future of this run.`, {
      next: 'Nothing was read. Use an age such as "3d".',
    });
  }
  if (cutoff > t0.getTime() - deployment.floor_ms) {
    throw new OlderThanTooRecentError(
      `older_than ${JSON.stringify(olderThan)} is below the minimum of ${describeSpan(deployment.floor_ms)}: files of ` +
        'writers that have not committed yet would be deleted.',
      { next: 'Nothing was read. Use at least that age; 3 days is usual.' },
    );
  }
  const least = base.older_than ?? BUILT_IN.older_than;
  if (!deployment.local && cutoff > cutoffMs(least, t0)) {
    throw new InvalidInputError(
      `older_than ${JSON.stringify(olderThan)} is more recent than the deployment's ${JSON.stringify(least)}, and a run may ` +
        'only be stricter.',
      { next: "Leave it out, or change the table's entry in the deployment." },
    );
  }
  return olderThan;
}

/** An older_than as the two fields of the resolved input, of which exactly one is there. */
export function ageFields(olderThan: string): { older_than_ms: number } | { older_than_instant: string } {
  const age = parseAge(olderThan);
  if ('problem' in age) throw new InvalidInputError(`older_than ${age.problem}.`);
  return 'instant' in age.value ? { older_than_instant: age.value.instant } : { older_than_ms: age.value.ageMs };
}
