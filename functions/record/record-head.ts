/** What a record says of its run before anything of the run's artefacts is read. */
import type { Verdict } from '#shared/errors.ts';
import { runPrefix } from '#shared/run/artefacts.ts';
import type { RecordEvent, RunState } from '#shared/run/messages.ts';
import { findRecord } from '#shared/run/run-store.ts';
import type { StagePorts } from '#shared/runtime/stage-ports.ts';
import type { Gathered } from './gather.ts';
import type { RecordHead } from './make-record.ts';

/** An execution without state of its own may have been deleting an earlier run's plan, which its input names. */
export async function unplannedPlan(event: RecordEvent, ports: StagePorts): Promise<RunState> {
  const run = unplanned(event);
  const plan = field(event.input, 'plan');
  const planned = typeof plan === 'string' ? await findRecord(ports.items, plan) : undefined;
  return planned === undefined
    ? run
    : { ...run, outcome: 'SEALED_PLAN', deleting: true, seal_prefix: planned.artefacts };
}

/** What is known of a run whose plan stage never answered: its own names. */
export function unplanned(event: RecordEvent): RunState {
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

/** A field of an input that nobody has checked. */
export function field(input: unknown, name: string): unknown {
  return typeof input === 'object' && input !== null ? (input as Record<string, unknown>)[name] : undefined;
}

function tableOf(input: unknown): string {
  const table = field(input, 'table');
  return typeof table === 'string' && table !== '' ? table : '(none)';
}

export function headOf(
  event: RecordEvent,
  run: RunState,
  verdict: Verdict,
  { plan }: Pick<Gathered, 'plan'>,
  ports: StagePorts,
): RecordHead {
  const text = (name: string) => {
    const value = field(event.input, name);
    return typeof value === 'string' ? value.slice(0, 1000) : undefined;
  };
  const [comment, override, planRun] = [text('comment'), text('override'), text('plan')];
  // A state that never came says nothing; the plan does, unless it is an earlier run's.
  const plannedDry = run.outcome === 'SEALED_PLAN' ? false : plan?.input.dry_run;
  return {
    run_id: run.run_id,
    table: run.table,
    execution: event.execution.id,
    started_at: new Date(event.execution.start_time).toISOString(),
    finished_at: new Date(ports.clock.now()).toISOString(),
    verdict,
    dry_run: plannedDry ?? !run.deleting,
    ...(comment === undefined ? {} : { comment }),
    ...(override === undefined ? {} : { override }),
    ...(planRun === undefined ? {} : { plan_run: planRun }),
  };
}
