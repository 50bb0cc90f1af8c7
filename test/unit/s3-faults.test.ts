import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, beforeEach, test } from 'node:test';
import type { Fault } from '#infra/local/s3/faults.ts';
import { MemoryBucket } from '#infra/local/s3/memory-bucket.ts';
import { type S3Server, startS3Server } from '#infra/local/s3/server.ts';
import type { StoreFault } from '#shared/storage/object-store.ts';
import { createS3Client } from '#shared/storage/s3-client.ts';
import { S3Store } from '#shared/storage/s3-store.ts';
import { openS3Store } from '#test/support/open-s3-store.ts';
import { rejectsWith } from '#test/support/store-contract.ts';

let server: S3Server;
let bucket: MemoryBucket;
let store: S3Store;

before(async () => {
  bucket = new MemoryBucket();
  server = await startS3Server({ buckets: { b: bucket } });
  const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };
  const client = createS3Client({ endpoint: server.endpoint, credentials, attempts: 2 });
  store = new S3Store(client, createS3Client({ endpoint: server.endpoint, credentials, attempts: 1 }));
});

beforeEach(async () => {
  server.clearFaults();
  server.forgetRequests();
  await bucket.put('k', Buffer.from('0123456789'), {});
});

after(() => server.close());

function sent(operation: string): number {
  return server.requests().filter((note) => note.operation === operation).length;
}

const answers: readonly (readonly [status: number, code: string, fault: StoreFault])[] = [
  [404, 'NoSuchKey', 'NotFound'],
  [404, 'NoSuchBucket', 'NoSuchBucket'],
  [403, 'AccessDenied', 'AccessDenied'],
  [403, 'InvalidAccessKeyId', 'AccessDenied'],
  [400, 'ExpiredToken', 'AccessDenied'],
  [412, 'PreconditionFailed', 'PreconditionFailed'],
  [409, 'ConditionalRequestConflict', 'Unavailable'],
  [429, 'TooManyRequestsException', 'Throttled'],
  [400, 'RequestTimeout', 'Unavailable'],
  [503, 'SlowDown', 'Throttled'],
  [503, 'ServiceUnavailable', 'Throttled'],
  [500, 'InternalError', 'Unavailable'],
  [502, 'BadGateway', 'Unavailable'],
  [501, 'NotImplemented', 'NotImplemented'],
  [405, 'MethodNotAllowed', 'NotImplemented'],
  [400, 'MalformedXML', 'BadRequest'],
  [418, 'Teapot', 'BadRequest'],
];

for (const [status, code, fault] of answers) {
  test(`${status} ${code} is ${fault}, for reads, listings, puts and deletes`, async () => {
    server.fault({ effect: { error: { status, code } } });
    await rejectsWith(store.get('b', 'k'), fault);
    await rejectsWith(store.list({ bucket: 'b', prefix: '' }), fault);
    await rejectsWith(store.put('b', 'k', Buffer.from('x')), fault);
    await rejectsWith(store.deleteObject('b', 'k'), fault);
    await rejectsWith(store.deleteObjects('b', [{ key: 'k' }]), fault);
    server.clearFaults();
    assert.equal((await store.get('b', 'k')).body.toString(), '0123456789');
  });
}

test('a HEAD has a status only, and says the same', async () => {
  const expected = { 403: 'AccessDenied', 404: 'NotFound', 503: 'Throttled', 500: 'Unavailable' } as const;
  for (const [status, fault] of Object.entries(expected)) {
    server.clearFaults();
    server.fault({ effect: { error: { status: Number(status), code: 'Whatever' } } });
    await rejectsWith(store.head('b', 'k'), fault);
  }
});

test('reads are sent again by the SDK, deletes never', async () => {
  server.fault({ operation: 'GetObject', count: 1, effect: { error: { status: 503, code: 'SlowDown' } } });
  assert.equal((await store.get('b', 'k')).sizeBytes, 10);
  assert.equal(sent('GetObject'), 2);
  const lost: readonly Fault['effect'][] = [{ error: { status: 503, code: 'SlowDown' } }, { drop: true }];
  for (const effect of lost) {
    server.clearFaults();
    server.forgetRequests();
    server.fault({ effect });
    await assert.rejects(store.deleteObjects('b', [{ key: 'k' }]));
    await assert.rejects(store.deleteObject('b', 'k'));
    assert.deepEqual([sent('DeleteObjects'), sent('DeleteObject')], [1, 1]);
  }
});

test('a lost answer is Unavailable although the work was done', async () => {
  server.fault({ operation: 'DeleteObjects', effect: { loseAnswer: true } });
  await rejectsWith(store.deleteObjects('b', [{ key: 'k' }]), 'Unavailable');
  await rejectsWith(store.head('b', 'k'), 'NotFound');
});

