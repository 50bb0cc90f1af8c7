/** The record stage: tells truthfully how a run ended, gives the lease back, and says so to everybody who asked. */
import { exitCodeOf, type Verdict, verdictOfError } from '#shared/errors.ts';
import { artefact } from '#shared/run/artefacts.ts';
import { StageStoppedError } from '#shared/run/delete-marks.ts';
import { leaseIdOfPlan, releaseLease, ticketOf, unlockTable } from '#shared/run/lease.ts';
import type { FailureState, RecordEvent, RunState } from '#shared/run/messages.ts';
import type { Plan } from '#shared/run/plan.ts';
import type { RunRecord } from '#shared/run/record.ts';
import type { CatalogConfig } from '#shared/run/resolved-input.ts';
import { RunArtefacts } from '#shared/run/run-artefacts.ts';
import type { RunEndedDetail } from '#shared/run/run-events.ts';
import { findRecord, recordsOfTable, storeRecord } from '#shared/run/run-store.ts';
import { TimeLeft } from '#shared/run/time-left.ts';
import type { MetricName, RunEventType, StagePorts } from '#shared/runtime/stage-ports.ts';
import { type Gathered, gatherRun } from './gather.ts';
import { deletedVerdict, endedFromOutside, quietVerdict, trueError } from './how-it-ended.ts';
import { makeRecord, type RecordHead } from './make-record.ts';
import { makeView } from './make-view.ts';
import { writeOrphanLists } from './orphan-lists.ts';
import { field, headOf, unplanned, unplannedPlan } from './record-head.ts';
import { renderPageOfRun } from './report/render-report.ts';

const MOST_CAUSE = 4000;

/** Ends a run that was not refused and did not fail. A delete stage that was stopped, or deleted nothing at all, fails here. */
export async function recordRun(event: RecordEvent, ports: StagePorts): Promise<RunRecord> {
  const run = event.state.run ?? unplanned(event);
  const entered = run.outcome === 'SEALED_PLAN' || event.state.evaluation?.verdict === 'DELETE';
  const gathered = await gatherRun(run, entered, ports);
  if (gathered.stop !== undefined) throw new StageStoppedError(gathered.stop);
  const verdict = entered ? deletedVerdict(gathered) : quietVerdict(event, run);
  const head = headOf(event, run, verdict, gathered, ports);
  const skipped = verdict === 'SKIPPED' ? await reasonOfSkip(gathered) : {};
  return finish({ ...head, ...skipped }, run, gathered, event, ports);
}

/** Why the plan stage did nothing: its own words. */
async function reasonOfSkip({ artefacts }: Gathered): Promise<{ readonly error: string; readonly cause: string }> {
  const skip = await artefacts.readJsonIfWhole<{ readonly error: string; readonly message: string }>(artefact.skipped);
  return {
    error: skip?.error ?? 'RunInProgressError',
    cause: skip?.message ?? 'Another run holds the lease of the table.',
  };
}

/** Ends a run that was refused, failed, was stopped or ran out of time; answers what the Fail state says. */
export async function recordFailure(event: RecordEvent, ports: StagePorts): Promise<FailureState> {
  const run = event.state.run ?? (await unplannedPlan(event, ports));
  const ended = event.record === 'ended';
  const told = ended ? await findRecord(ports.items, run.run_id) : undefined;
  if (told !== undefined) {
    // The event of an end comes after what the run has told of itself, which stands.
    await giveLeaseBack(run, await planOf(run, ports), ports);
    return failureOf(told);
  }
  const entered = run.outcome === 'SEALED_PLAN' || event.state.evaluation?.verdict === 'DELETE';
  const gathered = await gatherRun(run, ended && !entered ? 'unknown' : entered, ports);
  const { error, cause } = trueError(event, gathered);
  const aborted = endedFromOutside(error);
  const verdict: Verdict = aborted ? 'ABORTED' : verdictOfError(error) === 'REFUSED' ? 'REFUSED' : 'FAILED';
  const head = { ...headOf(event, run, verdict, gathered, ports), error, cause: cause.slice(0, MOST_CAUSE) };
  return failureOf(await finish(head, run, gathered, event, ports));
}

function failureOf({ run_id, verdict, error = '', cause = '', report }: RunRecord): FailureState {
  return {
    verdict: verdict === 'REFUSED' || verdict === 'ABORTED' ? verdict : 'FAILED',
    error,
    cause: `${cause} Run ${run_id}, report ${report ?? 'none'}; exit code ${exitCodeOf(verdict, error)}. Failed runs are started anew, never redriven.`,
  };
}

