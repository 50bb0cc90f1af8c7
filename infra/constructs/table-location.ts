import { Aws } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';

/** A prefix under which tables lie, as the deployment names it. */
export interface TableLocation {
  readonly bucket: string;
  /** Key prefix that ends with `/`, or '' for the whole bucket. */
  readonly prefix: string;
}

const FORM = /^s3[an]?:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*))?$/;

/** Reads `s3://bucket/prefix`. Throws an Error that says what is wrong with it. */
export function parseTableLocation(text: string): TableLocation {
  const match = FORM.exec(text);
  if (match === null) throw new Error(`"${text}" is no table location: write s3://bucket/prefix/`);
  const [, bucket, prefix = ''] = match;
  if (/[*?$]/.test(prefix)) throw new Error(`"${text}" has a wildcard; a table location is a plain prefix`);
  return { bucket: bucket as string, prefix: prefix === '' || prefix.endsWith('/') ? prefix : `${prefix}/` };
}

/** A managed policy holds 6,144 characters, and the longest statement of a role lists every location. */
const MOST_CHARACTERS = 5000;

/**
 * Reads the locations of a deployment. Throws an Error where there is none, one is wrong, or there are more than a policy
 * can name.
 */
export function parseTableLocations(texts: readonly string[]): TableLocation[] {
  if (texts.length === 0) throw new Error('tableLocations is empty; name the prefixes under which the tables lie');
  const locations = texts.map(parseTableLocation);
  const characters = objectArns(locations).join().length;
  if (characters <= MOST_CHARACTERS) return locations;
  throw new Error(
    `tableLocations has ${texts.length} prefixes, more than a policy can hold; name prefixes that several tables share`,
  );
}

function bucketArn(location: TableLocation): string {
  return `arn:${Aws.PARTITION}:s3:::${location.bucket}`;
}

function objectArns(locations: readonly TableLocation[]): string[] {
  return locations.map((location) => `${bucketArn(location)}/${location.prefix}*`);
}

/** Everything a function may do with tables, as statements; only {@link deleteStatements} lets anything be deleted. */
export function readStatements(locations: readonly TableLocation[]): PolicyStatement[] {
  return [new PolicyStatement({ sid: 'ReadTableFiles', actions: ['s3:GetObject'], resources: objectArns(locations) })];
}

/**
 * One statement per bucket, since the prefix condition belongs to its bucket. `IfExists`: S3 asks for s3:ListBucket, without
 * a prefix, before it answers 404 instead of 403 for a file that is not there, and what is gone must not look denied.
 */
export function listStatements(
  locations: readonly TableLocation[],
  action = 's3:ListBucket',
  sid = 'ListTables',
): PolicyStatement[] {
  // Synthesis runs on the consumer's Node, which may lack `Map.groupBy`.
  const buckets = new Map<string, TableLocation[]>();
  for (const location of locations) buckets.set(location.bucket, [...(buckets.get(location.bucket) ?? []), location]);
  return [...buckets.values()].map((sameBucket, index) => {
    const prefixes = sameBucket.flatMap(({ prefix }) => (prefix === '' ? [] : [`${prefix}*`]));
    const everywhere = sameBucket.some(({ prefix }) => prefix === '');
    return new PolicyStatement({
      sid: `${sid}${index}`,
      actions: [action],
      resources: [bucketArn(sameBucket[0] as TableLocation)],
      ...(everywhere ? {} : { conditions: { StringLikeIfExists: { 's3:prefix': prefixes } } }),
    });
  });
}

/** Whether versions are kept is asked of the bucket itself; the question has no prefix. */
export function versioningStatements(locations: readonly TableLocation[]): PolicyStatement[] {
  const resources = [...new Set(locations.map(bucketArn))];
  return [new PolicyStatement({ sid: 'ReadVersioning', actions: ['s3:GetBucketVersioning'], resources })];
}

/** Conditional deletes want s3:GetObject besides. Versions are never deleted, so s3:DeleteObjectVersion is not here. */
export function deleteStatements(locations: readonly TableLocation[]): PolicyStatement[] {
  return [
    new PolicyStatement({
      sid: 'DeleteOrphanFiles',
      actions: ['s3:DeleteObject', 's3:GetObject'],
      resources: objectArns(locations),
    }),
  ];
}
