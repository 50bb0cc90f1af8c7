import { Duration } from 'aws-cdk-lib';
import {
  Alarm,
  ComparisonOperator,
  type IMetric,
  MathExpression,
  Stats,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import type { IStateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { Construct } from 'constructs';
import { cleanupMetric } from './cleanup-metrics.ts';

export interface CleanupAlarmsProps {
  readonly service: string;
  readonly stateMachine: IStateMachine;
  readonly functions: readonly IFunction[];
  readonly deadLetterQueue: IQueue;
  readonly topic?: ITopic;
  readonly daysWithoutSuccess: number;
}

interface AlarmSpec {
  readonly metric: IMetric;
  readonly description: string;
  readonly threshold?: number;
}

/** Throttled calls are tried again, so only many in a quarter of an hour mean that the fleet starves. */
const MANY_THROTTLES = 500;

/** What on-call hears of. Each description says what to do. */
export class CleanupAlarms extends Construct {
  readonly #props: CleanupAlarmsProps;

  constructor(scope: Construct, id: string, props: CleanupAlarmsProps) {
    super(scope, id);
    this.#props = props;
    for (const [name, spec] of Object.entries({ ...this.#runAlarms(), ...this.#plumbingAlarms() })) {
      this.#alarm(this, name, spec);
    }
  }

  #runAlarms(): Record<string, AlarmSpec> {
    const { service, stateMachine } = this.#props;
    return {
      RunsFailed: {
        metric: cleanupMetric(service, 'RunsFailed'),
        description:
          'A run failed. Its record and the Cause of its execution say why; start it anew, nothing is redriven.',
      },
      RunsRefused: {
        metric: cleanupMetric(service, 'RunsRefused'),
        description:
          'A gate refused a run. Read its report before you override anything: too much looked orphaned, or files are shared.',
      },
      RunsStopped: {
        metric: cleanupMetric(service, 'RunsAborted'),
        description: 'A run was aborted or timed out. What it deleted is in its record; the next run finds the rest.',
      },
      DeleteFailures: {
        metric: cleanupMetric(service, 'DeleteFailures'),
        description: 'Files could not be deleted. The record of the run counts them by code; the next run tries again.',
      },
      ExecutionsFailed: {
        metric: stateMachine.metricFailed({ period: Duration.minutes(5) }),
        description:
          'An execution failed. With no RunsFailed or RunsRefused beside it, not even the record could be written: see its history.',
      },
    };
  }

  #plumbingAlarms(): Record<string, AlarmSpec> {
    const { functions, deadLetterQueue } = this.#props;
    const throttles = functions.map((lambda, index) => [`t${index}`, lambda.metricThrottles()] as const);
    return {
      DeadLetters: {
        metric: deadLetterQueue.metricApproximateNumberOfMessagesVisible({ statistic: Stats.MAXIMUM }),
        description:
          'A schedule could not start its run, or an event had no taker. The messages in the queue say which.',
      },
      LambdaThrottles: {
        metric: new MathExpression({
          expression: throttles.map(([name]) => name).join(' + '),
          usingMetrics: Object.fromEntries(throttles),
          period: Duration.minutes(15),
          label: 'Throttled calls',
        }),
        threshold: MANY_THROTTLES,
        description:
          'Lambda turns many calls away. Spread the schedules, lower max_concurrent_scans and _lists, or ask for a higher quota.',
      },
    };
  }

  #alarm(scope: Construct, id: string, spec: AlarmSpec): Alarm {
    const alarm = new Alarm(scope, id, {
      metric: spec.metric,
      threshold: spec.threshold ?? 1,
      comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      evaluationPeriods: 1,
      treatMissingData: TreatMissingData.NOT_BREACHING,
      alarmDescription: spec.description,
    });
    if (this.#props.topic !== undefined) alarm.addAlarmAction(new SnsAction(this.#props.topic));
    return alarm;
  }

  /** The alarm of a table that was not cleaned for too long. Silence of the daily task alarms as well. */
  addTable(scope: Construct, id: string, table: string): Alarm {
    const days = this.#props.daysWithoutSuccess;
    const alarm = new Alarm(scope, id, {
      metric: cleanupMetric(this.#props.service, 'DaysSinceSuccess', table, {
        statistic: Stats.MINIMUM,
        period: Duration.days(1),
      }),
      threshold: days,
      comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      // Two days, since the value of today may still be on its way.
      evaluationPeriods: 2,
      datapointsToAlarm: 2,
      treatMissingData: TreatMissingData.BREACHING,
      alarmDescription: `${table} had no successful cleanup for ${days} days. Look at its latest runs: skipped and dry runs clean nothing.`,
    });
    if (this.#props.topic !== undefined) alarm.addAlarmAction(new SnsAction(this.#props.topic));
    return alarm;
  }
}
