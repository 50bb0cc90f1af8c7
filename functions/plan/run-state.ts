/** The few things that travel through the state machine (every key always present, since JSONPath fails on an absent one). */
import { artefact, runPrefix } from '#shared/run/artefacts.ts';
import type { ExecutionContext, RunState } from '#shared/run/messages.ts';
import type { ResolvedInput } from '#shared/run/resolved-input.ts';

/** Filters are built in memory of tens of MB each, from objects that all workers read. */
const MAX_CONCURRENT_BUILDS = 40;

/** The state of a run of which nothing is planned yet. */
export function firstState(input: ResolvedInput, execution: ExecutionContext): RunState {
  const prefix = runPrefix(input.table, execution.name);
  return {
    run_id: execution.name,
    table: input.table,
    prefix,
    outcome: 'SKIPPED',
    next: '',
    deleting: !input.dry_run,
    plan_hash: '',
    fencing_token: 0,
    scan_items_key: `${prefix}/${artefact.scanItems}`,
    build_items_key: `${prefix}/${artefact.buildItems}`,
    list_items_key: `${prefix}/${artefact.listItems}`,
    results_prefix: `${prefix}/results`,
    max_concurrent_scans: input.max_concurrent_scans,
    max_concurrent_builds: MAX_CONCURRENT_BUILDS,
    max_concurrent_lists: input.max_concurrent_lists,
    max_concurrent_deletes: input.max_concurrent_deletes,
    batches_key: '',
    seal_prefix: prefix,
    plan_digest: '',
  };
}
