/** `icesweep delete` and the second half of `icesweep run`: deletes exactly what a sealed plan lists. */
import { PlanNotDeletableError } from '#shared/errors.ts';
import type { RunRecord } from '#shared/run/record.ts';
import type { Seal } from '#shared/run/seal.ts';
import type { Connection } from '../../state/connections.ts';
import { flagInputs } from '../arguments/run-input.ts';
import { confirmDeletion } from '../confirm.ts';
import { type CommandContext, isOn, operandOf } from '../context.ts';
import { execute } from '../execute.ts';
import { connectionOfRun, withRuntime } from '../local-runtime.ts';
import { planArtefacts, readRunSeal } from '../orphans/orphan-reader.ts';
import { newRunName } from '../run-name.ts';
import type { Runtime } from '../runtime.ts';
import { showRun, summaryOf } from '../show.ts';

/** Inputs that a deletion may still be given; everything else was fixed by the plan. */
const ALLOWED = new Set([
  'max_concurrent_deletes',
  'delete_batch_size',
  'delete_cooldown_seconds',
  'max_files_per_run',
  'comment',
  'override',
  'pause_after_files',
  'pause_ms',
]);

/** @throws PlanNotDeletableError a run that sealed nothing */
async function sealOf(run: RunRecord, runtime: Runtime): Promise<Seal> {
  const seal = await readRunSeal(run, runtime);
  if (seal === undefined) {
    throw new PlanNotDeletableError(
      `The run ${run.run_id} ended as ${run.verdict} before it sealed a list of orphans.`,
      { next: 'Plan again.' },
    );
  }
  return seal;
}

/**
 * Asks (or not, with `--yes`), then deletes what the run's seal lists. Undefined where the person said no.
 *
 * @throws PlanNotDeletableError a run that sealed nothing, or sealed an empty list
 */
export async function deletePlanned(
  run: RunRecord,
  runtime: Runtime,
  connection: Connection,
  context: CommandContext,
): Promise<number | undefined> {
  const seal = await sealOf(run, runtime);
  const plan = await planArtefacts(run, runtime).readPlan(seal.plan_hash);
  const summary = await summaryOf(run, runtime);
  if (summary === undefined)
    throw new PlanNotDeletableError(`The run ${run.run_id} found no orphans; there is nothing to delete.`);
  if (!isOn(context, 'yes') && !(await confirmDeletion(run.table, summary, context.terminal))) return undefined;
  const given = Object.entries(flagInputs(context.parsed.values)).filter(([name]) => ALLOWED.has(name));
  const { table, catalog, path_aliases, metadata_location } = plan.input;
  const input = {
    ...Object.fromEntries(given),
    table,
    catalog,
    path_aliases,
    ...(metadata_location === undefined ? {} : { metadata_location }),
    plan: run.run_id,
  };
  const batchFiles = seal.batches.map(({ files }) => files);
  const deletion = await execute(
    runtime,
    { input, connection, name: newRunName('delete', table), batchFiles },
    context,
  );
  return showRun(deletion, runtime, context);
}

/** What a person can do after saying no, or without a terminal to ask on. */
export const NOT_CONFIRMED = 3;

export function deleteRun(context: CommandContext): Promise<number> {
  const runId = operandOf(context, 0);
  const connection = connectionOfRun(runId, context);
  return withRuntime(context, connection, async (runtime) => {
    const run = await runtime.find(runId);
    if (run === undefined)
      throw new PlanNotDeletableError(`The run ${runId} left no record: it was cut off. Plan again.`);
    return (await deletePlanned(run, runtime, connection, context)) ?? NOT_CONFIRMED;
  });
}
