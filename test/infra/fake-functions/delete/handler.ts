import type { DeleteEvent, ProbeEvent, WorkerStep } from '#shared/run/messages.ts';
import { play } from '../script.ts';
import { type ScriptedRun, worker } from '../worker.ts';

const batch = worker('delete');

export async function handler(event: DeleteEvent | ProbeEvent): Promise<WorkerStep | { probed: true }> {
  if (!('probe' in event)) return batch(event as never);
  await play((event.run as ScriptedRun).script, 'probe');
  return { probed: true };
}
