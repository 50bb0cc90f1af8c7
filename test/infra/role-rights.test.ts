/** Every right of every role that a deployment makes, on which resource: a wider one, or one more, fails here. */
import assert from 'node:assert/strict';
import test from 'node:test';
import type { Template } from 'aws-cdk-lib/assertions';
import { Key } from 'aws-cdk-lib/aws-kms';
import { Bucket, BucketEncryption } from 'aws-cdk-lib/aws-s3';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { blocksOf, readDocument } from '#test/support/readme.ts';
import { deploy, grantsOf, resourcesOf } from './synthesized.ts';

const template = deploy().template();

/** Logical ids without CDK's hash, and the machine's own name instead of the expression that cuts it out of its ARN. */
function short(text: string): string {
  return text
    .replace(/\{"Fn::Select":\[6,\{"Fn::Split":\[":",\{"Ref":"\w+"\}\]\}\]\}/g, 'MACHINE')
    .replace(/<CleanupRunStateMachine\w{8}\.Name>/g, 'MACHINE')
    .replace(/arn:<AWS::Partition>:/g, '')
    .replace(/<AWS::Region>:<AWS::AccountId>:/g, '')
    .replace(/<Cleanup(\w+?)[0-9A-F]{8}(\.Arn)?>/g, '<$1>')
    .replace(/^s3:::/, '');
}

function rightsOf(of: Template, role: string): string[] {
  const own = grantsOf(of).filter((grant) => new RegExp(`^Cleanup${role}[0-9A-F]{8}$`).test(grant.role));
  assert.ok(own.length > 0, `no role ${role}`);
  return [...new Set(own.map(({ action, resource }) => `${action} ${short(resource)}`))].sort();
}

const on = (resource: string, ...actions: string[]): string[] => actions.map((action) => `${action} ${resource}`);

const LOGS = (stage: string): string[] => on(`<Functions${stage}Logs>`, 'logs:CreateLogStream', 'logs:PutLogEvents');
const TRACING = on('*', 'xray:PutTelemetryRecords', 'xray:PutTraceSegments');
const ARTEFACTS = [
  ...on('<RunStoreWorkBucket>/runs/*', 's3:GetObject', 's3:PutObject'),
  ...on('<RunStoreWorkBucket>', 's3:ListBucket'),
];
const ITEMS = on('<RunStoreRunTable>', 'dynamodb:GetItem', 'dynamodb:PutItem');
const HISTORY = on('<RunStoreRunTable>', 'dynamodb:Query');
const TABLE_FILES = [...on('lake/warehouse/*', 's3:GetObject'), ...on('lake', 's3:ListBucket')];
const VERSIONS = on('lake', 's3:GetBucketVersioning', 's3:ListBucketVersions');
const EVENTS = on('events:event-bus/default', 'events:PutEvents');
const glue = (...actions: string[]): string[] =>
  ['catalog', 'database/*', 'table/*/*'].flatMap((rest) => on(`glue:${rest}`, ...actions));
const POINTER = glue('glue:GetTable');

const COMMON = [...TRACING, ...ITEMS];
const expected: Readonly<Record<string, readonly string[]>> = {
  Plan: [
    ...ARTEFACTS,
    ...TABLE_FILES,
    ...glue('glue:GetTable', 'glue:GetTables', 'glue:GetDatabases'),
    ...EVENTS,
    ...on('states:execution:MACHINE:*', 'states:DescribeExecution'),
  ],
  Scan: [...ARTEFACTS, ...TABLE_FILES, ...POINTER],
  Build: ARTEFACTS,
  List: [...ARTEFACTS, ...TABLE_FILES],
  Evaluate: [...ARTEFACTS, ...TABLE_FILES, ...POINTER],
  Recheck: [...ARTEFACTS, ...TABLE_FILES, ...POINTER],
  Delete: [...ARTEFACTS, ...TABLE_FILES, ...POINTER, ...VERSIONS, ...on('<DeleteRole>', 'sts:AssumeRole')],
  Record: [...ARTEFACTS, ...TABLE_FILES, ...VERSIONS, ...HISTORY, ...EVENTS],
  Watch: HISTORY,
};

for (const [stage, own] of Object.entries(expected)) {
  test(`the function ${stage} may do what its stage needs, where it needs it, and nothing else`, () => {
    assert.deepEqual(rightsOf(template, `Functions${stage}Role`), [...COMMON, ...LOGS(stage), ...own].sort());
  });
}

