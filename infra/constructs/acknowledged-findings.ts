import { Aspects, type IAspect, Stack, Validations } from 'aws-cdk-lib';
import { CfnManagedPolicy, CfnPolicy } from 'aws-cdk-lib/aws-iam';
import { CfnBucket } from 'aws-cdk-lib/aws-s3';
import { CfnQueue } from 'aws-cdk-lib/aws-sqs';
import type { IConstruct } from 'constructs';

/** A wildcard that is meant to be so, by the form of its resource or action. What no line here has stays a finding. */
const WILDCARDS: readonly { readonly form: RegExp; readonly reason: string }[] = [
  { form: /^Resource::\*$/, reason: 'X-Ray, log delivery and network interfaces know no resources.' },
  { form: /^Resource::.*\/runs\/\*$/, reason: 'Artefacts of runs lie below runs/ under names known only at run time.' },
  {
    form: /^Resource::arn:<AWS::Partition>:s3:::[^<]+\*$/,
    reason: 'Files of tables lie below the named prefixes under names known only at run time.',
  },
  {
    form: /^Resource::arn:<AWS::Partition>:glue:.*:(database\/\*|table\/\*\/\*)$/,
    reason: 'A run may be started for any table, and its location is compared with those of all others.',
  },
  {
    form: /^Resource::arn:<AWS::Partition>:states:.*:execution:.*:\*$/,
    reason: 'Executions of this state machine have names known only at run time.',
  },
  { form: /^Resource::<[^>]*Functions[^>]*\.Arn>:\*$/, reason: 'Versions and aliases of our own functions.' },
  {
    form: /^Action::kms:(GenerateDataKey|ReEncrypt)\*$/,
    reason: 'Variants of one action on the key that was brought along.',
  },
];

interface Statement {
  readonly Action?: unknown;
  readonly Resource?: unknown;
}

/** The spelling under which cdk-nag reports a value that holds references. */
function spelled(value: unknown): string {
  if (typeof value === 'string') return value;
  const [[name, argument] = ['', undefined]] = Object.entries(value as object);
  if (name === 'Ref') return `<${argument}>`;
  if (name === 'Fn::GetAtt') return `<${(argument as string[]).join('.')}>`;
  if (name === 'Fn::Join') {
    const [separator, parts] = argument as [string, unknown[]];
    return parts.map(spelled).join(separator);
  }
  return JSON.stringify(value);
}

const listed = (value: unknown): unknown[] => (value === undefined ? [] : Array.isArray(value) ? value : [value]);

function wildcardsOf(statement: Statement): string[] {
  return [
    ...listed(statement.Action).map((action) => `Action::${spelled(action)}`),
    ...listed(statement.Resource).map((resource) => `Resource::${spelled(resource)}`),
  ].filter((finding) => finding.includes('*'));
}

class KnownFindings implements IAspect {
  visit(node: IConstruct): void {
    if (node instanceof CfnPolicy || node instanceof CfnManagedPolicy) this.#policy(node);
    if (node instanceof CfnBucket && node.loggingConfiguration === undefined) {
      Validations.of(node).acknowledge({
        id: 'AwsSolutions-S1',
        reason: 'Artefacts are written by our own functions only; accessLogsBucket turns access logs on.',
      });
    }
    if (node instanceof CfnQueue) {
      Validations.of(node).acknowledge({ id: 'AwsSolutions-SQS3', reason: 'It is the dead-letter queue.' });
    }
  }

  #policy(policy: CfnPolicy | CfnManagedPolicy): void {
    const document = Stack.of(policy).resolve(policy.policyDocument) as { readonly Statement: readonly Statement[] };
    for (const finding of new Set(document.Statement.flatMap(wildcardsOf))) {
      const known = WILDCARDS.find(({ form }) => form.test(finding));
      if (known === undefined) continue;
      Validations.of(policy).acknowledge({ id: `AwsSolutions-IAM5[${finding}]`, reason: known.reason });
    }
  }
}

/** Tells cdk-nag, where an app uses it, which findings below the construct are meant to be so, and why. */
export function acknowledgeFindings(scope: IConstruct): void {
  Aspects.of(scope).add(new KnownFindings());
}
