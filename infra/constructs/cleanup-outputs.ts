import { Aws, CfnOutput, Stack } from 'aws-cdk-lib';
import type { Dashboard } from 'aws-cdk-lib/aws-cloudwatch';
import type { PolicyStatement, Role } from 'aws-cdk-lib/aws-iam';
import type { IStateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { Construct } from 'constructs';
import type { RunStore } from './run-store.ts';

/** Names of the stack's outputs, below the construct's own id; for `bucketsOfOtherAccounts` there are `BucketPolicy<n><sid>` too. */
export const OUTPUT_KEYS = [
  'StateMachineArn',
  'StateMachineConsole',
  'DashboardConsole',
  'WorkBucketName',
  'RunTableName',
  'ReaderRoleArns',
  'DeleteRoleArn',
] as const;

export interface CleanupOutputsProps {
  readonly stateMachine: IStateMachine;
  readonly store: RunStore;
  readonly dashboard?: Dashboard;
  readonly deleteRole?: Role;
  readonly readerRoles: readonly Role[];
  readonly bucketPolicies: readonly { readonly bucket: string; readonly statements: readonly PolicyStatement[] }[];
}

/** Every output of a deployment, in one place. */
export class CleanupOutputs extends Construct {
  constructor(scope: Construct, id: string, props: CleanupOutputsProps) {
    super(scope, id);
    const { stateMachine, store, dashboard, deleteRole } = props;
    const console = `https://${Aws.REGION}.console.aws.amazon.com`;
    this.#say('StateMachineArn', stateMachine.stateMachineArn, 'For `icesweep start --state-machine`.');
    this.#say(
      'StateMachineConsole',
      `${console}/states/home?region=${Aws.REGION}#/statemachines/view/${stateMachine.stateMachineArn}`,
      'Start runs and watch them here.',
    );
    if (dashboard !== undefined) {
      this.#say(
        'DashboardConsole',
        `${console}/cloudwatch/home?region=${Aws.REGION}#dashboards/dashboard/${dashboard.dashboardName}`,
        'Waste, last runs, throughput.',
      );
    }
    this.#say('WorkBucketName', store.workBucket.bucketName, 'Artefacts and reports of runs.');
    this.#say('RunTableName', store.runTable.tableName, 'Records of runs, for `icesweep runs --run-table`.');
    this.#say(
      'ReaderRoleArns',
      props.readerRoles.map((role) => role.roleArn).join(','),
      'Principals of the bucket policy of a bucket in another account.',
    );
    if (deleteRole !== undefined) {
      this.#say('DeleteRoleArn', deleteRole.roleArn, 'The only principal that deletes files of tables.');
    }
    for (const [index, { bucket, statements }] of props.bucketPolicies.entries()) {
      // One output each: a whole policy with the ARNs of all roles would be longer than outputs are shown.
      for (const statement of statements) {
        new CfnOutput(this, `BucketPolicy${index}${statement.sid}`, {
          value: Stack.of(this).toJsonString(statement.toStatementJson()),
          description: `A statement to add to the policy of the bucket ${bucket}.`,
        });
      }
    }
  }

  #say(key: (typeof OUTPUT_KEYS)[number], value: string, description: string): void {
    new CfnOutput(this, key, { value, description });
  }
}
