/** What on-call and a security review read off a template: alarms, rules, schedules, encryption, environment, limits. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { Duration, RemovalPolicy, Tags } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import { Key } from 'aws-cdk-lib/aws-kms';
import { ScheduleExpression } from 'aws-cdk-lib/aws-scheduler';
import type { OrphanCleanupProps } from '#infra/index.ts';
import { parseDeployment } from '#shared/run/deployment.ts';
import { resolveInput } from '#shared/run/input.ts';
import { deploy, flat, nestedTemplates, type Resource, resourcesOf } from './synthesized.ts';

const template = deploy().template();
const NIGHTLY = ScheduleExpression.cron({ hour: '3', minute: '0' });

function only(of: Template, type: string, id: RegExp): Resource {
  const found = resourcesOf(of, type).filter(([name]) => id.test(name));
  assert.equal(found.length, 1, `${found.length} of ${type} ${id}`);
  return found[0]?.[1] as Resource;
}

function ofTables(props: Partial<OrphanCleanupProps>, type: string): Resource[] {
  const tables = [{ table: 'db.orders', schedule: NIGHTLY, dryRun: false }];
  return nestedTemplates(deploy({ tables, ...props }).stack).flatMap((one) =>
    resourcesOf(one, type).map(([, resource]) => resource),
  );
}

const ONE_RUN = { Threshold: 1, Statistic: 'Sum', Period: 300, TreatMissingData: 'notBreaching' };
const fleetMetric = (MetricName: string): object => ({
  Namespace: 'IcebergOrphanCleanup',
  Dimensions: [{ Name: 'service', Value: 'icesweep' }],
  MetricName,
  ...ONE_RUN,
});

for (const [alarm, expected] of Object.entries({
  RunsFailed: fleetMetric('RunsFailed'),
  RunsRefused: fleetMetric('RunsRefused'),
  RunsStopped: fleetMetric('RunsAborted'),
  DeleteFailures: fleetMetric('DeleteFailures'),
  ExecutionsFailed: { Namespace: 'AWS/States', MetricName: 'ExecutionsFailed', ...ONE_RUN },
  DeadLetters: {
    Namespace: 'AWS/SQS',
    MetricName: 'ApproximateNumberOfMessagesVisible',
    ...ONE_RUN,
    Statistic: 'Maximum',
  },
  LambdaThrottles: { Threshold: 500, TreatMissingData: 'notBreaching', Metrics: Match.anyValue() },
})) {
  test(`the alarm ${alarm} goes off at its first cause and not without one`, () => {
    assert.match(only(template, 'AWS::CloudWatch::Alarm', new RegExp(`Alarms${alarm}[0-9A-F]{8}$`)).Type, /Alarm/);
    template.hasResourceProperties('AWS::CloudWatch::Alarm', {
      ComparisonOperator: 'GreaterThanOrEqualToThreshold',
      EvaluationPeriods: 1,
      ...expected,
    });
  });
}

test('a table without a successful cleanup for so many days alarms, and so does silence of the daily task', () => {
  const [byDefault] = ofTables({}, 'AWS::CloudWatch::Alarm');
  const [own] = ofTables({ daysWithoutSuccess: 3, serviceName: 'fleet-a' }, 'AWS::CloudWatch::Alarm');

  assert.equal(byDefault?.Properties.Threshold, 8);
  assert.equal(own?.Properties.Threshold, 3);
  assert.equal(own?.Properties.ComparisonOperator, 'GreaterThanOrEqualToThreshold');
  assert.equal(own?.Properties.TreatMissingData, 'breaching');
  assert.deepEqual(own?.Properties.Dimensions, [
    { Name: 'Table', Value: 'db.orders' },
    { Name: 'service', Value: 'fleet-a' },
  ]);
  assert.match(own?.Properties.AlarmDescription, /db\.orders had no successful cleanup for 3 days/);
});

test('the rules call the record and the watch, enabled, with a dead-letter queue and few retries', () => {
  for (const [rule, target] of [
    ['ExecutionStopped', 'FunctionsRecordFunction'],
    ['DailyWatch', 'FunctionsWatchFunction'],
  ] as const) {
    const { Properties } = only(template, 'AWS::Events::Rule', new RegExp(rule));
    assert.equal(Properties.State, 'ENABLED', rule);
    assert.equal(Properties.Targets.length, 1, rule);
    const [only1] = Properties.Targets;
    assert.match(flat(only1.Arn), new RegExp(target));
    assert.match(flat(only1.DeadLetterConfig.Arn), /DeadLetters/);
    assert.deepEqual(only1.RetryPolicy, { MaximumRetryAttempts: 5, MaximumEventAgeInSeconds: 21_600 });
    assert.equal(only1.Input ?? only1.InputTransformer ?? only1.InputPath, undefined);
  }
});

test('schedules can be switched off together, and start on the minute where no window is wanted', () => {
  const [off] = ofTables({ schedulesEnabled: false }, 'AWS::Scheduler::Schedule');
  const [sharp] = ofTables({ scheduleWindow: Duration.minutes(0) }, 'AWS::Scheduler::Schedule');

  assert.equal(off?.Properties.State, 'DISABLED');
  assert.deepEqual(sharp?.Properties.FlexibleTimeWindow, { Mode: 'OFF' });
});

test('the dead-letter queue is encrypted, wants TLS and keeps its messages for two weeks', () => {
  template.hasResourceProperties('AWS::SQS::Queue', { SqsManagedSseEnabled: true, MessageRetentionPeriod: 1_209_600 });
  template.hasResourceProperties('AWS::SQS::QueuePolicy', {
    PolicyDocument: {
      Statement: Match.arrayWith([
        Match.objectLike({ Effect: 'Deny', Condition: { Bool: { 'aws:SecureTransport': 'false' } } }),
      ]),
    },
  });
});

test('a key of the team encrypts bucket, table, logs and environments', () => {
  const encrypted = deploy((stack) => ({ encryptionKey: new Key(stack, 'Key') })).template();
  const key = { 'Fn::GetAtt': [Match.stringLikeRegexp('^Key'), 'Arn'] };

  encrypted.hasResourceProperties('AWS::S3::Bucket', {
    BucketEncryption: {
      ServerSideEncryptionConfiguration: [
        {
          BucketKeyEnabled: true,
          ServerSideEncryptionByDefault: { SSEAlgorithm: 'aws:kms', KMSMasterKeyID: key },
        },
      ],
    },
  });
  encrypted.hasResourceProperties('AWS::DynamoDB::Table', { SSESpecification: { KMSMasterKeyId: key } });
  encrypted.allResourcesProperties('AWS::Logs::LogGroup', { KmsKeyId: key });
  encrypted.allResourcesProperties('AWS::Lambda::Function', { KmsKeyArn: key });
  encrypted.hasResourceProperties('AWS::KMS::Key', {
    KeyPolicy: {
      Statement: Match.arrayWith([
        Match.objectLike({ Principal: { Service: { 'Fn::Join': ['', Match.arrayWith(['logs.'])] } } }),
      ]),
    },
  });
});

test('without a key of the team, bucket and table are encrypted with keys of AWS', () => {
  template.hasResourceProperties('AWS::S3::Bucket', {
    BucketEncryption: {
      ServerSideEncryptionConfiguration: [{ ServerSideEncryptionByDefault: { SSEAlgorithm: 'AES256' } }],
    },
    PublicAccessBlockConfiguration: {
      BlockPublicAcls: true,
      BlockPublicPolicy: true,
      IgnorePublicAcls: true,
      RestrictPublicBuckets: true,
    },
  });
});

test('plan and record know the bus, only the delete function knows the delete role', () => {
  const variables = Object.fromEntries(
    resourcesOf(template, 'AWS::Lambda::Function').map(([id, { Properties }]) => [
      id.replace(/^CleanupFunctions(\w+)Function\w{8}$/, '$1'),
      Object.keys(Properties.Environment.Variables),
    ]),
  );
  const having = (name: string): string[] => Object.keys(variables).filter((stage) => variables[stage]?.includes(name));

  assert.deepEqual(having('EVENT_BUS').sort(), ['Plan', 'Record']);
  assert.deepEqual(having('DELETE_ROLE_ARN'), ['Delete']);
  assert.equal(having('POWERTOOLS_SERVICE_NAME').length, 9);
});

const MEGABYTES_AND_SECONDS: Readonly<Record<string, readonly [number, number]>> = {
  Plan: [3008, 900],
  Scan: [2048, 900],
  Build: [2048, 900],
  List: [1769, 900],
  Evaluate: [3008, 900],
  Recheck: [2048, 900],
  Delete: [1024, 300],
  Record: [2048, 300],
  Watch: [512, 300],
};

test('memory and time of each function are those that its largest piece of work was measured with', () => {
  for (const [stage, [memory, timeout]] of Object.entries(MEGABYTES_AND_SECONDS)) {
    const { Properties } = only(template, 'AWS::Lambda::Function', new RegExp(`Functions${stage}Function`));
    assert.deepEqual([Properties.MemorySize, Properties.Timeout], [memory, timeout], stage);
  }
});

test('an execution ends by itself, after three days or what the team says', () => {
  const timeoutOf = (of: Template): number =>
    JSON.parse(flat(only(of, 'AWS::StepFunctions::StateMachine', /./).Properties.DefinitionString)).TimeoutSeconds;

  assert.equal(timeoutOf(template), 3 * 86_400);
  assert.equal(timeoutOf(deploy({ executionTimeout: Duration.hours(5) }).template()), 5 * 3600);
});

test('OR-12: no level of the settings lets a map run without a limit', () => {
  for (const setting of ['max_concurrent_scans', 'max_concurrent_lists', 'max_concurrent_deletes']) {
    const refused = { name: 'InvalidInputError' };
    assert.throws(() => resolveInput({ table: 'db.t', [setting]: 0 }, parseDeployment({ local: true })), refused);
    assert.throws(() => parseDeployment({ defaults: { [setting]: 0 } }), { name: 'MisconfiguredError' });
    assert.throws(() => parseDeployment({ ceilings: { [setting]: 0 } }), { name: 'MisconfiguredError' });
  }
});

test('by default records stay, artefacts and logs go with the stack; one policy keeps everything', () => {
  const policies = (of: Template, type: string): string[] => [
    ...new Set(resourcesOf(of, type).map(([, { DeletionPolicy }]) => DeletionPolicy ?? 'none')),
  ];
  const retained = deploy({ removalPolicy: RemovalPolicy.RETAIN }).template();

  assert.deepEqual(policies(template, 'AWS::DynamoDB::Table'), ['Retain']);
  assert.deepEqual(policies(template, 'AWS::S3::Bucket'), ['Delete']);
  assert.deepEqual(policies(template, 'AWS::Logs::LogGroup'), ['Delete']);
  for (const type of ['AWS::DynamoDB::Table', 'AWS::S3::Bucket', 'AWS::Logs::LogGroup'])
    assert.deepEqual(policies(retained, type), ['Retain'], type);
});

test('tags of the stack are on everything that costs something', () => {
  const { stack } = deploy((own) => {
    Tags.of(own).add('cost-center', '42');
    return { tables: [{ table: 'db.orders', schedule: NIGHTLY, dryRun: false }] };
  });
  const tagged = Template.fromStack(stack);

  for (const type of [
    'AWS::Lambda::Function',
    'AWS::StepFunctions::StateMachine',
    'AWS::DynamoDB::Table',
    'AWS::S3::Bucket',
    'AWS::Logs::LogGroup',
    'AWS::SQS::Queue',
    'AWS::IAM::Role',
    'AWS::Scheduler::ScheduleGroup',
  ]) {
    tagged.allResourcesProperties(type, { Tags: Match.arrayWith([{ Key: 'cost-center', Value: '42' }]) });
  }
});

test('so many locations that no policy can name them are refused at synthesis, with what to do', () => {
  const tableLocations = Array.from({ length: 200 }, (_, i) => `s3://lake/warehouse/database/table_${i}/`);

  assert.throws(() => deploy({ tableLocations }), /tableLocations .* name prefixes that several tables share/);
  assert.doesNotThrow(() => deploy({ tableLocations: tableLocations.slice(0, 50) }).template());
});
