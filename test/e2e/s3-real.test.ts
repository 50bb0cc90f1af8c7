/**
 * The contract against another S3 server: `S3_ENDPOINT=http://… node --test test/e2e/s3-real.test.ts`, with credentials in
 * the SDK's own variables. Two buckets are made and left behind. `S3_LACKS` names abilities that the server is known not to
 * have, separated by commas.
 */
import { before, test } from 'node:test';
import { CreateBucketCommand, PutBucketVersioningCommand } from '@aws-sdk/client-s3';
import { createS3Client } from '#shared/storage/s3-client.ts';
import { S3Store } from '#shared/storage/s3-store.ts';
import { registerWireChecks, type WireAbility } from '#test/support/s3-conformance.ts';
import { type Ability, registerChecks } from '#test/support/store-contract.ts';
import { deleteChecks, versionChecks } from '#test/support/store-delete-checks.ts';
import { listChecks } from '#test/support/store-list-checks.ts';
import { objectChecks } from '#test/support/store-object-checks.ts';

const endpoint = process.env['S3_ENDPOINT'];
const lacks = new Set((process.env['S3_LACKS'] ?? '').split(','));

function abilities<T extends string>(...names: readonly T[]): Set<T> {
  return new Set(names.filter((name) => !lacks.has(name)));
}

if (endpoint === undefined) {
  test('another S3 server', { skip: 'S3_ENDPOINT is not set' }, () => {});
} else {
  const suffix = Date.now().toString(36);
  const plain = `icesweep-contract-${suffix}`;
  const versioned = `icesweep-versions-${suffix}`;
  const client = createS3Client({ endpoint });
  const store = new S3Store(client, createS3Client({ endpoint, attempts: 1 }));

  before(async () => {
    for (const Bucket of [plain, versioned]) await client.send(new CreateBucketCommand({ Bucket }));
    const VersioningConfiguration = { Status: 'Enabled' } as const;
    await client.send(new PutBucketVersioningCommand({ Bucket: versioned, VersioningConfiguration }));
  });

  const all = abilities<Ability>(
    'anyKey',
    'conditionalDelete',
    'conditionalPut',
    'batchLimit',
    'controlCharacters',
    'delimiterAfter',
    'missingBucket',
    'secondMarker',
    'versionPages',
  );
  registerChecks(
    'S3',
    [...objectChecks, ...listChecks, ...deleteChecks],
    () => ({ store, bucket: plain, prefix: '' }),
    all,
  );
  registerChecks('S3 with versions', versionChecks, () => ({ store, bucket: versioned, prefix: '' }), all);
  registerWireChecks(
    'S3 wire',
    () => ({ client, bucket: plain, prefix: 'wire/' }),
    abilities<WireAbility>('digests', 'quiet', 'formEncoding', 'tokens', 'tagging', 'makesBuckets'),
  );
}
