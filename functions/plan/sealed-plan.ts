/** Deleting a plan later: an earlier run's seal, judged again as far as no scan is needed (DESIGN section 7). */
import { createCatalog } from '#shared/catalog/catalog.ts';
import {
  InvalidInputError,
  OlderThanTooRecentError,
  PlanExpiredError,
  PlanNotDeletableError,
  TableChangedError,
} from '#shared/errors.ts';
import { artefact } from '#shared/run/artefacts.ts';
import { describeSpan } from '#shared/run/durations.ts';
import type { Item, ItemTable } from '#shared/run/item-table.ts';
import { leaseIdOfPlan, takeLease } from '#shared/run/lease.ts';
import type { ExecutionContext, RunState } from '#shared/run/messages.ts';
import { consumedKey, takeOnce } from '#shared/run/once.ts';
import type { Plan } from '#shared/run/plan.ts';
import type { ResolvedInput } from '#shared/run/resolved-input.ts';
import { RunArtefacts, sha256Hex } from '#shared/run/run-artefacts.ts';
import { runPointerKey } from '#shared/run/run-keys.ts';
import type { Seal } from '#shared/run/seal.ts';
import type { StagePorts } from '#shared/runtime/stage-ports.ts';
import { pinTable } from './pin-table.ts';
import { surveyTable } from './survey-table.ts';

export interface SealedPlanQuestion {
  readonly input: ResolvedInput;
  readonly execution: ExecutionContext;
  readonly run: RunState;
  readonly planRunId: string;
  readonly ports: StagePorts;
}

/** Rules that a person may overrule with the digest: the thresholds, and names that point nowhere beside unnamed files. */
const OVERRIDABLE_RULE = 'coverage_mixed';

async function readRecord(items: ItemTable, runId: string): Promise<Item> {
  const pointer = await items.get(runPointerKey(runId));
  const [pk, sk] = [pointer?.['record_pk'], pointer?.['record_sk']];
  const record = typeof pk === 'string' && typeof sk === 'string' ? await items.get({ pk, sk }) : undefined;
  if (record === undefined) {
    throw new PlanNotDeletableError(`There is no record of a run ${runId}.`, { next: 'Check the run id.' });
  }
  return record;
}

/** The seal, whose bytes must be those that the record's digest was taken of. */
async function readSeal(artefacts: RunArtefacts, digest: string, runId: string): Promise<Seal> {
  const bytes = await artefacts.read(artefact.seal);
  if (bytes === undefined) {
    throw new PlanExpiredError(`The seal of run ${runId} is gone: artefacts are kept for a limited time.`, {
      next: 'Plan again.',
    });
  }
  if (sha256Hex(bytes) !== digest) {
    throw new PlanNotDeletableError(`The seal of run ${runId} is not the one in its record.`, { next: 'Plan again.' });
  }
  return JSON.parse(bytes.toString('utf8')) as Seal;
}

/** Verdict DRY_RUN; or refused only by rules that a person may overrule, with the digest as `override`. */
export function requireDeletable(seal: Seal, digest: string, override: string | undefined): void {
  if (override !== undefined && override !== digest) {
    throw new PlanNotDeletableError(`override does not name the plan of run ${seal.run_id}.`, {
      next: `Its digest is ${digest}.`,
    });
  }
  if (seal.verdict === 'DRY_RUN') return;
  if (seal.verdict !== 'REFUSED') {
    throw new PlanNotDeletableError(`The plan of run ${seal.run_id} has the verdict ${seal.verdict}.`, {
      next: 'Only dry runs, and runs refused by a threshold, can be deleted later.',
    });
  }
  const hard = seal.refusals.find(
    ({ error, rule }) =>
      error !== 'ThresholdExceededError' && !(error === 'ReferencedFilesMissingError' && rule === OVERRIDABLE_RULE),
  );
  if (hard !== undefined || seal.refusals.length === 0) {
    throw new PlanNotDeletableError(
      `The plan of run ${seal.run_id} was refused by ${hard?.error ?? 'no rule on record'}${hard === undefined ? '' : ` (${hard.rule})`}.`,
      { next: 'Such a refusal is not overruled; clear its cause and plan again.' },
    );
  }
  if (override === undefined) {
    throw new PlanNotDeletableError(`The plan of run ${seal.run_id} was refused by ${seal.refusals[0]!.error}.`, {
      next: `Look at its report; if the files are orphans indeed, pass override ${digest}.`,
    });
  }
}

