/** REST catalogs that are to be asked at another address than the configured one. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { createRestCatalog } from '#shared/catalog/rest.ts';
import { movedBase } from '#shared/catalog/rest-address.ts';
import type { CatalogConfig } from '#shared/run/resolved-input.ts';
import { type Asked, httpReplies, type Reply } from '#test/support/http-replies.ts';

type RestConfig = Extract<CatalogConfig, { type: 'rest' }>;

const LOCATION = 's3://b/wh/t/metadata/00003-x.metadata.json';
const TABLE: Reply = { json: { 'metadata-location': LOCATION, metadata: { 'table-uuid': 'u', properties: {} } } };
const OLD_TABLE: Reply = { json: { ...(TABLE.json as object), 'metadata-location': 's3://b/wh/t/metadata/old.json' } };

/** The configured server, which names the other one; both know the table, the first with a stale pointer. */
async function moved(
  uriOf: (other: string) => string,
  work: (catalog: ReturnType<typeof createRestCatalog>, asked: { home: Asked[]; other: Asked[] }) => Promise<void>,
  settings: Partial<RestConfig> & { readonly secret?: string; readonly path?: string } = {},
): Promise<void> {
  const { secret = '', path = '', ...rest } = settings;
  const token = ({ path: asked }: Asked): Reply | undefined =>
    asked.endsWith('/oauth/tokens') ? { json: { access_token: 'exchanged' } } : undefined;
  await using other = await httpReplies((asked) => token(asked) ?? TABLE);
  await using home = await httpReplies((asked) => {
    const overrides = { uri: uriOf(other.url) };
    return asked.path.includes('/v1/config') ? { json: { defaults: {}, overrides } } : (token(asked) ?? OLD_TABLE);
  });
  const config: RestConfig = { type: 'rest', uri: `${home.url}${path}`, ...rest };
  const catalog = createRestCatalog('db.t', config, { secrets: { read: async () => secret } });
  await work(catalog, { home: home.asked, other: other.asked });
}

test('after the configuration, everything is asked where the catalog says, with the token', async () => {
  const settings = { token_secret: 'name', secret: 'bearer', path: '/v1/lake/' };
  const paths = (asked: Asked[]): string[] => asked.map(({ path }) => path);
  await moved(
    (other) => `${other}/moved/`,
    async (catalog, { home, other }) => {
      const pointer = await catalog.currentMetadata();
      assert.equal(pointer.metadata_location, LOCATION);
      assert.equal(await catalog.reread(pointer), pointer);
      assert.deepEqual(paths(home), ['/v1/lake/v1/config']);
      const table = '/moved/v1/namespaces/db/tables/t?snapshots=all';
      assert.deepEqual(paths(other), [table, table]);
      assert.equal(other[0]!.headers.authorization, 'Bearer bearer');
    },
    settings,
  );
});

test('client id and secret go to the configured address only', async () => {
  await moved(
    (other) => other,
    async (catalog, { home, other }) => {
      await catalog.currentMetadata();
      assert.ok(home.some(({ path }) => path === '/v1/oauth/tokens'));
      assert.ok(other.every(({ path, body }) => path !== '/v1/oauth/tokens' && body === ''));
      assert.equal(other[0]!.headers.authorization, 'Bearer exchanged');
    },
    { token_secret: 'name', secret: 'me:s3cret' },
  );
});

test('another host without https is not followed: nothing is sent there, and the error says what to set', async () => {
  const elsewhere = (other: string): string => other.replace('127.0.0.1', 'localhost');
  await moved(
    elsewhere,
    async (catalog, { other }) => {
      await assert.rejects(catalog.currentMetadata(), {
        name: 'MisconfiguredError',
        message: /another address, http:\/\/localhost:\d+, which is not https .* make it the uri of the catalog/,
      });
      await assert.rejects(catalog.otherTables!({ deep: true }), { name: 'MisconfiguredError' });
      assert.deepEqual(other, []);
    },
    { token_secret: 'name', secret: 'bearer' },
  );
});

test('S3 Tables is refused behind another address too, before it is asked for the table', async () => {
  await moved(
    () => 'https://s3tables.eu-west-1.amazonaws.com/iceberg',
    async (catalog) => assert.rejects(catalog.currentMetadata(), { name: 'UnsupportedTableError' }),
  );
});

test('a token endpoint that redirects is denied: the secret does not travel', async () => {
  await using other = await httpReplies(() => ({ json: { access_token: 'stolen' } }));
  await using home = await httpReplies(({ path }) =>
    path === '/v1/oauth/tokens' ? { status: 307, headers: { location: `${other.url}/tokens` } } : TABLE,
  );
  const config: RestConfig = { type: 'rest', uri: home.url, token_secret: 'name' };
  const catalog = createRestCatalog('db.t', config, { secrets: { read: async () => 'me:s3cret' } });

  await assert.rejects(catalog.currentMetadata(), { name: 'AccessDeniedError' });
  assert.deepEqual(other.asked, []);
});

for (const [configured, override, base] of [
  ['https://a.example/x/', undefined, 'https://a.example/x'],
  ['https://a.example/x', '', 'https://a.example/x'],
  ['https://a.example', 'https://b.example/y//', 'https://b.example/y'],
  ['http://a.example', 'https://b.example/', 'https://b.example'],
  ['http://a.example:1', 'http://a.example:2/y', 'http://a.example:2/y'],
] as const) {
  test(`asked at ${configured} and told ${JSON.stringify(override)}, ${base} it is`, () => {
    assert.equal(movedBase(configured, override), base);
  });
}

for (const [what, configured, override] of [
  ['a step down from https', 'https://a.example', 'http://a.example'],
  ['another host on http', 'http://a.example', 'http://b.example'],
  ['a relative address', 'https://a.example', '/elsewhere'],
  ['another scheme', 'https://a.example', 'file:///etc/passwd'],
  ['credentials in the address', 'https://a.example', 'https://me:secret@b.example'],
  ['a query', 'https://a.example', 'https://b.example/?a=b'],
] as const) {
  test(`not followed: ${what}`, () => {
    assert.throws(
      () => movedBase(configured, override),
      (error: Error) => error.name === 'MisconfiguredError' && !error.message.includes('secret'),
    );
  });
}
