import { JsonPath, TaskInput } from 'aws-cdk-lib/aws-stepfunctions';
import type { EvaluationState, WorkerStep } from '#shared/run/messages.ts';

/** What a worker gets as its own last answer when there is none yet. */
export const FIRST_STEP: WorkerStep = { done: false, next: '', wait_seconds: 0 };

/** The evaluation before EvaluateRun has answered for the first time: JSONPath fails on what is absent. */
export const FIRST_EVALUATION: EvaluationState = {
  ...FIRST_STEP,
  verdict: 'MORE',
  error: '',
  cause: '',
  batches_key: '',
  plan_digest: '',
};

/** `ExecutionContext` of `shared/run/messages.ts`, from the context object. */
const execution = {
  id: JsonPath.executionId,
  name: JsonPath.executionName,
  start_time: JsonPath.executionStartTime,
  state_machine: JsonPath.stateMachineId,
};

const input = JsonPath.objectAt('$$.Execution.Input');

/** Payloads of the tasks, in the shapes of `shared/run/messages.ts`. */
export const payload = {
  plan: TaskInput.fromObject({ input, state: JsonPath.objectAt('$'), execution }),
  probe: TaskInput.fromObject({ run: JsonPath.objectAt('$.run'), probe: true }),
  worker: TaskInput.fromObject({
    run: JsonPath.objectAt('$.run'),
    item: JsonPath.objectAt('$.item'),
    step: JsonPath.objectAt('$.step'),
  }),
  evaluate: TaskInput.fromObject({ run: JsonPath.objectAt('$.run'), step: JsonPath.objectAt('$.evaluation') }),
  recheck: TaskInput.fromObject({
    run: JsonPath.objectAt('$.run'),
    evaluation: { plan_digest: JsonPath.stringAt('$.run.plan_digest') },
  }),
  recordRun: TaskInput.fromObject({ input, state: JsonPath.objectAt('$'), execution, record: 'run' }),
  recordFailure: TaskInput.fromObject({ input, state: JsonPath.objectAt('$'), execution, record: 'failure' }),
} as const;
