import { stageHandler } from '#shared/runtime/stage-handler.ts';
import { scanShard } from './scan-shard.ts';

export const handler = stageHandler('scan', scanShard);
