import assert from 'node:assert/strict';
import test from 'node:test';
import { RemovalPolicy, type Stack, Tags } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import { Vpc } from 'aws-cdk-lib/aws-ec2';
import { EventBus } from 'aws-cdk-lib/aws-events';
import { Key } from 'aws-cdk-lib/aws-kms';
import { Bucket } from 'aws-cdk-lib/aws-s3';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { OUTPUT_KEYS } from '#infra/index.ts';
import { FUNCTION_NAMES } from '#shared/runtime/env.ts';
import { deploy, flat, grantsOf, type Resource, resourcesOf } from './synthesized.ts';

const template = deploy().template();

test('functions run Node 24 on arm64, traced, with memory, timeout and a log group of their own', () => {
  const functions = resourcesOf(template, 'AWS::Lambda::Function');

  assert.equal(functions.length, FUNCTION_NAMES.length);
  for (const [id, { Properties }] of functions) {
    assert.equal(Properties.Runtime, 'nodejs24.x', id);
    assert.deepEqual(Properties.Architectures, ['arm64']);
    assert.ok(Properties.MemorySize >= 512 && Properties.Timeout >= 300 && Properties.Timeout <= 900);
    assert.equal(Properties.TracingConfig.Mode, 'Active');
    assert.ok(Properties.LoggingConfig.LogGroup);
    assert.ok(Properties.Layers);
    for (const variable of ['WORK_BUCKET', 'RUN_TABLE', 'RUN_STATUS_INDEX', 'DEPLOYMENT']) {
      assert.ok(Properties.Environment.Variables[variable], `${id} ${variable}`);
    }
  }
});

test('logs of the machine have every transition and no payload, and are kept for a stated time', () => {
  template.hasResourceProperties('AWS::StepFunctions::StateMachine', {
    LoggingConfiguration: { Level: 'ALL', IncludeExecutionData: false },
    TracingConfiguration: { Enabled: true },
    StateMachineType: 'STANDARD',
  });
  template.allResourcesProperties('AWS::Logs::LogGroup', { RetentionInDays: 90 });
});

test('the work bucket is private, encrypted, wants TLS and forgets runs after 90 days', () => {
  template.hasResourceProperties('AWS::S3::Bucket', {
    BucketEncryption: Match.anyValue(),
    PublicAccessBlockConfiguration: { BlockPublicAcls: true, RestrictPublicBuckets: true },
    LifecycleConfiguration: { Rules: Match.arrayWith([Match.objectLike({ ExpirationInDays: 90, Prefix: 'runs/' })]) },
  });
  template.hasResourceProperties('AWS::S3::BucketPolicy', {
    PolicyDocument: {
      Statement: Match.arrayWith([
        Match.objectLike({ Effect: 'Deny', Condition: { Bool: { 'aws:SecureTransport': 'false' } } }),
      ]),
    },
  });
});

test('the run table is retained, recoverable, encrypted and paid by request', () => {
  template.hasResource('AWS::DynamoDB::Table', {
    DeletionPolicy: 'Retain',
    Properties: {
      BillingMode: 'PAY_PER_REQUEST',
      SSESpecification: { SSEEnabled: true },
      GlobalSecondaryIndexes: [Match.objectLike({ IndexName: 'by-status' })],
      PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
    },
  });
});

test('one removal policy makes everything of a development deployment go with its stack', () => {
  const json = deploy({ removalPolicy: RemovalPolicy.DESTROY }).template().toJSON();

  for (const [id, resource] of Object.entries(json.Resources as Record<string, { DeletionPolicy?: string }>)) {
    assert.notEqual(resource.DeletionPolicy, 'Retain', id);
  }
});

test('stateful resources keep their logical ids, since a new id is a new table', () => {
  const ids = ['AWS::DynamoDB::Table', 'AWS::S3::Bucket', 'AWS::StepFunctions::StateMachine'].map((type) =>
    resourcesOf(template, type).map(([id]) => id),
  );

  assert.deepEqual(ids, [
    ['CleanupRunStoreRunTableB119DE86'],
    ['CleanupRunStoreWorkBucket6A7DD2A4'],
    ['CleanupRunStateMachineA6FE77EB'],
  ]);
});

test('physical names are left to CloudFormation', () => {
  const named = Object.values(template.toJSON().Resources as Record<string, Resource>).filter(
    ({ Type }) => Type !== 'AWS::Lambda::Permission',
  );
  const names = JSON.stringify(named).match(
    /"(RoleName|BucketName|TableName|FunctionName|StateMachineName|QueueName|AlarmName|LogGroupName|DashboardName)":/g,
  );

  assert.deepEqual([...new Set(names ?? [])], []);
});

