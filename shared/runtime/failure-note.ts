/** What a worker of a map leaves in the work bucket before it throws: RecordFailure tells the true error from it. */
import { artefact } from '#shared/run/artefacts.ts';
import type { RunState } from '#shared/run/messages.ts';
import { newNonce, RunArtefacts } from '#shared/run/run-artefacts.ts';
import type { FunctionName } from './env.ts';
import type { StagePorts } from './stage-ports.ts';

/** A note lies beside receipts, never in the place of one, and counts nothing. */
export interface FailureNote {
  readonly run_id: string;
  readonly stage: FunctionName;
  /** Number of the shard, range or batch; '' where the stage has one item only. */
  readonly item: string;
  readonly error: string;
  readonly message: string;
  /** ISO 8601. */
  readonly at: string;
  /** The state machine tries this one again, so it is the cause only if nothing else is. */
  readonly transient: boolean;
}

/** The event's own number of its work item; events of stages without items have none. */
function itemOf(event: unknown): string {
  const item = (event as { readonly item?: Readonly<Record<string, unknown>> } | null)?.item;
  const number = item?.['shard'] ?? item?.['range'] ?? item?.['batch'];
  return typeof number === 'number' ? String(number) : '';
}

/**
 * Writes a note for a failed worker of a map. Does nothing for an event without run or item. Never throws: the error that
 * it notes matters more than the note.
 */
export async function leaveFailureNote(
  stage: FunctionName,
  event: unknown,
  error: Error,
  ports: Pick<StagePorts, 'work' | 'workBucket' | 'clock' | 'log'>,
): Promise<void> {
  const run = (event as { readonly run?: RunState } | null)?.run;
  const item = itemOf(event);
  if (typeof run?.prefix !== 'string' || item === '') return;
  const note: FailureNote = {
    run_id: run.run_id,
    stage,
    item,
    error: error.name,
    message: error.message,
    at: new Date(ports.clock.now()).toISOString(),
    transient: error.name === 'ServiceUnavailableError',
  };
  try {
    const artefacts = new RunArtefacts(ports.work, ports.workBucket, run.prefix);
    await artefacts.writeJson(artefact.failureNote(stage, item, newNonce()), note);
  } catch (fault) {
    ports.log.warn('Failure note not written', { fault: String(fault) });
  }
}
