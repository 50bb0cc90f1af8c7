import { Duration, NestedStack, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { CfnSchedule, CfnScheduleGroup, type ScheduleExpression } from 'aws-cdk-lib/aws-scheduler';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import type { IStateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { Construct } from 'constructs';

/** A stack holds 500 resources, and a table takes two: its schedule and its alarm. */
const TABLES_PER_STACK = 200;

/** A name has 80 characters at most, and Scheduler's execution id takes its part. */
const TABLE_CHARACTERS = 40;

export interface TableSchedulesProps {
  readonly stateMachine: IStateMachine;
  readonly window: Duration;
  readonly enabled: boolean;
}

/** One schedule per table, all in one group, spread over nested stacks. */
export class TableSchedules extends Construct {
  readonly deadLetterQueue: Queue;
  readonly group: CfnScheduleGroup;
  readonly #props: TableSchedulesProps;
  readonly #role: Role;
  readonly #stacks: NestedStack[] = [];
  #count = 0;

  constructor(scope: Construct, id: string, props: TableSchedulesProps) {
    super(scope, id);
    this.#props = props;
    this.group = new CfnScheduleGroup(this, 'Group');
    this.deadLetterQueue = new Queue(this, 'DeadLetters', {
      retentionPeriod: Duration.days(14),
      enforceSSL: true,
      removalPolicy: RemovalPolicy.DESTROY,
      // Not with a key of yours: EventBridge and Scheduler would both need a right to it.
      encryption: QueueEncryption.SQS_MANAGED,
    });
    this.#role = new Role(this, 'Role', {
      assumedBy: new ServicePrincipal('scheduler.amazonaws.com', {
        // Nobody else's schedule may borrow the role.
        conditions: { StringEquals: { 'aws:SourceAccount': Stack.of(this).account } },
      }),
      description: 'Lets the schedules start the icesweep state machine.',
    });
    this.#role.addToPolicy(
      new PolicyStatement({
        sid: 'StartRuns',
        actions: ['states:StartExecution'],
        resources: [props.stateMachine.stateMachineArn],
      }),
    );
    this.deadLetterQueue.grantSendMessages(this.#role);
  }

  /** The nested stack of the next table, for what belongs to that table alone. */
  nextStack(): NestedStack {
    const index = Math.floor(this.#count / TABLES_PER_STACK);
    this.#count += 1;
    this.#stacks[index] ??= new NestedStack(this, `Tables${index}`, {
      description: 'Schedules and alarms of icesweep tables.',
    });
    return this.#stacks[index];
  }

  /** Starts a run of the table at its times. The scheduled time goes into the input, where the plan takes it once. */
  schedule(scope: Construct, id: string, table: string, expression: ScheduleExpression): CfnSchedule {
    const { stateMachine, window, enabled } = this.#props;
    const minutes = window.toMinutes();
    return new CfnSchedule(scope, id, {
      groupName: this.group.ref,
      description: `Cleans orphan files of ${table}.`.slice(0, 512),
      scheduleExpression: expression.expressionString,
      ...(expression.timeZone === undefined ? {} : { scheduleExpressionTimezone: expression.timeZone.timezoneName }),
      flexibleTimeWindow: minutes === 0 ? { mode: 'OFF' } : { mode: 'FLEXIBLE', maximumWindowInMinutes: minutes },
      state: enabled ? 'ENABLED' : 'DISABLED',
      target: {
        arn: `arn:${Stack.of(this).partition}:scheduler:::aws-sdk:sfn:startExecution`,
        roleArn: this.#role.roleArn,
        input: Stack.of(scope).toJsonString({
          StateMachineArn: stateMachine.stateMachineArn,
          Name: `${executionNamePart(table)}-<aws.scheduler.execution-id>`,
          Input: JSON.stringify({ table, scheduled_time: '<aws.scheduler.scheduled-time>' }),
        }),
        deadLetterConfig: { arn: this.deadLetterQueue.queueArn },
        // The defaults would try for a day; by then the next run is due.
        retryPolicy: { maximumRetryAttempts: 3, maximumEventAgeInSeconds: Duration.hours(2).toSeconds() },
      },
    });
  }
}

/** The readable part of an execution's name: letters, digits, `-` and `_` only, the end of the table's name first. */
export function executionNamePart(table: string): string {
  const readable = table.replace(/[^A-Za-z0-9_-]+/g, '-').slice(-TABLE_CHARACTERS);
  return readable.replace(/^-+|-+$/g, '') || 'table';
}
