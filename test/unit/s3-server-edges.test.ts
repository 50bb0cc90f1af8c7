import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import * as s3 from '@aws-sdk/client-s3';
import { crc32c } from '#infra/local/s3/crc32c.ts';
import { MemoryBucket } from '#infra/local/s3/memory-bucket.ts';
import { type S3Server, startS3Server } from '#infra/local/s3/server.ts';
import { createS3Client } from '#shared/storage/s3-client.ts';
import { S3Store } from '#shared/storage/s3-store.ts';
import { rejectsWith } from '#test/support/store-contract.ts';

const at = { Bucket: 'b', Key: 'k' };
const T0 = 1_700_000_000_000;
let server: S3Server;
let bucket: MemoryBucket;
let client: s3.S3Client;
let store: S3Store;

before(async () => {
  bucket = new MemoryBucket({ now: () => T0 });
  server = await startS3Server({ buckets: { b: bucket }, clock: () => T0 });
  const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };
  client = createS3Client({ endpoint: server.endpoint, credentials, attempts: 1 });
  store = new S3Store(client, client);
});

beforeEach(async () => {
  server.clearFaults();
  await bucket.put('k', Buffer.from('0123456789'), {});
});

after(() => server.close());

function isNotImplemented(error: s3.S3ServiceException): boolean {
  return error.name === 'NotImplemented' && error.$metadata.httpStatusCode === 501;
}

test('what the server does not know is refused and leaves the object as it is', async () => {
  const unknown = [
    () => client.send(new s3.CopyObjectCommand({ ...at, CopySource: 'b/other' })),
    () => client.send(new s3.PutObjectAclCommand({ ...at, ACL: 'private' })),
    () => client.send(new s3.PutObjectRetentionCommand({ ...at, Retention: { Mode: 'GOVERNANCE' } })),
    () => client.send(new s3.CreateMultipartUploadCommand(at)),
    () => client.send(new s3.UploadPartCommand({ ...at, UploadId: 'u', PartNumber: 1, Body: 'part' })),
    () => client.send(new s3.GetObjectAttributesCommand({ ...at, ObjectAttributes: ['ETag'] })),
    () => client.send(new s3.PutBucketPolicyCommand({ Bucket: 'b', Policy: '{}' })),
    () => client.send(new s3.DeleteBucketLifecycleCommand({ Bucket: 'b' })),
  ];
  for (const request of unknown) await assert.rejects(request, isNotImplemented);
  assert.equal((await store.get('b', 'k')).body.toString(), '0123456789');
});

test('CRC32C and SHA-1 of a body are checked as well', async () => {
  assert.equal(crc32c(Buffer.from('123456789')), 0xe3069283);
  for (const ChecksumAlgorithm of ['CRC32C', 'SHA1', 'SHA256', 'CRC32'] as const) {
    await client.send(new s3.PutObjectCommand({ ...at, Body: 'body', ChecksumAlgorithm }));
  }
  for (const wrong of [{ ChecksumCRC32C: 'AAAAAA==' }, { ChecksumSHA1: 'AAAAAAAAAAAAAAAAAAAAAAAAAAA=' }]) {
    const put = client.send(new s3.PutObjectCommand({ ...at, Body: 'other', ...wrong }));
    await assert.rejects(put, (error: Error) => error.name === 'BadDigest');
  }
  assert.equal((await store.get('b', 'k')).body.toString(), 'body');
});

test('a fault strikes the nth request, and no other', async () => {
  server.fault({ operation: 'HeadObject', nth: 3, count: 1, effect: { error: { status: 503, code: 'SlowDown' } } });
  const outcomes: string[] = [];
  for (let call = 1; call <= 5; call++) {
    outcomes.push(
      await store.head('b', 'k').then(
        () => 'ok',
        () => 'fault',
      ),
    );
  }
  assert.deepEqual(outcomes, ['ok', 'ok', 'fault', 'ok', 'ok']);
});

test('an answer of 200 with an empty, foreign or error body is no answer', async () => {
  for (const body of ['', '<html></html>', '<Error><Code>InternalError</Code><Message>late</Message></Error>']) {
    server.clearFaults();
    server.fault({ operation: 'ListObjectsV2', effect: { body } });
    await rejectsWith(store.list({ bucket: 'b', prefix: '' }), 'Unavailable');
  }
});

test('a reply to deletes without its keys names none as deleted', async () => {
  server.fault({ operation: 'DeleteObjects', count: 1, effect: { body: '<DeleteResult></DeleteResult>' } });
  assert.deepEqual(await store.deleteObjects('b', [{ key: 'k' }]), { deleted: [], errors: [] });
});

test('keys that objects inherit are keys like others', async () => {
  const keys = ['__proto__', 'constructor', 'toString'];
  for (const key of keys) await bucket.put(key, Buffer.from(key), {});
  const reply = await store.deleteObjects(
    'b',
    keys.map((key) => ({ key })),
  );
  assert.deepEqual([reply.deleted.map(({ key }) => key), reply.errors], [keys, []]);
});

test('a bucket that a request makes keeps the given time', async () => {
  await client.send(new s3.CreateBucketCommand({ Bucket: 'made' }));
  await store.put('made', 'x', Buffer.from('x'));
  assert.equal((await store.head('made', 'x')).lastModifiedMs, T0);
});

test('a bucket lists as before after many keys went and came back', async () => {
  const own = new MemoryBucket();
  const keys = Array.from({ length: 40 }, (_, index) => `k${String(index).padStart(2, '0')}`);
  const listed = () => [...own.scan('', undefined)].map(({ key }) => key);
  for (const key of keys) await own.put(key, Buffer.from('1'), {});
  for (const key of keys.slice(0, 35)) await own.delete(key, {});
  assert.deepEqual(listed(), keys.slice(35));
  for (const key of keys.slice(0, 10).reverse()) await own.put(key, Buffer.from('2'), {});
  assert.deepEqual(listed(), [...keys.slice(0, 10), ...keys.slice(35)]);
  await own.delete('k00', {});
  await own.delete('k00', {});
  await own.put('k00', Buffer.from('3'), {});
  assert.equal(listed().length, 15);
  assert.equal((await own.read('k00', 0, 9)).toString(), '3');
});
