import { Duration } from 'aws-cdk-lib';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { Errors, JitterType, type TaskInput, Timeout } from 'aws-cdk-lib/aws-stepfunctions';
import { LambdaInvoke } from 'aws-cdk-lib/aws-stepfunctions-tasks';
import type { Construct } from 'constructs';

/** Lambda had no room for the call. It costs nothing to ask again, and wide maps will. */
const THROTTLED = ['Lambda.TooManyRequestsException'];

/** A service did not answer; ServiceUnavailableError is the same said by our own functions. */
const UNAVAILABLE = [
  'Lambda.ServiceException',
  'Lambda.AWSLambdaException',
  'Lambda.SdkClientException',
  'Lambda.ClientExecutionTimeoutException',
  'ServiceUnavailableError',
];

/** The process died. Once may be chance, but what does not fit into memory does not fit the third time either. */
const DIED = ['Runtime.ExitError', 'Runtime.OutOfMemory', 'Sandbox.Timedout', 'Lambda.Unknown', Errors.TIMEOUT];

/** Time beyond the function's own limit, so that Lambda's answer arrives before the state gives up on it. */
const GRACE = Duration.seconds(60);

export interface StageTaskProps {
  readonly lambdaFunction: LambdaFunction;
  readonly payload: TaskInput;
  /** Where the answer goes; undefined replaces the state, null drops the answer. */
  readonly resultPath: string | undefined;
  /** One sentence for the console. */
  readonly comment: string;
}

/** A task that calls one of our functions, with the retries that every one of them needs. */
export function stageTask(scope: Construct, id: string, props: StageTaskProps): LambdaInvoke {
  const limit = props.lambdaFunction.timeout ?? Duration.minutes(15);
  const task = LambdaInvoke.jsonPath(scope, id, {
    lambdaFunction: props.lambdaFunction,
    payload: props.payload,
    payloadResponseOnly: true,
    retryOnServiceExceptions: false,
    taskTimeout: Timeout.duration(limit.plus(GRACE)),
    comment: props.comment,
    ...(props.resultPath === undefined ? {} : { resultPath: props.resultPath }),
  });
  const jitter = { backoffRate: 2, jitterStrategy: JitterType.FULL };
  task.addRetry({
    errors: THROTTLED,
    interval: Duration.seconds(2),
    maxAttempts: 10,
    maxDelay: Duration.seconds(60),
    ...jitter,
  });
  task.addRetry({
    errors: UNAVAILABLE,
    interval: Duration.seconds(2),
    maxAttempts: 6,
    maxDelay: Duration.seconds(60),
    ...jitter,
  });
  task.addRetry({
    errors: DIED,
    interval: Duration.seconds(5),
    maxAttempts: 2,
    maxDelay: Duration.seconds(60),
    ...jitter,
  });
  return task;
}
