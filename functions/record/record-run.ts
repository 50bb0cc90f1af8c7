/** The record stage: tells truthfully how a run ended, gives the lease back, and says so to everybody who asked. */
import {
  AccessDeniedError,
  DeletesFailedError,
  exitCodeOf,
  type IcesweepError,
  type Verdict,
  verdictOfError,
} from '#shared/errors.ts';
import { artefact, runPrefix } from '#shared/run/artefacts.ts';
import { StageStoppedError } from '#shared/run/delete-marks.ts';
import { releaseLease, ticketOf } from '#shared/run/lease.ts';
import type { FailureState, RecordEvent, RunState } from '#shared/run/messages.ts';
import { nextStepOf } from '#shared/run/next-steps.ts';
import type { RunRecord } from '#shared/run/record.ts';
import type { CatalogConfig } from '#shared/run/resolved-input.ts';
import { findRecord, recordsOfTable, storeRecord } from '#shared/run/run-store.ts';
import { ENDED_ERRORS } from '#shared/runtime/execution-ended-event.ts';
import type { MetricName, RunEventType, StagePorts } from '#shared/runtime/stage-ports.ts';
import { type Gathered, gatherRun } from './gather.ts';
import { makeRecord, type RecordHead } from './make-record.ts';
import { makeView } from './make-view.ts';
import { writeOrphanLists } from './orphan-lists.ts';
import { renderPageOfRun } from './report/render-report.ts';

const MOST_CAUSE = 4000;

/** Ends a run that was not refused and did not fail. A delete stage that was stopped, or deleted nothing at all, fails here. */
export async function recordRun(event: RecordEvent, ports: StagePorts): Promise<RunRecord> {
  const run = event.state.run ?? unplanned(event);
  const entered = run.outcome === 'SEALED_PLAN' || event.state.evaluation?.verdict === 'DELETE';
  const gathered = await gatherRun(run, entered, ports);
  if (gathered.stop !== undefined) throw new StageStoppedError(gathered.stop);
  const verdict = entered ? deletedVerdict(gathered) : quietVerdict(event, run);
  const head = headOf(event, run, verdict, ports);
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
  const ended =
    event.state.run === undefined && Object.values<string>(ENDED_ERRORS).includes(event.state.error?.Error ?? '');
  const entered = run.outcome === 'SEALED_PLAN' || event.state.evaluation?.verdict === 'DELETE';
  const gathered = await gatherRun(run, ended && !entered ? 'unknown' : entered, ports);
  const { error, cause } = trueError(event, gathered);
  const aborted = error === ENDED_ERRORS.ABORTED || error === ENDED_ERRORS.TIMED_OUT;
  const verdict: Verdict = aborted ? 'ABORTED' : verdictOfError(error) === 'REFUSED' ? 'REFUSED' : 'FAILED';
  const head = { ...headOf(event, run, verdict, ports), error, cause: cause.slice(0, MOST_CAUSE) };
  const record = await finish(head, run, gathered, event, ports);
  return {
    verdict: verdict === 'REFUSED' ? 'REFUSED' : aborted ? 'ABORTED' : 'FAILED',
    error,
    cause: `${record.cause ?? cause} Run ${record.run_id}, report ${record.report ?? 'none'}; exit code ${exitCodeOf(verdict, error)}. Failed runs are started anew, never redriven.`,
  };
}

/** Settled in full, or not: what failed, was left or never answered makes it PARTIAL; nothing settled at all is a failure. */
function deletedVerdict(gathered: Gathered): Verdict {
  const count = (result: 'deleted' | 'absent' | 'rescued' | 'changed' | 'failed' | 'unknown' | 'left') =>
    gathered.outcomes.reduce((total, outcome) => total + outcome.tallies[result].files, 0);
  const open = count('failed') + count('unknown') + count('left');
  const settled = count('deleted') + count('absent') + count('rescued') + count('changed');
  if (settled === 0 && count('failed') + count('unknown') > 0) throw noneDeleted(gathered, open);
  // Notes of earlier stages tell of attempts that a retry mended.
  const note = gathered.notes.find((candidate) => candidate.stage === 'delete');
  if (settled === 0 && open > 0 && note !== undefined) {
    throw new DeletesFailedError(`No batch could be deleted: ${note.error}: ${note.message}`);
  }
  return open > 0 ? 'PARTIAL' : 'DELETED';
}

function noneDeleted(gathered: Gathered, files: number): IcesweepError {
  const codes = [...new Set(gathered.outcomes.flatMap((outcome) => Object.keys(outcome.codes)))];
  if (codes.length === 1 && codes[0] === 'AccessDenied') {
    return new AccessDeniedError(`Deleting each of ${files} keys was denied.`, {
      next: 'Grant s3:DeleteObject and s3:GetObject under the roots of the table.',
    });
  }
  return new DeletesFailedError(`None of ${files} files could be deleted (${codes.join(', ') || 'no answer'}).`, {
    next: nextStepOf('DeletesFailedError'),
  });
}

