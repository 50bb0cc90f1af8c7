/** The S3 client of every adapter: one place for endpoint, addressing and retries. */
import { S3Client, type S3ClientConfig } from '@aws-sdk/client-s3';

export interface S3ClientOptions {
  /** An S3-compatible endpoint; absent: AWS. */
  readonly endpoint?: string;
  readonly region?: string;
  /** Bucket in the path; on by default where an endpoint is given. */
  readonly pathStyle?: boolean;
  readonly credentials?: S3ClientConfig['credentials'];
  /** Profile of the shared configuration files. */
  readonly profile?: string;
  /** Attempts in all; 1 switches the SDK's own retries off, as deletes need. */
  readonly attempts?: number;
}

export function createS3Client(options: S3ClientOptions = {}): S3Client {
  const { endpoint, region, pathStyle, credentials, profile, attempts } = options;
  return new S3Client({
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(region === undefined ? (endpoint === undefined ? {} : { region: 'us-east-1' }) : { region }),
    ...(credentials === undefined ? {} : { credentials }),
    ...(profile === undefined ? {} : { profile }),
    forcePathStyle: pathStyle ?? endpoint !== undefined,
    // A table may lie in another region than the fleet.
    followRegionRedirects: endpoint === undefined,
    maxAttempts: attempts ?? 5,
    retryMode: 'standard',
  });
}