test('the delete role may delete and look below the named prefixes, and nothing else', () => {
  assert.deepEqual(
    rightsOf(template, 'DeleteRole'),
    [...TABLE_FILES, ...VERSIONS, ...on('lake/warehouse/*', 's3:DeleteObject')].sort(),
  );
});

const MAPS = ['ScanManifests', 'BuildFilters', 'ListStorage', 'DeleteOrphans'];
const STAGES = ['Plan', 'Scan', 'Build', 'List', 'Evaluate', 'Recheck', 'Delete', 'Record'];

test('OR-04: the machine may call its functions, start itself, follow its own children, and use the artefacts of runs', () => {
  assert.deepEqual(
    rightsOf(template, 'RunStateMachineRole'),
    [
      ...STAGES.flatMap((stage) => [
        ...on(`<Functions${stage}Function>`, 'lambda:InvokeFunction'),
        ...on(`<Functions${stage}Function>:*`, 'lambda:InvokeFunction'),
      ]),
      ...on(
        '<RunStoreWorkBucket>/runs/*',
        's3:GetObject',
        's3:PutObject',
        's3:AbortMultipartUpload',
        's3:ListMultipartUploadParts',
      ),
      ...on('<RunStateMachine>', 'states:StartExecution'),
      ...on('states:execution:MACHINE:*', 'states:DescribeExecution', 'states:StopExecution'),
      ...MAPS.flatMap((map) => on(`states:execution:MACHINE/${map}:*`, 'states:RedriveExecution')),
      // Log delivery and X-Ray know no resources.
      ...on('*', ...['Create', 'Get', 'Update', 'Delete'].map((verb) => `logs:${verb}LogDelivery`)),
      ...on('*', 'logs:ListLogDeliveries', 'logs:PutResourcePolicy', 'logs:DescribeResourcePolicies'),
      ...on('*', 'logs:DescribeLogGroups', 'xray:GetSamplingRules', 'xray:GetSamplingTargets'),
      ...TRACING,
    ].sort(),
  );
});

test('the schedules may start the machine and leave dead letters, and nothing else', () => {
  assert.deepEqual(
    rightsOf(template, 'SchedulesRole'),
    [
      ...on('<RunStateMachine>', 'states:StartExecution'),
      ...on('<SchedulesDeadLetters>', 'sqs:SendMessage', 'sqs:GetQueueAttributes', 'sqs:GetQueueUrl'),
    ].sort(),
  );
});

test('there are no other roles, no managed or inline policies, and every statement allows named actions', () => {
  const roles = resourcesOf(template, 'AWS::IAM::Role');
  const policies = resourcesOf(template, 'AWS::IAM::Policy');
  const known = [...STAGES.map((stage) => `Functions${stage}Role`), 'FunctionsWatchRole'];

  assert.deepEqual(
    roles.map(([id]) => id.replace(/^Cleanup|[0-9A-F]{8}$/g, '')).sort(),
    [...known, 'DeleteRole', 'RunStateMachineRole', 'SchedulesRole'].sort(),
  );
  for (const [id, { Properties }] of roles) {
    assert.deepEqual([Properties.ManagedPolicyArns, Properties.Policies], [undefined, undefined], id);
  }
  for (const [id, { Properties }] of policies) {
    assert.equal(Properties.Users ?? Properties.Groups, undefined, id);
    for (const statement of Properties.PolicyDocument.Statement) {
      assert.equal(statement.Effect, 'Allow', id);
      assert.equal(statement.NotAction ?? statement.NotResource, undefined, id);
      assert.doesNotMatch([statement.Action].flat().join(), /\*/, id);
    }
  }
});

test('each role is assumed by its own service only, the schedules’ by schedules of this account only', () => {
  const trust = (role: string): unknown =>
    resourcesOf(template, 'AWS::IAM::Role').find(([id]) => new RegExp(`^Cleanup${role}[0-9A-F]{8}$`).test(id))?.[1]
      .Properties.AssumeRolePolicyDocument.Statement;
  const service = (name: string): object => ({
    Action: 'sts:AssumeRole',
    Effect: 'Allow',
    Principal: { Service: `${name}.amazonaws.com` },
  });

  for (const stage of [...STAGES, 'Watch'])
    assert.deepEqual(trust(`Functions${stage}Role`), [service('lambda')], stage);
  assert.deepEqual(trust('SchedulesRole'), [
    { ...service('scheduler'), Condition: { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } } },
  ]);
});

