import { ArnFormat, Aws, Stack } from 'aws-cdk-lib';
import { type IRole, Policy, PolicyStatement, Role } from 'aws-cdk-lib/aws-iam';
import type { StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import type { Construct } from 'constructs';
import type { FunctionName } from '#shared/runtime/env.ts';
import { CatalogType, type OrphanCleanupProps } from './orphan-cleanup-props.ts';
import {
  deleteStatements,
  listStatements,
  readStatements,
  type TableLocation,
  versioningStatements,
} from './table-location.ts';

/** Functions that open files of tables. Records are made from what the others left, except for an aborted delete. */
export const READERS: readonly FunctionName[] = ['plan', 'scan', 'list', 'evaluate', 'recheck', 'delete', 'record'];
/** Functions that ask for versions and markers. */
export const VERSION_READERS: readonly FunctionName[] = ['delete', 'record'];
/** Functions that ask the catalog where the table is now. */
const ASK_CATALOG: readonly FunctionName[] = ['plan', 'scan', 'evaluate', 'recheck', 'delete'];

type Roles = Readonly<Record<FunctionName, Role>>;

/** Lets each function do what its stage does with tables and catalog, and nothing else. */
export function grantTableRights(roles: Roles, locations: readonly TableLocation[], props: OrphanCleanupProps): void {
  for (const name of READERS) {
    for (const statement of [...readStatements(locations), ...listStatements(locations)])
      roles[name].addToPolicy(statement);
    for (const key of props.tableEncryptionKeys ?? []) key.grantDecrypt(roles[name]);
  }
  for (const name of VERSION_READERS) {
    for (const statement of versionStatements(locations)) roles[name].addToPolicy(statement);
  }
  for (const name of ASK_CATALOG) grantCatalog(roles[name], name, props);
}

/** What versions and markers a bucket holds: after an abort the markers of a batch are found by listing them. */
export function versionStatements(locations: readonly TableLocation[]): PolicyStatement[] {
  return [...versioningStatements(locations), ...listStatements(locations, 's3:ListBucketVersions', 'ListVersions')];
}

function grantCatalog(role: Role, name: FunctionName, props: OrphanCleanupProps): void {
  const type = props.catalogType ?? CatalogType.GLUE;
  if (type === CatalogType.REST) props.restCatalogSecret?.grantRead(role);
  if (type !== CatalogType.GLUE) return;
  const region = props.glueCatalogRegion ?? Aws.REGION;
  const arn = (rest: string): string =>
    `arn:${Aws.PARTITION}:glue:${region}:${props.glueCatalogId ?? Aws.ACCOUNT_ID}:${rest}`;
  role.addToPolicy(
    new PolicyStatement({
      sid: 'ReadCatalog',
      // Only the plan compares the table's location with those of all others.
      actions: ['glue:GetTable', ...(name === 'plan' ? ['glue:GetTables', 'glue:GetDatabases'] : [])],
      resources: [arn('catalog'), arn('database/*'), arn('table/*/*')],
    }),
  );
}

/**
 * The role that may delete. Only the delete function may assume it, and it does so once per invocation under a session
 * policy that names the plan's roots. Undefined for a deployment that only lists and judges.
 */
export function createDeleteRole(
  scope: Construct,
  deleter: IRole,
  locations: readonly TableLocation[],
  props: OrphanCleanupProps,
): Role | undefined {
  if (props.dryRunOnly === true) return undefined;
  const role = new Role(scope, 'DeleteRole', {
    assumedBy: deleter,
    description: 'The only role of icesweep that may delete files of tables; assumed by its delete function.',
  });
  const statements = [...deleteStatements(locations), ...listStatements(locations), ...versionStatements(locations)];
  for (const statement of statements) role.addToPolicy(statement);
  new Policy(scope, 'AssumeDeleteRole', {
    roles: [deleter],
    statements: [
      new PolicyStatement({ sid: 'AssumeDeleteRole', actions: ['sts:AssumeRole'], resources: [role.roleArn] }),
    ],
  });
  return role;
}

/** Lets the plan find out whether the holder of a lease still runs. A policy of its own: the machine names the function. */
export function grantDescribeExecutions(scope: Construct, role: IRole, machine: StateMachine): void {
  const resource = Stack.of(scope).formatArn({
    service: 'states',
    resource: 'execution',
    resourceName: `${machine.stateMachineName}:*`,
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  });
  new Policy(scope, 'DescribeExecutions', {
    roles: [role],
    statements: [
      new PolicyStatement({
        sid: 'DescribeExecutions',
        actions: ['states:DescribeExecution'],
        resources: [resource],
      }),
    ],
  });
}
