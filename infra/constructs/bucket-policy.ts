/** What the policy of a bucket in another account must say: there, a role's own rights are not enough. */
import { ArnPrincipal, type IRole, type PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { FunctionName } from '#shared/runtime/env.ts';
import { READERS, VERSION_READERS, versionStatements } from './stage-rights.ts';
import { deleteStatements, listStatements, readStatements, type TableLocation } from './table-location.ts';

export interface BucketPolicyRoles {
  readonly functions: Readonly<Record<FunctionName, IRole>>;
  readonly deleteRole: IRole | undefined;
}

function allow(statements: readonly PolicyStatement[], roles: readonly IRole[]): PolicyStatement[] {
  const principals = roles.map((role) => new ArnPrincipal(role.roleArn));
  return statements.map((statement) => statement.copy({ sid: `Icesweep${statement.sid}`, principals }));
}

/**
 * The statements that let exactly the fleet's own rights through: each action for the roles that have it, on the prefixes of
 * `tableLocations` in this bucket. Throws an Error for a bucket that no location names.
 */
export function bucketPolicyStatements(
  bucket: string,
  locations: readonly TableLocation[],
  { functions, deleteRole }: BucketPolicyRoles,
): PolicyStatement[] {
  const own = locations.filter((location) => location.bucket === bucket);
  if (own.length === 0) throw new Error(`"${bucket}" is the bucket of none of the tableLocations`);
  const deleters = deleteRole === undefined ? [] : [deleteRole];
  const readers = READERS.map((name) => functions[name]);
  return [
    ...allow(readStatements(own), readers),
    ...allow(listStatements(own), [...readers, ...deleters]),
    ...allow(versionStatements(own), [...VERSION_READERS.map((name) => functions[name]), ...deleters]),
    ...(deleters.length === 0 ? [] : allow(deleteStatements(own), deleters)),
  ];
}
