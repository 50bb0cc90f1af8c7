/**
 * The plan stage (DESIGN sections 2, 3 and 7): what the run will do, fixed once. It reads no manifest; it refuses before
 * anything is read where the input alone is wrong, and before any manifest list where the table is not to be cleaned.
 */
import { createCatalog } from '#shared/catalog/catalog.ts';
import { InvalidInputError, RunInProgressError, ScanIncompleteError } from '#shared/errors.ts';
import { artefact } from '#shared/run/artefacts.ts';
import { resolveInput } from '#shared/run/input.ts';
import { assertLease, leaseId } from '#shared/run/lease.ts';
import type { PlanEvent, RunState } from '#shared/run/messages.ts';
import { scheduledKey, takeOnce } from '#shared/run/once.ts';
import type { ResolvedInput } from '#shared/run/resolved-input.ts';
import { newNonce, RunArtefacts } from '#shared/run/run-artefacts.ts';
import { tablePk } from '#shared/run/run-keys.ts';
import type { StagePorts } from '#shared/runtime/stage-ports.ts';
import { collectManifests } from './collect-manifests.ts';
import { draftPlan } from './draft-plan.ts';
import { finishPlan } from './finish-plan.ts';
import { NOTHING_READ, type PlanDraft, type PlanProgress } from './plan-draft.ts';
import { firstState } from './run-state.ts';
import { openSealedPlan } from './sealed-plan.ts';

interface PlanContext {
  readonly event: PlanEvent;
  readonly input: ResolvedInput;
  readonly first: RunState;
  readonly artefacts: RunArtefacts;
  readonly ports: StagePorts;
}

function startOf(event: PlanEvent): Date {
  const t0 = new Date(event.execution.start_time);
  if (Number.isNaN(t0.getTime())) {
    throw new InvalidInputError(`The execution's start time ${JSON.stringify(event.execution.start_time)} is no time.`);
  }
  return t0;
}

/** A repeated trigger of one scheduled time is taken once, dry run or not. Throws RunInProgressError. */
async function takeScheduledTime({ input, first, ports }: PlanContext): Promise<void> {
  if (input.scheduled_time === undefined) return;
  const key = scheduledKey(tablePk(input), input.scheduled_time);
  if (await takeOnce(ports.items, key, first.run_id, { table: input.table })) return;
  throw new RunInProgressError(
    `The scheduled time ${input.scheduled_time} of ${input.table} was taken by another run.`,
    {
      next: 'Nothing was done.',
    },
  );
}

/** A run that is not needed says why in its own artefact; the record repeats it. */
async function skip(context: PlanContext, error: RunInProgressError): Promise<RunState> {
  const { artefacts, first, ports } = context;
  await artefacts.writeJson(artefact.skipped, { error: error.name, message: error.message });
  ports.log.info('Run skipped', { run_id: first.run_id, reason: error.message });
  return { ...first, outcome: 'SKIPPED' };
}

async function resume(context: PlanContext, run: RunState): Promise<PlanProgress> {
  const progress = await context.artefacts.readJson<PlanProgress>(run.next);
  if (progress === undefined)
    throw new ScanIncompleteError(`The plan's progress ${run.next} is gone; start a new run.`);
  const { plan, fencing_token } = progress.draft;
  if (plan.run_id !== run.run_id) {
    throw new ScanIncompleteError(`The plan's progress ${run.next} is that of run ${plan.run_id}; start a new run.`);
  }
  if (context.first.deleting) {
    const id = leaseId(plan.pin.table_uuid, plan.location, plan.identity.ignoreCase);
    await assertLease(context.ports, { leaseId: id, owner: run.run_id, token: fencing_token });
  }
  return progress;
}

async function begin(context: PlanContext): Promise<PlanDraft> {
  const { event, input, first, ports } = context;
  const catalog = createCatalog(input, ports);
  return draftPlan({ input, execution: event.execution, run: first, catalog, ports });
}

async function planTable(context: PlanContext): Promise<RunState> {
  const { event, input, first, artefacts, ports } = context;
  const before = event.state.run;
  const wholeMs = ports.budget.remainingMs();
  const progress: PlanProgress =
    before?.outcome === 'MORE' ? await resume(context, before) : { draft: await begin(context), harvest: NOTHING_READ };
  const { draft } = progress;
  const catalog = createCatalog(input, ports);
  const harvest = await collectManifests(draft, progress.harvest, {
    tables: ports.tables,
    catalog,
    budget: ports.budget,
  });
  const state: RunState = { ...first, fencing_token: draft.fencing_token };
  const isRead = harvest.next_source === draft.sources.length;
  // Sampling and probing want most of a call: it must have half of its time left, or have done nothing else.
  const isFresh = progress.harvest.next_source === draft.sources.length && before?.outcome === 'MORE';
  if (!isRead || (!isFresh && ports.budget.remainingMs() < wholeMs / 2)) {
    const name = artefact.planProgress(newNonce());
    await artefacts.writeJson(name, { draft, harvest } satisfies PlanProgress);
    return { ...state, outcome: 'MORE', next: name };
  }
  const planHash = await finishPlan(draft, harvest, artefacts, ports);
  return artefacts.writeOnce<RunState>(artefact.planReceipt, { ...state, outcome: 'PLANNED', plan_hash: planHash });
}

/**
 * Plans a run, or a part of it when time runs short (`outcome` MORE). A repeated call after the end answers the first
 * answer. A table that another run works on is no error: `outcome` SKIPPED.
 */
export async function planRun(event: PlanEvent, ports: StagePorts): Promise<RunState> {
  // First of all, and from the input alone: its keys lie in `$` too, so nothing of the state is believed before.
  const input = resolveInput(event.input, ports.deployment, startOf(event));
  const first = firstState(input, event.execution);
  const artefacts = new RunArtefacts(ports.work, ports.workBucket, first.prefix);
  const context: PlanContext = { event, input, first, artefacts, ports };
  const done = await artefacts.readJson<RunState>(artefact.planReceipt);
  if (done !== undefined) return done;
  try {
    await takeScheduledTime(context);
    if (input.plan === undefined) return await planTable(context);
    return await openSealedPlan({ input, execution: event.execution, run: first, ports, planRunId: input.plan });
  } catch (error) {
    if (error instanceof RunInProgressError) return skip(context, error);
    throw error;
  }
}
