import assert from 'node:assert/strict';
import test from 'node:test';
import { watchTables } from '#functions/watch/watch-tables.ts';
import { parseDeployment } from '#shared/run/deployment.ts';
import { callAwsJson, signedHeaders } from '#shared/runtime/aws-json-call.ts';
import { openRunEvents, openSecretsManager } from '#shared/runtime/aws-services.ts';
import { sessionPolicy } from '#shared/runtime/deleting-store.ts';
import { MemoryItemTable } from '#test/support/memory-item-table.ts';

const CREDENTIALS = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' };
const CALL = { service: 'events', target: 'AWSEvents.PutEvents', region: 'eu-west-1', body: { Entries: [] } };
const ROLE = 'arn:aws-cn:iam::123456789012:role/delete';

function replies(...list: [number, string][]): { send: typeof fetch; sent: Request[] } {
  const sent: Request[] = [];
  const send = (async (url: string, init: RequestInit) => {
    sent.push(new Request(url, init));
    const [status, body] = list[Math.min(sent.length, list.length) - 1] as [number, string];
    return new Response(body, { status });
  }) as typeof fetch;
  return { send, sent };
}

test('calls are signed over every header, a session’s token among them', () => {
  const headers = signedHeaders(CALL, 'events.eu-west-1.amazonaws.com', '{}', '20260131T235959Z', {
    ...CREDENTIALS,
    sessionToken: 'tok',
  });

  assert.match(
    headers['authorization'] ?? '',
    /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/20260131\/eu-west-1\/events\/aws4_request, SignedHeaders=content-type;host;x-amz-date;x-amz-security-token;x-amz-target, Signature=[0-9a-f]{64}$/,
  );
  assert.equal(headers['x-amz-security-token'], 'tok');
});

test('the signature is the one that the SDK’s own signer gives', () => {
  const headers = signedHeaders(CALL, 'events.eu-west-1.amazonaws.com', '{"a":1}', '20260131T235959Z', CREDENTIALS);

  assert.match(
    headers['authorization'] ?? '',
    /Signature=252c7c3b619508a376c45516c9cd193462b350a4a5513f0a2020ca430ceff7a5$/,
  );
});

test('a service that does not answer is asked again, one that refuses is not', async () => {
  const flaky = replies([503, 'no'], [400, '{"__type":"ThrottlingException"}'], [200, '{"ok":true}']);
  const denied = replies([400, '{"__type":"AccessDeniedException"}']);
  const wrong = replies([400, '{"__type":"ValidationException"}']);
  const dead = replies([500, 'no']);

  assert.deepEqual(await callAwsJson(CALL, CREDENTIALS, flaky.send), { ok: true });
  assert.equal(flaky.sent.length, 3);
  assert.equal(flaky.sent[0]?.url, 'https://events.eu-west-1.amazonaws.com/');
  await assert.rejects(callAwsJson(CALL, CREDENTIALS, denied.send), { name: 'AccessDeniedError' });
  assert.equal(denied.sent.length, 1);
  await assert.rejects(callAwsJson(CALL, CREDENTIALS, wrong.send), /ValidationException/);
  await assert.rejects(callAwsJson(CALL, CREDENTIALS, dead.send), { name: 'ServiceUnavailableError' });
});

test('an event that the bus does not take is logged and changes nothing', async () => {
  const said: string[] = [];
  const bodies: unknown[] = [];
  const caller = { region: 'eu-west-1', credentials: () => CREDENTIALS };
  const publisher = (reply: () => unknown) =>
    openRunEvents(
      'bus',
      caller,
      (message) => said.push(message),
      async (call) => {
        bodies.push(call.body);
        return reply();
      },
    );

  await publisher(() => ({ FailedEntryCount: 0 })).publish('Succeeded', { version: '1', run_id: 'r' });
  await publisher(() => ({ FailedEntryCount: 1 })).publish('Failed', {});
  await publisher(() => {
    throw new Error('denied');
  }).publish('Failed', {});

  assert.deepEqual(bodies[0], {
    Entries: [
      {
        EventBusName: 'bus',
        Source: 'iceberg.orphan-cleanup',
        DetailType: 'Orphan Cleanup Run Succeeded',
        Detail: '{"version":"1","run_id":"r"}',
      },
    ],
  });
  assert.deepEqual(said, ['Event not taken', 'Event not published']);
});

