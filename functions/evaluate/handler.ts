import { stageHandler } from '#shared/runtime/stage-handler.ts';
import { evaluateRun } from './evaluate-run.ts';

export const handler = stageHandler('evaluate', evaluateRun);
