import { stageHandler } from '#shared/runtime/stage-handler.ts';
import { recheckTable } from './recheck-table.ts';

export const handler = stageHandler('recheck', recheckTable);