/** Age and cut-off of the seal against this run's clock and limits. */
function requireFresh(seal: Seal, planned: Plan, question: SealedPlanQuestion): void {
  const { input, execution } = question;
  const t0 = Date.parse(execution.start_time);
  const limit = Math.min(input.max_plan_age_ms, planned.input.max_plan_age_ms);
  const age = t0 - Date.parse(seal.t0);
  if (!(age >= 0 && age <= limit)) {
    throw new PlanExpiredError(
      `The plan of run ${seal.run_id} of ${seal.t0} is older than max_plan_age (${describeSpan(limit)}).`,
      {
        next: 'Plan again.',
      },
    );
  }
  if (!(Date.parse(seal.cutoff) <= t0 - input.floor_ms)) {
    throw new OlderThanTooRecentError(`The cut-off ${seal.cutoff} of run ${seal.run_id} is below the minimum age.`, {
      next: 'Plan again.',
    });
  }
}

/** The gates of the plan on the table as it is now; it must still be the same table at the same place. */
async function judgeAgain(question: SealedPlanQuestion, planned: Plan): Promise<void> {
  const { ports } = question;
  const catalog = createCatalog(planned.input, ports);
  const pointer = await catalog.currentMetadata();
  const table = await pinTable(planned.input, pointer, ports.tables);
  const uuid = table.pin.table_uuid?.toLowerCase() ?? null;
  if (planned.pin.table_uuid !== null && uuid !== planned.pin.table_uuid.toLowerCase()) {
    throw new TableChangedError(
      `The table now has table-uuid ${uuid}; the plan was made for ${planned.pin.table_uuid}.`,
      {
        next: 'Plan again.',
      },
    );
  }
  if (table.meta.location !== planned.location) {
    throw new TableChangedError(`The table moved from ${planned.location} to ${table.meta.location}.`, {
      next: 'Plan again.',
    });
  }
  // Settings of the deployment may have changed since: what unprotects is taken as it is now.
  const { former_table_uuids, overlaps_allowed, owned_roots } = question.input;
  const input = { ...planned.input, former_table_uuids, overlaps_allowed, owned_roots };
  await surveyTable({ table, pointer, catalog, input, store: ports.tables, budget: ports.budget });
}

/** Opens the seal of an earlier run for this run to delete, and consumes its digest. */
export async function openSealedPlan(question: SealedPlanQuestion): Promise<RunState> {
  const { input, execution, run, planRunId, ports } = question;
  const record = await readRecord(ports.items, planRunId);
  const prefix = record['artefacts'];
  const digest = record['plan_digest'];
  if (record['table'] !== input.table) {
    throw new InvalidInputError(`Run ${planRunId} was of table ${String(record['table'])}, not ${input.table}.`);
  }
  if (typeof digest !== 'string' || typeof prefix !== 'string') {
    throw new PlanNotDeletableError(
      `Run ${planRunId} ended (${String(record['verdict'])}) before its plan was sealed.`,
      {
        next: 'Plan again.',
      },
    );
  }
  const artefacts = new RunArtefacts(ports.work, ports.workBucket, prefix);
  const seal = await readSeal(artefacts, digest, planRunId);
  requireDeletable(seal, digest, input.override);
  const planned = await artefacts.readPlan(seal.plan_hash);
  requireFresh(seal, planned, question);
  await judgeAgain(question, planned);
  const holder = { owner: execution.name, execution: execution.id, table: input.table };
  const ticket = await takeLease(ports, leaseIdOfPlan(planned), holder);
  if (!(await takeOnce(ports.items, consumedKey(digest), run.run_id, { plan_run: planRunId, table: input.table }))) {
    throw new PlanNotDeletableError(`The plan of run ${planRunId} was deleted before: a digest is good for one run.`, {
      next: 'Plan again.',
    });
  }
  return {
    ...run,
    outcome: 'SEALED_PLAN',
    deleting: true,
    plan_hash: seal.plan_hash,
    fencing_token: ticket.token,
    batches_key: artefacts.absoluteKey(artefact.batches),
    seal_prefix: prefix,
    plan_digest: digest,
  };
}
