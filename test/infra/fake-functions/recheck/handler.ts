import type { RecheckEvent } from '#shared/run/messages.ts';
import { play } from '../script.ts';
import type { ScriptedRun } from '../worker.ts';

export async function handler(event: RecheckEvent): Promise<{ checked: true }> {
  await play((event.run as ScriptedRun).script, 'recheck');
  if (event.evaluation.plan_digest === '') throw new Error('no digest');
  return { checked: true };
}
