import { stageHandler } from '#shared/runtime/stage-handler.ts';
import { watchTables } from './watch-tables.ts';

export const handler = stageHandler('watch', (_event: unknown, ports) => watchTables(ports));
