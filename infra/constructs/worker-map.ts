import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import {
  type Chain,
  Choice,
  Condition,
  DistributedMap,
  JsonPath,
  ResultWriterV2,
  S3JsonLItemReader,
  Succeed,
  Wait,
  WaitTime,
} from 'aws-cdk-lib/aws-stepfunctions';
import type { Construct } from 'constructs';
import { FIRST_STEP, payload } from './payloads.ts';
import { stageTask } from './stage-task.ts';

export interface WorkerMapProps {
  readonly workBucket: IBucket;
  readonly worker: LambdaFunction;
  /** JSONPath of the key of the work items, one JSON object to a line. */
  readonly itemsKeyPath: string;
  /** JSONPath of how many workers may run at once, above zero. */
  readonly maxConcurrencyPath: string;
  /** Percent of the items that may fail. The stages that mark files tolerate none. */
  readonly toleratedFailurePercentage?: number;
  readonly comment: string;
  /** Names and comments of the states that one worker goes through. */
  readonly task: { readonly id: string; readonly comment: string };
  readonly question: { readonly id: string; readonly comment: string };
  readonly end: { readonly id: string; readonly comment: string };
  /** Waits as long as the worker's answer says before it is asked whether there is more. */
  readonly wait?: { readonly id: string; readonly comment: string };
}

const ARTEFACTS = 'runs/*';

/** CDK's own reader asks for the whole bucket, which may be a team's own. */
class ArtefactReader extends S3JsonLItemReader {
  override providePolicyStatements(): PolicyStatement[] {
    return [new PolicyStatement({ actions: ['s3:GetObject'], resources: [this.bucket.arnForObjects(ARTEFACTS)] })];
  }
}

/** What Step Functions needs for the results of a map: a large one goes up in parts. */
class ArtefactWriter extends ResultWriterV2 {
  readonly #bucket: IBucket;

  constructor(bucket: IBucket, prefix: string) {
    super({ bucket, prefix });
    this.#bucket = bucket;
  }

  override providePolicyStatements(): PolicyStatement[] {
    const actions = ['s3:PutObject', 's3:GetObject', 's3:ListMultipartUploadParts', 's3:AbortMultipartUpload'];
    return [new PolicyStatement({ actions, resources: [this.#bucket.arnForObjects(ARTEFACTS)] })];
  }
}

/**
 * A distributed map with one worker per line of an artefact. A worker that runs short of time answers where it stopped and
 * is called again with that answer. Each worker is an execution of its own, so that no history comes near 25,000 events.
 */
export function workerMap(scope: Construct, id: string, props: WorkerMapProps): DistributedMap {
  const map = DistributedMap.jsonPath(scope, id, {
    comment: props.comment,
    label: id,
    itemReader: new ArtefactReader({ bucket: props.workBucket, key: JsonPath.stringAt(props.itemsKeyPath) }),
    itemSelector: {
      run: JsonPath.objectAt('$.run'),
      item: JsonPath.objectAt('$$.Map.Item.Value'),
      step: FIRST_STEP,
    },
    maxConcurrencyPath: props.maxConcurrencyPath,
    // Said in figures for the reader of the definition: zero is also what an absent field means.
    toleratedFailurePercentage: props.toleratedFailurePercentage ?? 0,
    resultWriterV2: new ArtefactWriter(props.workBucket, JsonPath.stringAt('$.run.results_prefix')),
    resultPath: JsonPath.DISCARD,
  });
  return map.itemProcessor(worker(scope, props));
}

function worker(scope: Construct, props: WorkerMapProps): Chain {
  const task = stageTask(scope, props.task.id, {
    lambdaFunction: props.worker,
    payload: payload.worker,
    resultPath: '$.step',
    comment: props.task.comment,
  });
  const end = Succeed.jsonPath(scope, props.end.id, { comment: props.end.comment, outputPath: '$.step' });
  const question = Choice.jsonPath(scope, props.question.id, { comment: props.question.comment })
    .when(Condition.booleanEquals('$.step.done', true), end)
    .otherwise(task);
  if (props.wait === undefined) return task.next(question);
  const wait = Wait.jsonPath(scope, props.wait.id, {
    time: WaitTime.secondsPath('$.step.wait_seconds'),
    comment: props.wait.comment,
  });
  return task.next(wait).next(question);
}
