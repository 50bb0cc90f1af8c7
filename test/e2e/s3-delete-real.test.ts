/**
 * Deleting over the embedded server and, with `S3_ENDPOINT=http://…` and credentials in the SDK's own variables, over another
 * one too, each behind a proxy that loses, cuts or replaces answers. Buckets are made and left behind. `S3_LACKS` names
 * abilities that the server is known not to have, separated by commas.
 */
import { after, test } from 'node:test';
import { CreateBucketCommand, PutBucketVersioningCommand } from '@aws-sdk/client-s3';
import { MemoryBucket } from '#infra/local/s3/memory-bucket.ts';
import { startS3Server } from '#infra/local/s3/server.ts';
import { createS3Client } from '#shared/storage/s3-client.ts';
import { changeChecks } from '#test/support/s3-delete-changes.ts';
import { registerDeleteChecks } from '#test/support/s3-delete-checks.ts';
import { lostChecks } from '#test/support/s3-delete-lost.ts';
import { requestChecks } from '#test/support/s3-delete-requests.ts';
import type { S3Place } from '#test/support/s3-delete-world.ts';
import type { Ability } from '#test/support/store-contract.ts';

const endpoint = process.env['S3_ENDPOINT'];
const lacks = new Set((process.env['S3_LACKS'] ?? '').split(','));
const checks = [...requestChecks, ...lostChecks, ...changeChecks];
const needed: readonly Ability[] = ['controlCharacters', 'conditionalDelete'];

registerDeleteChecks('embedded S3', checks, embedded, new Set(needed));

async function embedded(versioned: boolean): Promise<S3Place> {
  const bucket = new MemoryBucket(versioned ? { versioning: 'Enabled' } : {});
  const server = await startS3Server({ buckets: { b: bucket } });
  after(() => server.close());
  return { endpoint: server.endpoint, bucket: 'b', credentials: { accessKeyId: 'test', secretAccessKey: 'test' } };
}

if (endpoint === undefined) {
  test('deleting over another S3 server', { skip: 'S3_ENDPOINT is not set' }, () => {});
} else {
  const client = createS3Client({ endpoint });
  const suffix = Date.now().toString(36);
  let buckets = 0;
  const made = async (versioned: boolean): Promise<S3Place> => {
    const bucket = `icesweep-deletes-${suffix}-${buckets++}`;
    await client.send(new CreateBucketCommand({ Bucket: bucket }));
    if (versioned) {
      const VersioningConfiguration = { Status: 'Enabled' } as const;
      await client.send(new PutBucketVersioningCommand({ Bucket: bucket, VersioningConfiguration }));
    }
    return { endpoint, bucket };
  };
  registerDeleteChecks('S3', checks, made, new Set(needed.filter((name) => !lacks.has(name))));
}
