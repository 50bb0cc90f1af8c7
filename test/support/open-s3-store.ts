/** The SDK's adapter against a server of the tests. */
import { createS3Client } from '#shared/storage/s3-client.ts';
import { S3Store, type S3StoreOptions } from '#shared/storage/s3-store.ts';

const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };

export function openS3Store(endpoint: string, options: S3StoreOptions = {}): S3Store {
  return new S3Store(
    createS3Client({ endpoint, credentials }),
    createS3Client({ endpoint, credentials, attempts: 1 }),
    options,
  );
}
