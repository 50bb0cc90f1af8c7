import { stageHandler } from '#shared/runtime/stage-handler.ts';
import { planRun } from './plan-run.ts';

export const handler = stageHandler('plan', planRun);
