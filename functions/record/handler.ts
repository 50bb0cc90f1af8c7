import type { FailureState, RecordEvent } from '#shared/run/messages.ts';
import type { RunRecord } from '#shared/run/record.ts';
import {
  type ExecutionEndedEvent,
  isExecutionEndedEvent,
  recordEventOf,
} from '#shared/runtime/execution-ended-event.ts';
import { stageHandler } from '#shared/runtime/stage-handler.ts';
import type { StagePorts } from '#shared/runtime/stage-ports.ts';
import { recordFailure, recordRun } from './record-run.ts';

function record(event: RecordEvent | ExecutionEndedEvent, ports: StagePorts): Promise<RunRecord | FailureState> {
  if (isExecutionEndedEvent(event)) return recordFailure(recordEventOf(event), ports);
  return event.record === 'run' ? recordRun(event, ports) : recordFailure(event, ports);
}

export const handler = stageHandler('record', record);
