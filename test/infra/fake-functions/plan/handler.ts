import type { PlanEvent, RunState } from '#shared/run/messages.ts';
import { play, putWork, type Script } from '../script.ts';

async function writeItems(prefix: string, name: string, field: string, count: number): Promise<string> {
  const key = `${prefix}/plan/${name}.jsonl`;
  await putWork(key, Array.from({ length: count }, (_, i) => `${JSON.stringify({ [field]: i })}\n`).join(''));
  return key;
}

export async function handler(event: PlanEvent): Promise<RunState & { script: Script }> {
  const { script = {} } = event.input as { script?: Script };
  await play(script, 'plan');
  const round = Number(event.state.run?.next.slice('round-'.length) || 0) + 1;
  const prefix = `runs/t/${event.execution.name}`;
  const items = script.items ?? 2;
  const concurrency = script.concurrency ?? 3;
  return {
    script,
    run_id: event.execution.name,
    table: 'db.t',
    prefix,
    outcome: round < (script.planRounds ?? 1) ? 'MORE' : (script.outcome ?? 'PLANNED'),
    next: `round-${round}`,
    deleting: script.deleting ?? false,
    plan_hash: 'p',
    fencing_token: 1,
    scan_items_key: await writeItems(prefix, 'scan', 'shard', items),
    build_items_key: await writeItems(prefix, 'build', 'range', items),
    list_items_key: await writeItems(prefix, 'list', 'shard', items),
    results_prefix: `${prefix}/results`,
    max_concurrent_scans: concurrency,
    max_concurrent_builds: concurrency,
    max_concurrent_lists: concurrency,
    max_concurrent_deletes: 1,
    batches_key: script.outcome === 'SEALED_PLAN' ? await writeItems(prefix, 'batches', 'batch', items) : '',
    seal_prefix: prefix,
    plan_digest: script.outcome === 'SEALED_PLAN' ? 'earlier-digest' : '',
  };
}