test('executions of this machine that did not succeed are recorded, children of its maps are not', () => {
  template.hasResourceProperties('AWS::Events::Rule', {
    EventPattern: {
      source: ['aws.states'],
      'detail-type': ['Step Functions Execution Status Change'],
      detail: {
        status: ['ABORTED', 'TIMED_OUT', 'FAILED'],
        stateMachineArn: [{ Ref: Match.stringLikeRegexp('StateMachine') }],
      },
    },
    Targets: [
      Match.objectLike({
        DeadLetterConfig: Match.anyValue(),
        RetryPolicy: { MaximumRetryAttempts: 5, MaximumEventAgeInSeconds: 21600 },
      }),
    ],
  });
});

test('a daily task looks at the tables', () => {
  template.hasResourceProperties('AWS::Events::Rule', { ScheduleExpression: 'cron(17 6 * * ? *)' });
});

test('alarms say what to do, go to the topic, and watch failed, refused, stopped, failed deletes and dead letters', () => {
  const alarmed = deploy((stack) => ({ alarmTopic: new Topic(stack, 'Topic') })).template();
  const alarms = resourcesOf(alarmed, 'AWS::CloudWatch::Alarm');
  const metrics = alarms.map(([, { Properties }]) => Properties.MetricName ?? 'expression').sort();

  assert.deepEqual(metrics, [
    'ApproximateNumberOfMessagesVisible',
    'DeleteFailures',
    'ExecutionsFailed',
    'RunsAborted',
    'RunsFailed',
    'RunsRefused',
    'expression',
  ]);
  for (const [id, { Properties }] of alarms) {
    assert.match(Properties.AlarmDescription, /\w+\. .+\./, id);
    assert.equal(Properties.AlarmActions.length, 1, id);
  }
  assert.equal(resourcesOf(deploy({ alarmsEnabled: false }).template(), 'AWS::CloudWatch::Alarm').length, 0);
});

test('the dashboard has waste, runs, throughput and work, and can be left out', () => {
  const body = flat(resourcesOf(template, 'AWS::CloudWatch::Dashboard')[0]?.[1].Properties.DashboardBody);

  for (const metric of ['OrphanBytes', 'RunsRefused', 'DeletedFiles', 'ObjectsListed', 'Run recorded']) {
    assert.ok(body.includes(metric), metric);
  }
  assert.equal(resourcesOf(deploy({ dashboardEnabled: false }).template(), 'AWS::CloudWatch::Dashboard').length, 0);
});

test('the outputs are those of the class that names them', () => {
  const outputs = Object.keys(template.toJSON().Outputs);

  for (const key of OUTPUT_KEYS)
    assert.ok(
      outputs.some((id) => id.includes(key)),
      key,
    );
  assert.equal(outputs.length, OUTPUT_KEYS.length);
});

test('a team may bring its bucket, key, network, bus and tags', () => {
  const brought = deploy((stack: Stack) => {
    Tags.of(stack).add('cost-center', '42');
    return {
      workBucket: Bucket.fromBucketName(stack, 'Mine', 'my-work-bucket'),
      encryptionKey: new Key(stack, 'Key'),
      vpc: new Vpc(stack, 'Network', { maxAzs: 2 }),
      eventBus: new EventBus(stack, 'Bus'),
    };
  }).template();

  assert.equal(resourcesOf(brought, 'AWS::S3::Bucket').length, 0);
  for (const [id, { Properties }] of resourcesOf(brought, 'AWS::Lambda::Function')) {
    // The network brings a function of its own, which empties the default security group.
    if (!id.startsWith('CleanupFunctions')) continue;
    assert.ok(Properties.VpcConfig && Properties.KmsKeyArn, id);
    assert.equal(Properties.Environment.Variables.WORK_BUCKET, 'my-work-bucket');
  }
  const events = grantsOf(brought).filter(({ action }) => action === 'events:PutEvents');
  assert.ok(events.length > 0 && events.every(({ resource }) => resource.startsWith('<Bus')));
  brought.hasResourceProperties('AWS::DynamoDB::Table', {
    SSESpecification: { SSEType: 'KMS' },
    Tags: Match.arrayWith([{ Key: 'cost-center', Value: '42' }]),
  });
});

test('metrics have the dimensions service and Table only', () => {
  const { cleanup } = deploy({ serviceName: 'fleet-a' });

  assert.deepEqual(cleanup.metricOrphanBytes('db.t').dimensions, { service: 'fleet-a', Table: 'db.t' });
  assert.deepEqual(cleanup.metricDeletedFiles().dimensions, { service: 'fleet-a' });
  assert.equal(cleanup.metric('RunsFailed').namespace, 'IcebergOrphanCleanup');
});

test('the ResultWriter is there although the consumer’s app lacks the feature flag', () => {
  const { stack } = deploy();
  const definition = flat(
    resourcesOf(Template.fromStack(stack), 'AWS::StepFunctions::StateMachine')[0]?.[1].Properties.DefinitionString,
  );

  assert.equal(stack.node.tryGetContext('@aws-cdk/aws-stepfunctions:useDistributedMapResultWriterV2'), undefined);
  assert.equal(definition.match(/"ResultWriter"/g)?.length, 4);
});
