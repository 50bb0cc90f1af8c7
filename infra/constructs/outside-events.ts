import { Duration } from 'aws-cdk-lib';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction as LambdaTarget } from 'aws-cdk-lib/aws-events-targets';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import type { StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { Construct } from 'constructs';

export interface OutsideEventsProps {
  readonly stateMachine: StateMachine;
  readonly record: LambdaFunction;
  readonly watch: LambdaFunction;
  readonly deadLetterQueue: Queue;
}

/** What happens outside of executions: the record of one that could not write it, and the daily look at the tables. */
export class OutsideEvents extends Construct {
  constructor(scope: Construct, id: string, props: OutsideEventsProps) {
    super(scope, id);
    const target = (lambda: LambdaFunction): LambdaTarget =>
      new LambdaTarget(lambda, {
        deadLetterQueue: props.deadLetterQueue,
        retryAttempts: 5,
        maxEventAge: Duration.hours(6),
      });
    // The events of AWS services are on the default bus only. Children of maps have ARNs of their own and do not match.
    new Rule(this, 'ExecutionStopped', {
      description: 'Records executions that were aborted, timed out or failed before a state of their own could.',
      eventPattern: {
        source: ['aws.states'],
        detailType: ['Step Functions Execution Status Change'],
        detail: { status: ['ABORTED', 'TIMED_OUT', 'FAILED'], stateMachineArn: [props.stateMachine.stateMachineArn] },
      },
      targets: [target(props.record)],
    });
    new Rule(this, 'DailyWatch', {
      description: 'Tells daily how many days ago each table was last cleaned.',
      schedule: Schedule.cron({ hour: '6', minute: '17' }),
      targets: [target(props.watch)],
    });
  }
}
