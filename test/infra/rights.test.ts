import assert from 'node:assert/strict';
import test from 'node:test';
import { Template } from 'aws-cdk-lib/assertions';
import { User } from 'aws-cdk-lib/aws-iam';
import { deploy, grantsOf, resourcesOf } from './synthesized.ts';

const grants = grantsOf(deploy().template());

test('only the delete role may delete, only files below the named prefix, and never a version', () => {
  const deletes = grants.filter(({ action }) => /^(?!logs:).*delete/i.test(action));

  assert.deepEqual(
    deletes.map(({ role, action, resource }) => [role.replace(/[0-9A-F]{8}$/, ''), action, resource]),
    [['CleanupDeleteRole', 's3:DeleteObject', 'arn:<AWS::Partition>:s3:::lake/warehouse/*']],
  );
});

test('only the delete function may assume the delete role', () => {
  const roles = resourcesOf(deploy().template(), 'AWS::IAM::Role').filter(([id]) => id.startsWith('CleanupDeleteRole'));
  const assumers = grants.filter(({ action }) => action === 'sts:AssumeRole');

  assert.equal(roles.length, 1);
  assert.match(JSON.stringify(roles[0]?.[1].Properties.AssumeRolePolicyDocument), /CleanupFunctionsDeleteRole/);
  assert.deepEqual(
    assumers.map(({ role }) => role.replace(/[0-9A-F]{8}$/, '')),
    ['CleanupFunctionsDeleteRole'],
  );
});

test('a deployment that only lists and judges has no right to delete at all', () => {
  const template = deploy({ dryRunOnly: true }).template();

  assert.deepEqual(
    grantsOf(template).filter(({ action }) => /^(?!logs:).*(delete|sts:)/i.test(action)),
    [],
  );
  assert.ok(!JSON.stringify(template.toJSON()).includes('DELETE_ROLE_ARN'));
});

test('files of tables are read below the named prefixes only, and nothing is written there', () => {
  const several = grantsOf(deploy({ tableLocations: ['s3://lake/a/', 's3a://lake/b', 's3://other'] }).template());
  const objects = several.filter(
    ({ action, resource }) => /^s3:(Get|Put|Delete)Object$/.test(action) && !resource.includes('runs/*'),
  );
  const ofTheMachine = objects.filter(({ role }) => role.startsWith('CleanupRunStateMachine'));
  const ofTables = objects.filter(({ role }) => !role.startsWith('CleanupRunStateMachine'));

  assert.deepEqual([...new Set(ofTables.map(({ resource }) => resource))].sort(), [
    'arn:<AWS::Partition>:s3:::lake/a/*',
    'arn:<AWS::Partition>:s3:::lake/b/*',
    'arn:<AWS::Partition>:s3:::other/*',
  ]);
  assert.ok(ofTables.every(({ action }) => action !== 's3:PutObject'));
  assert.ok(ofTheMachine.every(({ resource }) => resource.includes('WorkBucket')));
});

test('listing is narrowed to the prefixes, and absence still answers 404', () => {
  const list = grants.find(
    ({ role, action, resource }) =>
      role.includes('ListRole') && action === 's3:ListBucket' && resource.endsWith(':lake'),
  );

  assert.deepEqual(list?.condition, { StringLikeIfExists: { 's3:prefix': ['warehouse/*'] } });
});

test('600 tables do not make any policy longer', () => {
  const tables = Array.from({ length: 600 }, (_, i) => ({ table: `db.table_${i}` }));
  const size = (template: Template): number => JSON.stringify(resourcesOf(template, 'AWS::IAM::Policy')).length;

  assert.equal(size(deploy({ tables }).template()), size(deploy().template()));
});

test('OR-04: the machine may start its own map runs and describe, stop and redrive their executions', () => {
  const machine = grants.filter(({ role }) => role.startsWith('CleanupRunStateMachineRole'));
  const on = (action: string): string[] =>
    machine.filter((grant) => grant.action === action).map(({ resource }) => resource);

  assert.ok(on('states:StartExecution').some((resource) => /<CleanupRunStateMachine\w+>$/.test(resource)));
  for (const action of ['states:DescribeExecution', 'states:StopExecution']) {
    assert.ok(
      on(action).some((resource) => /execution:.*:\*$/.test(resource)),
      action,
    );
  }
  assert.ok(on('states:RedriveExecution').every((resource) => /execution:.*\/\w+:\*$/.test(resource)));
  assert.equal(on('states:RedriveExecution').length, 4);
});

test('grantStart starts and follows, grantRead reads records and artefacts', () => {
  const { stack, cleanup } = deploy();
  cleanup.grantStart(new User(stack, 'Operator'));
  cleanup.grantRead(new User(stack, 'Reader'));
  const template = Template.fromStack(stack);
  const actions = (user: string): string =>
    JSON.stringify(resourcesOf(template, 'AWS::IAM::Policy').filter(([id]) => id.startsWith(user)));

  assert.match(actions('Operator'), /states:StartExecution/);
  assert.match(actions('Reader'), /dynamodb:Query/);
  assert.match(actions('Reader'), /runs\/\*/);
  assert.doesNotMatch(actions('Operator') + actions('Reader'), /Delete|Put/);
});

test('the permissions boundary is on every role', () => {
  const template = deploy((stack) => ({
    permissionsBoundary: { managedPolicyArn: `arn:aws:iam::${stack.account}:policy/boundary` } as never,
  })).template();

  for (const [id, role] of resourcesOf(template, 'AWS::IAM::Role')) assert.ok(role.Properties.PermissionsBoundary, id);
});