test('a dropped connection is Unavailable and nothing was done', async () => {
  server.fault({ operation: 'DeleteObjects', effect: { drop: true } });
  await rejectsWith(store.deleteObjects('b', [{ key: 'k' }]), 'Unavailable');
  assert.equal((await store.head('b', 'k')).sizeBytes, 10);
});

test('a body that ends early is an error, of an object, a page and a reply to deletes', async () => {
  server.fault({ effect: { truncateTo: 5 } });
  await rejectsWith(store.get('b', 'k'), 'Unavailable');
  await rejectsWith(store.list({ bucket: 'b', prefix: '' }), 'Unavailable');
  await rejectsWith(store.deleteObjects('b', [{ key: 'k' }]), 'Unavailable');
});

test('errors of single keys in a batch', async () => {
  await bucket.put('l', Buffer.from('l'), {});
  server.fault({ operation: 'DeleteObjects', effect: { keyErrors: { k: 'InternalError' } } });
  const reply = await store.deleteObjects('b', [{ key: 'k' }, { key: 'l' }]);
  assert.deepEqual(
    [reply.deleted.map(({ key }) => key), reply.errors.map(({ key, code }) => [key, code])],
    [['l'], [['k', 'InternalError']]],
  );
});

test('a fault strikes only where it is meant, and as often', async () => {
  server.fault({
    operation: 'GetObject',
    bucket: 'b',
    key: 'k',
    count: 2,
    effect: { error: { status: 403, code: 'No' } },
  });
  await rejectsWith(store.get('b', 'other'), 'NotFound');
  await rejectsWith(store.get('b', 'k'), 'AccessDenied');
  await store.head('b', 'k');
  await rejectsWith(store.get('b', 'k'), 'AccessDenied');
  assert.equal((await store.get('b', 'k')).sizeBytes, 10);
});

test('a 404 that names nothing absent is no absence', async () => {
  for (const body of ['', '<html><body>404</body></html>', '<html><title>404</body>', '{"message":"not found"}']) {
    const proxy = createServer((_, response) => response.writeHead(404).end(body));
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    const endpoint = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    await rejectsWith(openS3Store(endpoint).get('b', 'k'), 'Unavailable');
    await rejectsWith(openS3Store(endpoint).list({ bucket: 'b', prefix: '' }), 'Unavailable');
    await rejectsWith(openS3Store(endpoint).head('b', 'k'), 'NotFound');
    proxy.closeAllConnections();
    proxy.close();
  }
});

test('what is not signed, or under another id, gets nothing', async () => {
  const own = await startS3Server({ buckets: { b: bucket }, accessKeyId: 'secret-id' });
  const body = '<Delete><Object><Key>k</Key></Object></Delete>';
  const bare = await fetch(`${own.endpoint}/b?delete`, { method: 'POST', body });
  assert.equal(bare.status, 403);
  await rejectsWith(openS3Store(own.endpoint).deleteObject('b', 'k'), 'AccessDenied');
  const client = createS3Client({
    endpoint: own.endpoint,
    credentials: { accessKeyId: 'secret-id', secretAccessKey: 'x' },
  });
  assert.equal((await new S3Store(client, client).get('b', 'k')).sizeBytes, 10);
  await own.close();
});

test('an endpoint where nobody listens is Unavailable', async () => {
  const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };
  const client = createS3Client({ endpoint: 'http://127.0.0.1:9', credentials, attempts: 1 });
  await rejectsWith(new S3Store(client, client).get('b', 'k'), 'Unavailable');
});

test('DA-05 a batch with a control character is refused as a whole, the key goes singly', async () => {
  await bucket.put('a\u0010.parquet', Buffer.from('x'), {});
  await rejectsWith(store.deleteObjects('b', [{ key: 'a\u0010.parquet' }, { key: 'k' }]), 'BadRequest');
  assert.equal((await store.head('b', 'k')).sizeBytes, 10);
  await store.deleteObject('b', 'a\u0010.parquet');
  await rejectsWith(store.head('b', 'a\u0010.parquet'), 'NotFound');
});

test('requests are counted by kind', async () => {
  const own = new S3Store(
    createS3Client({ endpoint: server.endpoint, credentials: { accessKeyId: 'a', secretAccessKey: 'b' } }),
    createS3Client({ endpoint: server.endpoint, credentials: { accessKeyId: 'a', secretAccessKey: 'b' } }),
  );
  await own.put('b', 'c', Buffer.from('x'));
  await own.get('b', 'c');
  await own.head('b', 'c');
  await own.list({ bucket: 'b', prefix: '' });
  await own.deleteObjects('b', [{ key: 'c' }]);
  assert.deepEqual(own.requests, { get: 2, list: 1, put: 1, delete: 1 });
});