test('events call only the record and the daily watch, each for its own rule', () => {
  const permissions = resourcesOf(template, 'AWS::Lambda::Permission').map(([, { Properties }]) => Properties);
  const called = permissions.map(({ FunctionName }) => short(`<${FunctionName['Fn::GetAtt'].join('.')}>`)).sort();

  assert.deepEqual(called, ['<FunctionsRecordFunction>', '<FunctionsWatchFunction>']);
  for (const { Principal, SourceArn } of permissions) {
    assert.equal(Principal, 'events.amazonaws.com');
    assert.match(SourceArn['Fn::GetAtt'][0], /^CleanupEvents/);
  }
});

const rolesWith = (of: Template, action: RegExp): string[] =>
  [
    ...new Set(
      grantsOf(of)
        .filter((grant) => action.test(grant.action))
        .map(({ role }) => role.replace(/^Cleanup|[0-9A-F]{8}$/g, '')),
    ),
  ].sort();

test('a REST catalog’s secret is read by those who ask the catalog, a table without catalog needs neither', () => {
  const rest = deploy((stack) => ({
    catalogType: 'REST',
    restCatalogUri: 'https://catalog.example.com',
    restCatalogSecret: new Secret(stack, 'Token'),
  })).template();
  const path = deploy({ catalogType: 'PATH' }).template();

  assert.deepEqual(
    rolesWith(rest, /^secretsmanager:GetSecretValue$/),
    ['Plan', 'Scan', 'Evaluate', 'Recheck', 'Delete'].map((stage) => `Functions${stage}Role`).sort(),
  );
  assert.deepEqual(rolesWith(rest, /^glue:/), []);
  assert.deepEqual(rolesWith(path, /^(glue|secretsmanager):/), []);
});

test('a Glue catalog of another account and region is the only one that is asked', () => {
  const other = deploy({ glueCatalogId: '123456789012', glueCatalogRegion: 'eu-west-1' }).template();
  const resources = grantsOf(other).filter(({ action }) => action.startsWith('glue:'));

  for (const { resource } of resources) assert.match(resource, /:glue:eu-west-1:123456789012:/);
});

test('whoever touches artefacts and records may use their key, the machine itself too: it reads items and writes results', () => {
  const everybody = [...STAGES, 'Watch'].map((stage) => `Functions${stage}Role`);
  const withKey = deploy((stack) => ({ encryptionKey: new Key(stack, 'Key') })).template();
  const bucketWithKey = deploy((stack) => ({
    workBucket: new Bucket(stack, 'Mine', { encryption: BucketEncryption.KMS }),
  })).template();

  for (const one of [withKey, bucketWithKey]) {
    for (const action of [/^kms:Decrypt$/, /^kms:GenerateDataKey\*$/]) {
      assert.deepEqual(rolesWith(one, action), [...everybody, 'RunStateMachineRole'].sort());
    }
  }
});

test('keys of table files decrypt for those who read table files, and encrypt for nobody', () => {
  const encrypted = deploy((stack) => ({ tableEncryptionKeys: [new Key(stack, 'Lake')] })).template();
  const readers = ['Plan', 'Scan', 'List', 'Evaluate', 'Recheck', 'Delete', 'Record'];

  assert.deepEqual(rolesWith(encrypted, /^kms:Decrypt$/), readers.map((stage) => `Functions${stage}Role`).sort());
  assert.deepEqual(rolesWith(encrypted, /^kms:(?!Decrypt)/), []);
});

test('the README’s policy for a bucket of another account allows what the roles may do with table files, and no more', () => {
  const text = blocksOf(readDocument('README.md')).find((block) => block.text.includes('IcesweepReads'))?.text ?? '[]';
  const statements = JSON.parse(text) as {
    Principal: { AWS: string[] };
    Action: string | string[];
    Resource: string;
  }[];
  const toldFor = (principal: string): string[] => {
    const own = statements.filter(({ Principal }) => Principal.AWS.includes(principal));
    const rights = own.flatMap(({ Action, Resource }) => on(Resource.replace('arn:aws:s3:::', ''), ...[Action].flat()));
    return [...new Set(rights)].sort();
  };

  assert.deepEqual(toldFor('DELETE_ROLE'), rightsOf(template, 'DeleteRole'));
  assert.deepEqual(toldFor('READER_ROLES'), [...TABLE_FILES, ...VERSIONS].sort());
});
