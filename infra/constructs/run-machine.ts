import { Duration } from 'aws-cdk-lib';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import {
  Choice,
  Condition,
  DefinitionBody,
  type IChainable,
  JsonPath,
  LogLevel,
  Pass,
  Result,
  StateMachine,
  StateMachineType,
  Succeed,
} from 'aws-cdk-lib/aws-stepfunctions';
import { Construct } from 'constructs';
import type { FunctionName } from '#shared/runtime/env.ts';
import { failedEnding } from './failed-ending.ts';
import { FIRST_EVALUATION, payload } from './payloads.ts';
import { stageTask } from './stage-task.ts';
import { workerMap } from './worker-map.ts';

export interface RunMachineProps {
  readonly functions: Readonly<Record<FunctionName, LambdaFunction>>;
  readonly workBucket: IBucket;
  readonly logGroup: ILogGroup;
  /**
   * After this an execution is timed out and recorded as ABORTED.
   *
   * @default Duration.days(3)
   */
  readonly timeout?: Duration;
}

/** The state machine of one run, as `functions/README.md` tells it. */
export class RunMachine extends Construct {
  readonly stateMachine: StateMachine;
  readonly #props: RunMachineProps;

  constructor(scope: Construct, id: string, props: RunMachineProps) {
    super(scope, id);
    this.#props = props;
    this.stateMachine = new StateMachine(this, 'StateMachine', {
      stateMachineType: StateMachineType.STANDARD,
      definitionBody: DefinitionBody.fromChainable(this.#definition()),
      comment:
        'Finds the orphan files of one Apache Iceberg table and deletes them, unless a gate refuses or it is a dry run.',
      timeout: props.timeout ?? Duration.days(3),
      tracingEnabled: true,
      // Every transition is logged, inputs and outputs are not: they name tables and prefixes.
      logs: { destination: props.logGroup, level: LogLevel.ALL, includeExecutionData: false },
    });
  }

  /** Built from the end to the start, since each state names the ones that follow. */
  #definition(): IChainable {
    const failed = failedEnding(this, this.#props.functions.record);
    const recordRun = this.#recordRun(failed);
    const deleting = this.#deleting(failed, recordRun);
    const marking = this.#marking(failed, recordRun, deleting.fromEvaluation);
    return this.#planning(failed, recordRun, marking, deleting.fromSealedPlan);
  }

  #planning(failed: IChainable, recordRun: IChainable, marking: IChainable, sealed: IChainable): IChainable {
    const begin = Pass.jsonPath(this, 'BeginRun', {
      comment: 'Sets the input aside, so that nothing in it is ever taken for the answer of a stage.',
      result: Result.fromObject({}),
    });
    const planRun = stageTask(this, 'PlanRun', {
      lambdaFunction: this.#props.functions.plan,
      payload: payload.plan,
      resultPath: '$.run',
      comment: 'Pins the table metadata, checks every gate that needs no scan, takes the lease and writes the plan.',
    });
    const probe = stageTask(this, 'ProbeDelete', {
      lambdaFunction: this.#props.functions.delete,
      payload: payload.probe,
      resultPath: JsonPath.DISCARD,
      comment: 'Finds out under each root whether this run may delete, without deleting anything.',
    });
    const isSealed = Choice.jsonPath(this, 'IsThePlanSealed?', {
      comment: 'Sends a plan that an earlier run sealed straight to the recheck, and a new one to the scan.',
    });
    const found = Choice.jsonPath(this, 'WhatDidThePlanFind?', {
      comment: 'Goes on planning, or on to a skipped run, to an earlier sealed plan, or to the scan.',
    });
    const outcome = (value: string): Condition => Condition.stringEquals('$.run.outcome', value);
    planRun.addCatch(failed, { resultPath: '$.error' });
    probe.addCatch(failed, { resultPath: '$.error' });
    probe.next(isSealed.when(outcome('SEALED_PLAN'), sealed).when(outcome('PLANNED'), marking).otherwise(failed));
    found
      .when(outcome('MORE'), planRun)
      .when(outcome('SKIPPED'), recordRun)
      .when(outcome('SEALED_PLAN'), probe)
      .when(Condition.and(outcome('PLANNED'), Condition.booleanEquals('$.run.deleting', true)), probe)
      .when(outcome('PLANNED'), marking)
      .otherwise(failed);
    return begin.next(planRun).next(found);
  }

