import assert from 'node:assert/strict';
import test from 'node:test';
import { Stack } from 'aws-cdk-lib';
import type { Template } from 'aws-cdk-lib/assertions';
import { deploy, flat, grantsOf } from './synthesized.ts';

const LOCATIONS = ['s3://lake/warehouse/', 's3://lake/more/', 's3://own/t/'];

interface Statement {
  readonly Sid: string;
  readonly Effect: string;
  readonly Principal: { readonly AWS: string | string[] };
  readonly Action: string | string[];
  readonly Resource: string | string[];
  readonly Condition?: unknown;
}

/** The statements among the outputs, with references by name. */
function printed(template: Template): Statement[] {
  const outputs = Object.entries(template.toJSON().Outputs as Record<string, { Value: unknown; Description: string }>);
  const policies = outputs.filter(([id]) => id.includes('BucketPolicy'));
  for (const [, { Description }] of policies) assert.match(Description, /policy of the bucket lake\b/);
  return policies.map(([, { Value }]) => JSON.parse(flat(Value)) as Statement);
}

/** `role action resource condition` for each. */
function rightsOf(statements: readonly Statement[]): string[] {
  return statements.flatMap(({ Principal, Action, Resource, Condition }) =>
    [Principal.AWS].flat().flatMap((role) =>
      [Action].flat().flatMap((action) =>
        [Resource].flat().map((resource) => {
          const name = role.replace(/^<|\.Arn>$/g, '');
          return [name, action, resource, JSON.stringify(Condition ?? null)].join(' ');
        }),
      ),
    ),
  );
}

for (const dryRunOnly of [false, true]) {
  test(`the policy printed for a bucket of another account is what the roles may do there, dryRunOnly ${dryRunOnly}`, () => {
    const props = { tableLocations: LOCATIONS, bucketsOfOtherAccounts: ['lake'], dryRunOnly };
    const template = deploy(props).template();
    const statements = printed(template);
    const granted = grantsOf(template)
      .filter(({ resource }) => /:s3:::lake(\/|$)/.test(resource))
      .map(({ role, action, resource, condition }) =>
        [role, action, resource, JSON.stringify(condition ?? null)].join(' '),
      );

    assert.deepEqual([...new Set(rightsOf(statements))].sort(), [...new Set(granted)].sort());
    assert.equal(new Set(statements.map(({ Sid }) => Sid)).size, statements.length);
    for (const { Effect, Sid } of statements) assert.ok(Effect === 'Allow' && /^Icesweep[A-Za-z0-9]+$/.test(Sid));
    assert.equal(
      rightsOf(statements).some((right) => right.includes('s3:DeleteObject')),
      !dryRunOnly,
    );
  });
}

test('with names as long as IAM lets them be each printed statement is one that outputs can hold', () => {
  const props = { tableLocations: ['s3://lake/warehouse/'], bucketsOfOtherAccounts: ['lake'] };
  const longest = `arn:aws-us-gov:iam::123456789012:role/${'r'.repeat(64)}`;
  const outputs = Object.entries(deploy(props).template().toJSON().Outputs as Record<string, { Value: unknown }>);
  const policies = outputs.filter(([id]) => id.includes('BucketPolicy'));

  assert.equal(policies.length, 5);
  for (const [id, { Value }] of policies) {
    const text = flat(Value)
      .replace(/<[^>]+\.Arn>/g, longest)
      .replaceAll('<AWS::Partition>', 'aws-us-gov');
    assert.ok(text.length <= 1100, `${id}: ${text.length}`);
  }
});

test('the statements can be had from the construct, for a bucket of tableLocations only', () => {
  const { cleanup, stack, template } = deploy({ tableLocations: LOCATIONS });
  const [first] = cleanup.bucketPolicyStatements('own');

  assert.equal(flat(Stack.of(stack).resolve(first?.toStatementJson().Resource)), 'arn:<AWS::Partition>:s3:::own/t/*');
  assert.throws(() => cleanup.bucketPolicyStatements('other'), /"other" is the bucket of none of the tableLocations/);
  assert.throws(
    () => deploy({ tableLocations: LOCATIONS, bucketsOfOtherAccounts: ['lakes'] }),
    /"lakes" is the bucket/,
  );
  assert.deepEqual(printed(template()), []);
});
