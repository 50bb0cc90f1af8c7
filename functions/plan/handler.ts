import type { PlanEvent, RunState } from '#shared/run/messages.ts';
import { stageHandler } from '#shared/runtime/stage-handler.ts';
import type { StagePorts } from '#shared/runtime/stage-ports.ts';
import { planRun } from './plan-run.ts';
import { tellStarted } from './tell-started.ts';

async function planAndTell(event: PlanEvent, ports: StagePorts): Promise<RunState> {
  const run = await planRun(event, ports);
  await tellStarted(event, run, ports);
  return run;
}

export const handler = stageHandler('plan', planAndTell);
