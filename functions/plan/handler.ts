import type { PlanEvent, RunState } from '#shared/run/messages.ts';
import { stageHandler } from '#shared/runtime/stage-handler.ts';
import type { StagePorts } from '#shared/runtime/stage-ports.ts';
import { planRun } from './plan-run.ts';

/** A run has begun once its first call has passed the gates; a skipped one never does, and a refused one is told as that. */
async function planAndTell(event: PlanEvent, ports: StagePorts): Promise<RunState> {
  const run = await planRun(event, ports);
  if (event.state.run === undefined && run.outcome !== 'SKIPPED') {
    const { id: execution, start_time: started_at } = event.execution;
    const { run_id, table, deleting } = run;
    await ports.events.publish('Started', { version: '1', run_id, table, execution, started_at, deleting });
  }
  return run;
}

export const handler = stageHandler('plan', planAndTell);
