import { Duration, RemovalPolicy } from 'aws-cdk-lib';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import type { StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { Construct } from 'constructs';
import type { FunctionName } from '#shared/runtime/env.ts';
import { RunMachine } from './run-machine.ts';
import { RunStore } from './run-store.ts';
import { StageFunctions } from './stage-functions.ts';

export interface OrphanCleanupProps {
  readonly bundles: Readonly<Record<FunctionName, string>>;
  readonly workBucket?: IBucket;
  readonly runTable?: ITable;
  readonly encryptionKey?: IKey;
}

export class OrphanCleanup extends Construct {
  readonly stateMachine: StateMachine;

  constructor(scope: Construct, id: string, props: OrphanCleanupProps) {
    super(scope, id);
    // Consumers' apps may lack the flag, and without it every ResultWriter is dropped in silence.
    this.node.setContext('@aws-cdk/aws-stepfunctions:useDistributedMapResultWriterV2', true);
    const store = new RunStore(this, 'RunStore', { ...props, artefactRetention: Duration.days(90) });
    const stages = new StageFunctions(this, 'Functions', {
      bundles: props.bundles,
      workBucket: store.workBucket,
      runTable: store.runTable,
      deployment: '{}',
      environments: {},
      logRetention: RetentionDays.THREE_MONTHS,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const machine = new RunMachine(this, 'Run', {
      functions: stages.functions,
      workBucket: store.workBucket,
      logGroup: new LogGroup(this, 'RunLogs', { retention: RetentionDays.THREE_MONTHS }),
    });
    this.stateMachine = machine.stateMachine;
  }
}
