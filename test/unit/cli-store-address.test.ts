import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseCommand } from '#infra/local/cli/arguments/parse-command.ts';
import { storeOptions } from '#infra/local/cli/storage.ts';
import { remoteConnection } from '#infra/local/cli/target.ts';
import { onThisMachine } from '#infra/local/machine/surroundings.ts';

const connection = (flags: string, environment: Record<string, string> = {}) =>
  remoteConnection(parseCommand(['plan', 's3://lake/t', ...flags.split(' ').filter(Boolean)]).values, environment);

test('the endpoint is the flag’s, else S3’s variable, else that of all services, as the AWS command line has it', () => {
  const both = { AWS_ENDPOINT_URL_S3: 'http://s3:1', AWS_ENDPOINT_URL: 'http://all:1' };

  assert.equal(connection('--endpoint-url http://flag:1', both).endpoint_url, 'http://flag:1');
  assert.equal(connection('', both).endpoint_url, 'http://s3:1');
  assert.equal(connection('', { ...both, AWS_ENDPOINT_URL_S3: '' }).endpoint_url, 'http://all:1');
  assert.equal(connection('', { ...both, AWS_IGNORE_CONFIGURED_ENDPOINT_URLS: 'true' }).endpoint_url, undefined);
  assert.throws(() => connection('', { AWS_ENDPOINT_URL_S3: 's3' }), /AWS_ENDPOINT_URL_S3 "s3" is no http/);
});

test('profile, region and path style reach the client of the store', () => {
  assert.deepEqual(storeOptions(connection('--profile p --region r --path-style --endpoint-url http://e')), {
    endpoint: 'http://e',
    region: 'r',
    pathStyle: true,
    profile: 'p',
  });
  assert.equal(storeOptions(connection('--no-path-style')).pathStyle, false);
  assert.deepEqual(storeOptions(connection('')), {});
});

test('path style and region reach the functions', () => {
  const spec = { name: 'plan', bundleDir: '/x', memoryMegabytes: 1, timeoutSeconds: 1, environment: {} };
  const environmentOf = (tableS3: { region?: string; pathStyle?: boolean }) =>
    onThisMachine(
      spec,
      { stateDir: '/s', tableS3, workS3: { endpoint: 'http://w', bucket: 'work' }, deployment: {} },
      'http://t',
      'http://r',
    ).environment;

  assert.equal(environmentOf({ pathStyle: false, region: 'eu-west-1' })['S3_PATH_STYLE'], 'false');
  assert.equal(environmentOf({ region: 'eu-west-1' })['AWS_REGION'], 'eu-west-1');
  assert.equal(environmentOf({})['S3_PATH_STYLE'], undefined);
});
