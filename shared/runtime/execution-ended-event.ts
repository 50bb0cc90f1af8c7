/**
 * EventBridge's "Step Functions Execution Status Change", as the rule on executions that did not succeed delivers it. Most failed
 * ones have told their end themselves; one whose RecordFailure failed, or that broke outside every Catch, has not.
 */
import type { RecordEvent } from '#shared/run/messages.ts';

export interface ExecutionEndedEvent {
  readonly source: 'aws.states';
  readonly detail: {
    readonly executionArn: string;
    readonly stateMachineArn: string;
    readonly name: string;
    readonly status: 'ABORTED' | 'TIMED_OUT' | 'FAILED';
    /** Milliseconds since the epoch. */
    readonly startDate: number;
    /** JSON text; null where it was too large for the event. */
    readonly input: string | null;
    /** Of a failed execution. */
    readonly error?: string | null;
    readonly cause?: string | null;
  };
}

/** The error names under which RecordFailure learns of an execution that no state of its own could record. */
export const ENDED_ERRORS = { ABORTED: 'ExecutionAborted', TIMED_OUT: 'ExecutionTimedOut' } as const;

export function isExecutionEndedEvent(event: unknown): event is ExecutionEndedEvent {
  const candidate = event as Partial<ExecutionEndedEvent> | null;
  return candidate?.source === 'aws.states' && typeof candidate.detail?.executionArn === 'string';
}

function parseInput(text: string | null): unknown {
  if (text === null) return {};
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

/** The event as the payload that RecordFailure's function knows from the state machine. */
export function recordEventOf({ detail }: ExecutionEndedEvent): RecordEvent {
  return {
    input: parseInput(detail.input),
    execution: {
      id: detail.executionArn,
      name: detail.name,
      start_time: new Date(detail.startDate).toISOString(),
      state_machine: detail.stateMachineArn,
    },
    state: { error: errorOf(detail) },
    record: 'ended',
  };
}

const CAUSES = {
  ABORTED: 'The execution was stopped from outside.',
  TIMED_OUT: 'The execution ran out of time.',
} as const;

function errorOf({ status, error, cause }: ExecutionEndedEvent['detail']): { Error: string; Cause: string } {
  if (status === 'FAILED') return { Error: error || 'States.Runtime', Cause: cause ?? '' };
  return { Error: ENDED_ERRORS[status], Cause: CAUSES[status] };
}
