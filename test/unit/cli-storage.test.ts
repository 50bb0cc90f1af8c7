/** What the embedded store gives to whom: it is reached over a port that every user of the machine can reach. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { handlerEnvironment } from '#infra/local/cli/handler-environment.ts';
import { type LocalStorage, openStorage, openStore } from '#infra/local/cli/storage.ts';
import { openPorts } from '#shared/runtime/ports.ts';

describe('the embedded store', () => {
  const folder = mkdtempSync(join(tmpdir(), 'icesweep-storage-'));
  const lake = join(folder, 'lake');
  const key = `${lake.slice(1)}/data/a.parquet`;
  let storage: LocalStorage;
  before(async () => {
    mkdirSync(join(lake, 'data'), { recursive: true });
    writeFileSync(join(lake, 'data/a.parquet'), 'rows');
    storage = await openStorage(join(folder, 'state'), { directories: [lake] });
  });
  after(async () => {
    await storage.close();
    rmSync(folder, { recursive: true });
  });

  test('serves the mounted directories to this process alone', async () => {
    const { endpoint } = storage.workS3;
    const stranger = openStore({ endpoint, credentials: { accessKeyId: 'local', secretAccessKey: 'local' } });

    assert.equal((await storage.tables.head('local', key)).sizeBytes, 4);
    await assert.rejects(stranger.head('local', key), { fault: 'AccessDenied' });
    await assert.rejects(stranger.deleteObject('local', key), { fault: 'AccessDenied' });
    await assert.rejects(stranger.list({ bucket: 'work', prefix: '' }), { fault: 'AccessDenied' });
    assert.equal((await fetch(`${endpoint}/local/${key}`)).status, 403);
  });

  test('shows a table everything but the state folder, where that lies in it', async () => {
    const inside = join(lake, 'data/state');
    const own = await openStorage(inside, { directories: [lake] });
    try {
      writeFileSync(join(inside, 'work/seal.json'), '{}');
      const other = await storage.tables.list({ bucket: 'local', prefix: `${lake.slice(1)}/` });
      const listed = await own.tables.list({ bucket: 'local', prefix: `${lake.slice(1)}/data/` });

      assert.deepEqual(
        listed.objects.map((object) => object.key),
        [key],
      );
      assert.equal(other.objects.length, 2);
    } finally {
      await own.close();
      rmSync(inside, { recursive: true });
    }
  });

  test('answers the workers, who are told its key id, whatever keys the person has', async () => {
    const { endpoint, accessKeyId, bucket } = storage.workS3;
    const env = {
      WORK_BUCKET: bucket,
      RUN_TABLE: 'runs',
      RUN_STATUS_INDEX: 'status',
      DEPLOYMENT: '{"local": true}',
      AWS_REGION: 'us-east-1',
      LIST_PARSER: 'strict',
      DYNAMODB_ENDPOINT: endpoint,
      STEP_FUNCTIONS_ENDPOINT: endpoint,
      SECRETS_FROM_ENVIRONMENT: 'true',
      WORK_S3_ENDPOINT: endpoint,
      WORK_S3_ACCESS_KEY_ID: accessKeyId,
    } as const;
    const [mounted, remote] = [{ ...env, TABLE_S3_ENDPOINT: endpoint }, env].map((one) =>
      openPorts(one as Parameters<typeof openPorts>[0], () => {}),
    );

    assert.equal((await mounted?.tables.head('local', key))?.sizeBytes, 4);
    assert.deepEqual((await remote?.work.list({ bucket, prefix: '' }))?.objects, []);
    assert.notEqual(remote?.tables, remote?.work);
  });

  test('has another key id each time', async () => {
    const other = await openStorage(join(folder, 'other'), { directories: [] });

    assert.notEqual(other.workS3.accessKeyId, storage.workS3.accessKeyId);
    assert.match(other.workS3.accessKeyId as string, /^[0-9a-f]{32}$/);
    await other.close();
  });
});

test('a profile that was asked for is not mixed with the keys of the environment', () => {
  const environment = {
    AWS_ACCESS_KEY_ID: 'other',
    AWS_SECRET_ACCESS_KEY: 'x',
    AWS_REGION: 'eu-west-1',
    PASSWORD: 'p',
  };

  assert.deepEqual(handlerEnvironment({ directories: [], profile: 'lake' }, environment), {
    AWS_REGION: 'eu-west-1',
    AWS_PROFILE: 'lake',
  });
  assert.deepEqual(handlerEnvironment({ directories: [], region: 'eu-west-2' }, environment), {
    AWS_ACCESS_KEY_ID: 'other',
    AWS_SECRET_ACCESS_KEY: 'x',
    AWS_REGION: 'eu-west-2',
  });
});
