import type { PlanEvent, RunState } from '#shared/run/messages.ts';
import type { RunStartedDetail } from '#shared/run/run-events.ts';
import type { StagePorts } from '#shared/runtime/stage-ports.ts';

/**
 * Publishes that a run has begun: once its first call has passed the gates. A skipped run never does, and a refused one is
 * told as that by its record.
 */
export async function tellStarted(event: PlanEvent, run: RunState, ports: Pick<StagePorts, 'events'>): Promise<void> {
  if (event.state.run !== undefined || run.outcome === 'SKIPPED') return;
  const { id: execution, start_time: started_at } = event.execution;
  const { run_id, table, deleting } = run;
  const detail: RunStartedDetail = { version: '1', run_id, table, execution, started_at, deleting };
  await ports.events.publish('Started', { ...detail });
}
