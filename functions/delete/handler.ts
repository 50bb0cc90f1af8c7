import type { DeleteEvent, ProbeEvent, WorkerStep } from '#shared/run/messages.ts';
import { stageHandler } from '#shared/runtime/stage-handler.ts';
import { deleteBatch } from './delete-batch.ts';
import { probeDelete } from './probe-delete.ts';

/** Both tasks need the right to delete, and only this function has it. */
export const handler = stageHandler<DeleteEvent | ProbeEvent, WorkerStep | { readonly probed: true }>(
  'delete',
  (event, ports) => ('probe' in event ? probeDelete(event, ports) : deleteBatch(event, ports)),
);
