import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { Choice, Condition, Fail, type IChainable } from 'aws-cdk-lib/aws-stepfunctions';
import type { Construct } from 'constructs';
import { payload } from './payloads.ts';
import { stageTask } from './stage-task.ts';

/**
 * The states behind every error and refusal: first the full record, then an execution that failed under the error's own
 * name. The entry is RecordFailure.
 */
export function failedEnding(scope: Construct, record: LambdaFunction): IChainable {
  const recordFailure = stageTask(scope, 'RecordFailure', {
    lambdaFunction: record,
    payload: payload.recordFailure,
    resultPath: '$.failure',
    comment: 'Finds the true cause in the failure notes, writes the record of the failed run and releases the lease.',
  });
  const said = { errorPath: '$.failure.error', causePath: '$.failure.cause' };
  const refused = Fail.jsonPath(scope, 'RunRefused', {
    comment: 'A gate or a rule said no: the Cause names it and what to do next.',
    ...said,
  });
  const failed = Fail.jsonPath(scope, 'RunFailed', {
    comment: 'The run could not be finished: the Cause says why; start a new run, a redrive is not offered.',
    ...said,
  });
  const question = Choice.jsonPath(scope, 'WasItRefused?', {
    comment: 'Tells a refusal, which is a decision, from a failure.',
  })
    .when(Condition.stringEquals('$.failure.verdict', 'REFUSED'), refused)
    .otherwise(failed);
  recordFailure.next(question);
  return recordFailure;
}