test('a secret is its text; one without text is a fault of the deployment', async () => {
  const caller = { region: 'eu-west-1', credentials: () => CREDENTIALS };

  assert.equal(await openSecretsManager(caller, async () => ({ SecretString: 's' })).read('name'), 's');
  await assert.rejects(openSecretsManager(caller, async () => ({})).read('name'), { name: 'MisconfiguredError' });
});

test('the session policy allows deletes under the roots only, in the role’s own partition', () => {
  const policy = JSON.parse(
    sessionPolicy(ROLE, [
      { bucket: 'lake', prefix: 'db/t/data/' },
      { bucket: 'lake', prefix: 'db/t/metadata/' },
    ]),
  );
  const deleting = policy.Statement.filter((statement: { Action: string[] }) =>
    statement.Action.includes('s3:DeleteObject'),
  );

  assert.deepEqual(deleting, [
    {
      Effect: 'Allow',
      Action: ['s3:DeleteObject', 's3:GetObject'],
      Resource: ['arn:aws-cn:s3:::lake/db/t/data/*', 'arn:aws-cn:s3:::lake/db/t/metadata/*'],
    },
  ]);
  assert.doesNotMatch(JSON.stringify(policy), /DeleteObjectVersion|"\*"/);
});

test('signs of patterns in a root mean themselves', () => {
  const policy = sessionPolicy(ROLE, [{ bucket: 'lake', prefix: 'a*b/c?$d/' }]);

  assert.match(JSON.parse(policy).Statement[0].Resource[0], /:lake\/a\$\{\*\}b\/c\$\{\?\}\$\{\$\}d\/\*$/);
});

test('too many roots for a session policy share the folder that holds them, never the bucket of another', () => {
  const prefixes = Array.from({ length: 60 }, (_, i) => ({
    bucket: i < 30 ? 'lake' : 'other',
    prefix: `warehouse/db/t/part-${i}/`,
  }));
  const policy = sessionPolicy(ROLE, prefixes);

  assert.ok(policy.length <= 2048);
  assert.deepEqual(JSON.parse(policy).Statement[0].Resource, [
    'arn:aws-cn:s3:::lake/warehouse/db/t/*',
    'arn:aws-cn:s3:::other/warehouse/db/t/*',
  ]);
  assert.throws(() => sessionPolicy(ROLE, []), { name: 'MisconfiguredError' });
});

const DAY = 86_400_000;

async function daysOf(items: MemoryItemTable, nowMs: number): Promise<number | undefined> {
  let days: number | undefined;
  await watchTables({
    items,
    deployment: parseDeployment({ tables: { 'db.t': {} }, catalog: { type: 'glue' } }),
    clock: { now: () => nowMs, sleep: async () => {} },
    log: { info() {}, warn() {}, error() {} },
    metrics: {
      add(_name, value, table) {
        if (table === 'db.t') days = value;
      },
    },
  });
  return days;
}

function ended(items: MemoryItemTable, day: number, verdict: string): Promise<boolean> {
  const at = new Date(day * DAY).toISOString();
  return items.put({ pk: 'TABLE#glue#db.t', sk: `RUN#${at}#r${day}`, verdict, finished_at: at });
}

test('days count from the last successful cleanup; dry, skipped, refused and failed runs are none', async () => {
  const items = new MemoryItemTable();
  await ended(items, 100, 'DELETED');
  for (const [day, verdict] of [
    [101, 'DRY_RUN'],
    [102, 'SKIPPED'],
    [103, 'REFUSED'],
    [104, 'FAILED'],
    [105, 'PARTIAL'],
  ] as const) {
    await ended(items, day, verdict);
  }

  assert.equal(await daysOf(items, 106 * DAY), 6);
  await ended(items, 107, 'NOTHING_TO_DO');
  assert.equal(await daysOf(items, 108 * DAY), 1);
});

test('a table that was never cleaned counts from when it was first looked at', async () => {
  const items = new MemoryItemTable();

  assert.equal(await daysOf(items, 100 * DAY), 0);
  assert.equal(await daysOf(items, 109 * DAY), 9);
});

test('failures that fill the newest records do not make the last success look young', async () => {
  const items = new MemoryItemTable();
  await ended(items, 100, 'DELETED');
  assert.equal(await daysOf(items, 101 * DAY), 1);
  for (let day = 102; day < 170; day++) await ended(items, day, 'FAILED');

  assert.equal(await daysOf(items, 170 * DAY), 70);
});