  #marking(failed: IChainable, recordRun: IChainable, deleting: IChainable): IChainable {
    const { functions, workBucket } = this.#props;
    const scan = workerMap(this, 'ScanManifests', {
      workBucket,
      worker: functions.scan,
      itemsKeyPath: '$.run.scan_items_key',
      maxConcurrencyPath: '$.run.max_concurrent_scans',
      comment: 'Reads every manifest once and writes the fingerprints of the files that the table references.',
      task: { id: 'ScanShard', comment: 'Reads the manifests of one scan shard.' },
      question: { id: 'IsTheShardScanned?', comment: 'Calls the worker again where it ran short of time.' },
      end: { id: 'ShardScanned', comment: 'The shard left its receipt.' },
    });
    const build = workerMap(this, 'BuildFilters', {
      workBucket,
      worker: functions.build,
      itemsKeyPath: '$.run.build_items_key',
      maxConcurrencyPath: '$.run.max_concurrent_builds',
      comment: 'Merges the fingerprints of each key range into one filter shard.',
      task: { id: 'BuildFilter', comment: 'Builds the filter shard of one key range.' },
      question: { id: 'IsTheFilterBuilt?', comment: 'Calls the worker again where it ran short of time.' },
      end: { id: 'FilterBuilt', comment: 'The key range left its receipt.' },
    });
    const list = workerMap(this, 'ListStorage', {
      workBucket,
      worker: functions.list,
      itemsKeyPath: '$.run.list_items_key',
      maxConcurrencyPath: '$.run.max_concurrent_lists',
      comment: "Lists the table's storage and writes down what is in no filter and old enough.",
      task: { id: 'ListShard', comment: 'Lists one interval of keys.' },
      question: { id: 'IsTheShardListed?', comment: 'Calls the worker again where it ran short of time.' },
      end: { id: 'ShardListed', comment: 'The interval was listed to its end and left its receipt.' },
    });
    for (const map of [scan, build, list]) map.addCatch(failed, { resultPath: '$.error' });
    return scan
      .next(build)
      .next(list)
      .next(this.#evaluating(failed, recordRun, deleting));
  }

  #evaluating(failed: IChainable, recordRun: IChainable, deleting: IChainable): IChainable {
    const begin = Pass.jsonPath(this, 'BeginEvaluation', {
      comment: 'Gives the evaluation its empty first step.',
      result: Result.fromObject({ ...FIRST_EVALUATION }),
      resultPath: '$.evaluation',
    });
    const evaluate = stageTask(this, 'EvaluateRun', {
      lambdaFunction: this.#props.functions.evaluate,
      payload: payload.evaluate,
      resultPath: '$.evaluation',
      comment: 'Balances the books, applies every rule to what was found and seals the plan.',
    });
    evaluate.addCatch(failed, { resultPath: '$.error' });
    const verdict = (value: string): Condition => Condition.stringEquals('$.evaluation.verdict', value);
    const question = Choice.jsonPath(this, 'WhatIsTheVerdict?', {
      comment: 'Only the verdict DELETE leads to the delete stage; what is not known leads to the record of a failure.',
    })
      .when(verdict('MORE'), evaluate)
      .when(verdict('DELETE'), deleting)
      .when(Condition.or(verdict('NOTHING_TO_DO'), verdict('DRY_RUN')), recordRun)
      .otherwise(failed);
    return begin.next(evaluate).next(question);
  }

  #deleting(failed: IChainable, recordRun: IChainable): { fromEvaluation: IChainable; fromSealedPlan: IChainable } {
    const { functions, workBucket } = this.#props;
    const recheck = stageTask(this, 'RecheckTable', {
      lambdaFunction: functions.recheck,
      payload: payload.recheck,
      resultPath: JsonPath.DISCARD,
      comment: 'Reads the pointer and the lease again and takes off the list what the table references by now.',
    });
    const orphans = workerMap(this, 'DeleteOrphans', {
      workBucket,
      worker: functions.delete,
      itemsKeyPath: '$.run.batches_key',
      maxConcurrencyPath: '$.run.max_concurrent_deletes',
      toleratedFailurePercentage: 100,
      comment: 'Deletes exactly what the seal lists, in paced batches; a failed batch is counted and stops no other.',
      task: { id: 'DeleteBatch', comment: 'Looks at the table once more and deletes one batch.' },
      wait: { id: 'CoolDown', comment: 'Gives the store a pause before the next request.' },
      question: { id: 'IsTheBatchDone?', comment: 'Calls the worker again while the batch has files left.' },
      end: { id: 'BatchDone', comment: 'The batch left its outcome.' },
    });
    recheck.addCatch(failed, { resultPath: '$.error' });
    orphans.addCatch(failed, { resultPath: '$.error' });
    const takeBatches = Pass.jsonPath(this, 'TakeSealedBatches', {
      comment: 'Hands the sealed batches on to the delete stage.',
      inputPath: '$.evaluation.batches_key',
      resultPath: '$.run.batches_key',
    });
    const takeDigest = Pass.jsonPath(this, 'TakePlanDigest', {
      comment: 'Hands the plan digest on, which every batch checks.',
      inputPath: '$.evaluation.plan_digest',
      resultPath: '$.run.plan_digest',
    });
    const fromSealedPlan = recheck.next(orphans).next(recordRun);
    return { fromEvaluation: takeBatches.next(takeDigest).next(recheck), fromSealedPlan };
  }

  #recordRun(failed: IChainable): IChainable {
    const record = stageTask(this, 'RecordRun', {
      lambdaFunction: this.#props.functions.record,
      payload: payload.recordRun,
      resultPath: undefined,
      comment: 'Writes the record and the report, which are also the output of this execution, and releases the lease.',
    });
    record.addCatch(failed, { resultPath: '$.error' });
    return record.next(Succeed.jsonPath(this, 'Done', { comment: 'The run ended as its record says.' }));
  }
}
