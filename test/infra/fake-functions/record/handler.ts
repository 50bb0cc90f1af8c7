import { verdictOfError } from '#shared/errors.ts';
import type { FailureState, RecordEvent } from '#shared/run/messages.ts';
import { isExecutionEndedEvent, recordEventOf } from '#shared/runtime/execution-ended-event.ts';
import { play, putWork, type Script } from '../script.ts';

export async function handler(event: RecordEvent): Promise<unknown> {
  if (isExecutionEndedEvent(event)) {
    const { execution, state } = recordEventOf(event);
    await putWork(`aborted/${execution.name}.json`, JSON.stringify({ execution, state }));
    return {};
  }
  const { script = {} } = event.input as { script?: Script };
  if (event.record === 'run') {
    await play(script, 'record');
    return { verdict: event.state.evaluation?.verdict ?? 'SKIPPED', state: event.state, execution: event.execution };
  }
  const error = event.state.error?.Error ?? event.state.evaluation?.error ?? '';
  const verdict = verdictOfError(error) === 'REFUSED' ? 'REFUSED' : 'FAILED';
  return { verdict, error: error || 'NoError', cause: event.state.error?.Cause ?? '' } satisfies FailureState;
}