function quietVerdict(event: RecordEvent, run: RunState): Verdict {
  if (run.outcome === 'SKIPPED') return 'SKIPPED';
  return event.state.evaluation?.verdict === 'DRY_RUN' ? 'DRY_RUN' : 'NOTHING_TO_DO';
}

/** The error that began it: a worker's note, a stop marker or evaluate's refusal goes before the map's own words. */
function trueError(event: RecordEvent, gathered: Gathered): { readonly error: string; readonly cause: string } {
  const { evaluation, error } = event.state;
  if (error !== undefined && Object.values<string>(ENDED_ERRORS).includes(error.Error)) {
    return { error: error.Error, cause: error.Cause };
  }
  if (gathered.stop !== undefined) return { error: gathered.stop.error, cause: gathered.stop.message };
  if (error === undefined && evaluation !== undefined) return { error: evaluation.error, cause: evaluation.cause };
  const note = gathered.notes.find((candidate) => !candidate.transient) ?? gathered.notes[0];
  const fromMap = error === undefined || error.Error.startsWith('States.');
  if (fromMap && note !== undefined) return { error: note.error, cause: note.message };
  return { error: error?.Error ?? 'States.Runtime', cause: sentenceOf(error?.Cause ?? '') };
}

/** Lambda's Cause is JSON with the message inside. */
function sentenceOf(cause: string): string {
  try {
    const parsed = JSON.parse(cause) as { readonly errorMessage?: unknown };
    if (typeof parsed.errorMessage === 'string') return parsed.errorMessage;
  } catch {
    // Not JSON: the text is the cause.
  }
  return cause || 'The state machine gave no cause.';
}

/** An execution without state of its own may have been deleting an earlier run's plan, which its input names. */
async function unplannedPlan(event: RecordEvent, ports: StagePorts): Promise<RunState> {
  const run = unplanned(event);
  const plan = field(event.input, 'plan');
  const planned = typeof plan === 'string' ? await findRecord(ports.items, plan) : undefined;
  return planned === undefined
    ? run
    : { ...run, outcome: 'SEALED_PLAN', deleting: true, seal_prefix: planned.artefacts };
}

function unplanned(event: RecordEvent): RunState {
  const table = tableOf(event.input);
  const prefix = runPrefix(table, event.execution.name);
  return {
    run_id: event.execution.name,
    table,
    prefix,
    outcome: 'MORE',
    next: '',
    deleting: false,
    plan_hash: '',
    fencing_token: 0,
    scan_items_key: '',
    build_items_key: '',
    list_items_key: '',
    results_prefix: `${prefix}/results`,
    max_concurrent_scans: 1,
    max_concurrent_builds: 1,
    max_concurrent_lists: 1,
    max_concurrent_deletes: 1,
    batches_key: '',
    seal_prefix: prefix,
    plan_digest: '',
  };
}

function field(input: unknown, name: string): unknown {
  return typeof input === 'object' && input !== null ? (input as Record<string, unknown>)[name] : undefined;
}

function tableOf(input: unknown): string {
  const table = field(input, 'table');
  return typeof table === 'string' && table !== '' ? table : '(none)';
}

function headOf(event: RecordEvent, run: RunState, verdict: Verdict, ports: StagePorts): RecordHead {
  const text = (name: string) => {
    const value = field(event.input, name);
    return typeof value === 'string' ? value.slice(0, 1000) : undefined;
  };
  const [comment, override, plan] = [text('comment'), text('override'), text('plan')];
  return {
    run_id: run.run_id,
    table: run.table,
    execution: event.execution.id,
    started_at: new Date(event.execution.start_time).toISOString(),
    finished_at: new Date(ports.clock.now()).toISOString(),
    verdict,
    dry_run: !run.deleting,
    ...(comment === undefined ? {} : { comment }),
    ...(override === undefined ? {} : { override }),
    ...(plan === undefined ? {} : { plan_run: plan }),
  };
}

async function finish(
  head: RecordHead,
  run: RunState,
  gathered: Gathered,
  event: RecordEvent,
  ports: StagePorts,
): Promise<RunRecord> {
  const orphans = await writeOrphanLists(gathered);
  const made = makeRecord(head, gathered, orphans.first);
  const withLists = { ...made, warnings: [...made.warnings, ...orphans.warnings] };
  const table = { table: run.table, catalog: catalogOf(event.input, gathered, ports) };
  const record = await writeReport(withLists, gathered, orphans, table, ports);
  await gathered.artefacts.writeJson(artefact.summary, record);
  const standing = await storeRecord(ports.items, record, table);
  if (gathered.plan !== undefined && run.deleting && run.fencing_token > 0) {
    await releaseLease(ports, ticketOf(run, gathered.plan));
  }
  announce(standing, ports);
  await ports.events.publish(EVENTS[standing.verdict], { version: '1', ...JSON.parse(JSON.stringify(standing)) });
  return standing;
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
