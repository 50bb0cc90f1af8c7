import { stageHandler } from '#shared/runtime/stage-handler.ts';
import { buildFilter } from './build-filter.ts';

export const handler = stageHandler('build', buildFilter);
