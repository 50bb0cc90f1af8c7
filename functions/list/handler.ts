import { stageHandler } from '#shared/runtime/stage-handler.ts';
import { listShard } from './list-shard.ts';

export const handler = stageHandler('list', listShard);