function planOf(run: RunState, ports: StagePorts): Promise<Plan | undefined> {
  const artefacts = new RunArtefacts(ports.work, ports.workBucket, run.seal_prefix || run.prefix);
  return artefacts.readJsonIfWhole<Plan>(artefact.plan);
}

async function finish(
  head: RecordHead,
  run: RunState,
  gathered: Gathered,
  event: RecordEvent,
  ports: StagePorts,
): Promise<RunRecord> {
  const orphans = await writeOrphanLists(gathered, new TimeLeft(ports.budget));
  const made = makeRecord(head, gathered, orphans.first);
  const withLists = { ...made, warnings: [...made.warnings, ...orphans.warnings] };
  const table = { table: run.table, catalog: catalogOf(event.input, gathered, ports) };
  const record = await writeReport(withLists, gathered, orphans, table, ports);
  await gathered.artefacts.writeJson(artefact.summary, record);
  const standing = await storeRecord(ports.items, record, table, { fromOutside: event.record === 'ended' });
  await giveLeaseBack(run, gathered.plan, ports);
  announce(standing, ports);
  const detail: RunEndedDetail = { ...standing, version: '1' };
  await ports.events.publish(EVENTS[standing.verdict], JSON.parse(JSON.stringify(detail)));
  return standing;
}

/** Of an execution that was ended from outside only the owner is known; a worker of it that is still at work loses the lease. */
async function giveLeaseBack(run: RunState, plan: Plan | undefined, ports: StagePorts): Promise<void> {
  if (plan === undefined) return;
  if (run.fencing_token > 0) await releaseLease(ports, ticketOf(run, plan));
  else await unlockTable(ports, leaseIdOfPlan(plan), run.run_id);
}

/** The page is for people: that it could not be made never hides how the run ended. */
async function writeReport(
  record: RunRecord,
  gathered: Gathered,
  orphans: Awaited<ReturnType<typeof writeOrphanLists>>,
  table: { readonly table: string; readonly catalog: CatalogConfig },
  ports: StagePorts,
): Promise<RunRecord> {
  const reported = { ...record, report: gathered.artefacts.absoluteKey(artefact.report) };
  try {
    const earlier = await recordsOfTable(ports.items, table);
    const page = renderPageOfRun(makeView(reported, gathered, orphans, earlier));
    await gathered.artefacts.write(artefact.report, Buffer.from(page));
    return reported;
  } catch (error) {
    ports.log.error('Report not written', { fault: String(error) });
    return { ...record, warnings: [...record.warnings, 'The report page could not be written.'] };
  }
}

function catalogOf(input: unknown, gathered: Gathered, ports: StagePorts): CatalogConfig {
  const given = field(input, 'catalog');
  const named = typeof given === 'object' && given !== null && 'type' in given ? (given as CatalogConfig) : undefined;
  return gathered.plan?.input.catalog ?? named ?? ports.deployment.catalog ?? { type: 'path' };
}

const EVENTS: Readonly<Record<Verdict, RunEventType>> = {
  NOTHING_TO_DO: 'Succeeded',
  DRY_RUN: 'Succeeded',
  DELETED: 'Succeeded',
  PARTIAL: 'Partial',
  SKIPPED: 'Skipped',
  REFUSED: 'Refused',
  FAILED: 'Failed',
  ABORTED: 'Aborted',
};

const RUN_METRICS: Readonly<Record<RunEventType, MetricName | undefined>> = {
  Started: undefined,
  Succeeded: 'RunsSucceeded',
  Partial: 'RunsPartial',
  Skipped: 'RunsSkipped',
  Refused: 'RunsRefused',
  Failed: 'RunsFailed',
  Aborted: 'RunsAborted',
};

function announce(record: RunRecord, ports: StagePorts): void {
  const metric = RUN_METRICS[EVENTS[record.verdict]];
  if (metric !== undefined) ports.metrics.add(metric, 1);
  ports.metrics.add('RunDuration', Math.max(0, Date.parse(record.finished_at) - Date.parse(record.started_at)));
  ports.log.info('Run recorded', {
    verdict: record.verdict,
    orphans: record.orphan_files_count,
    deleted: record.deleted_files_count,
  });
}
