/** The right to delete, narrowed to one plan: the delete role, assumed under a session policy that names the plan's roots. */
import { AssumeRoleCommand, STSClient } from '@aws-sdk/client-sts';
import { MisconfiguredError } from '#shared/errors.ts';
import { createS3Client } from '#shared/storage/s3-client.ts';
import { S3Store } from '#shared/storage/s3-store.ts';

export interface Prefix {
  readonly bucket: string;
  readonly prefix: string;
}

/** STS takes no longer policy. */
const POLICY_LIMIT = 2048;
/** A batch takes minutes; a role that was assumed by a role lives an hour at most. */
const SESSION_SECONDS = 3600;

/** `*`, `?` and `$` in a key mean themselves, never a pattern. */
function literal(text: string): string {
  return text.replace(/[*?$]/g, (sign) => `\${${sign}}`);
}

function commonPrefix(prefixes: readonly string[]): string {
  const [first = '', ...rest] = prefixes;
  let end = first.length;
  for (const prefix of rest) while (!prefix.startsWith(first.slice(0, end))) end -= 1;
  return first.slice(0, first.lastIndexOf('/', end - 1) + 1);
}

function policyText(partition: string, prefixes: readonly Prefix[]): string {
  const arn = (rest: string): string => `arn:${partition}:s3:::${rest}`;
  const statement = (Action: string[], Resource: string[]) => ({ Effect: 'Allow', Action, Resource });
  const objects = prefixes.map(({ bucket, prefix }) => arn(`${bucket}/${literal(prefix)}*`));
  const buckets = [...new Set(prefixes.map(({ bucket }) => arn(bucket)))];
  return JSON.stringify({
    Version: '2012-10-17',
    Statement: [
      statement(['s3:DeleteObject', 's3:GetObject'], objects),
      statement(['s3:GetBucketVersioning', 's3:ListBucket', 's3:ListBucketVersions'], buckets),
    ],
  });
}

/**
 * The session policy for these prefixes. Where they are too many for STS, each bucket gets the longest folder that holds
 * all of its own: still inside the role's rights, and the batches check every key against the roots themselves.
 */
export function sessionPolicy(roleArn: string, prefixes: readonly Prefix[]): string {
  if (prefixes.length === 0) throw new MisconfiguredError('A delete session needs at least one prefix.');
  const partition = roleArn.split(':')[1] ?? 'aws';
  const exact = policyText(partition, prefixes);
  if (exact.length <= POLICY_LIMIT) return exact;
  const wider = [...Map.groupBy(prefixes, ({ bucket }) => bucket)].map(([bucket, own]) => ({
    bucket,
    prefix: commonPrefix(own.map(({ prefix }) => prefix)),
  }));
  return policyText(partition, wider);
}

/** A store that acts as the delete role under the session policy. Assumes the role once, at once. */
export async function openDeletingStore(
  roleArn: string,
  region: string,
  prefixes: readonly Prefix[],
): Promise<S3Store> {
  const reply = await new STSClient({ region }).send(
    new AssumeRoleCommand({
      RoleArn: roleArn,
      RoleSessionName: 'icesweep-delete',
      DurationSeconds: SESSION_SECONDS,
      Policy: sessionPolicy(roleArn, prefixes),
    }),
  );
  const { AccessKeyId, SecretAccessKey, SessionToken } = reply.Credentials ?? {};
  if (AccessKeyId === undefined || SecretAccessKey === undefined || SessionToken === undefined) {
    throw new MisconfiguredError(`The delete role ${roleArn} gave no credentials.`);
  }
  const credentials = { accessKeyId: AccessKeyId, secretAccessKey: SecretAccessKey, sessionToken: SessionToken };
  return new S3Store(createS3Client({ region, credentials }), createS3Client({ region, credentials, attempts: 1 }));
}
