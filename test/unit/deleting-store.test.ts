import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { openDeletingStore, sessionPolicy } from '#shared/runtime/deleting-store.ts';
import { S3Store } from '#shared/storage/s3-store.ts';

const ROLE = 'arn:aws:iam::123456789012:role/Delete';
const PREFIXES = [{ bucket: 'lake', prefix: 'warehouse/orders/' }];
const SESSION =
  '<Credentials><AccessKeyId>A</AccessKeyId><SecretAccessKey>B</SecretAccessKey><SessionToken>C</SessionToken><Expiration>2099-01-01T00:00:00Z</Expiration></Credentials>';

/** Opens the store against an STS that answers with these credentials; the requests that it was sent. */
async function open(credentials: string): Promise<{ readonly asked: URLSearchParams[]; readonly opened: unknown }> {
  const asked: URLSearchParams[] = [];
  const server = createServer(async (request, response) => {
    asked.push(new URLSearchParams(await text(request)));
    response.writeHead(200, { 'content-type': 'text/xml' });
    response.end(
      `<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult>${credentials}</AssumeRoleResult></AssumeRoleResponse>`,
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const before = { ...process.env };
  Object.assign(process.env, {
    AWS_ENDPOINT_URL_STS: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    AWS_ACCESS_KEY_ID: 'function',
    AWS_SECRET_ACCESS_KEY: 'secret',
  });
  try {
    const opened = await openDeletingStore(ROLE, 'eu-west-1', PREFIXES).catch((error: unknown) => error);
    return { asked, opened };
  } finally {
    process.env = before;
    server.closeAllConnections();
    server.close();
  }
}

test('the delete role is assumed once, under the session policy of the plan’s roots', async () => {
  const { asked, opened } = await open(SESSION);

  assert.ok(opened instanceof S3Store);
  assert.equal(asked.length, 1);
  assert.deepEqual(
    ['Action', 'RoleArn', 'Policy', 'DurationSeconds'].map((name) => asked[0]?.get(name)),
    ['AssumeRole', ROLE, sessionPolicy(ROLE, PREFIXES), '3600'],
  );
});

test('a role that gives no credentials opens nothing', async () => {
  const { opened } = await open('');

  assert.equal((opened as Error).name, 'MisconfiguredError');
});
