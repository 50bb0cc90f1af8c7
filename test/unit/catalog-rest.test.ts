/** REST catalogs against a small HTTP server: what is taken from the answer, what in it refuses, and what each status means. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { createRestCatalog } from '#shared/catalog/rest.ts';
import type { CatalogConfig } from '#shared/run/resolved-input.ts';
import { type Asked, httpReplies, type Reply } from '#test/support/http-replies.ts';

type RestConfig = Extract<CatalogConfig, { type: 'rest' }>;

const UUID = '9c12d441-03fe-4693-9a96-a0705ddf69c1';
const LOCATION = 's3://b/wh/t/metadata/00003-x.metadata.json';
const metadata = (changes: object = {}) => ({
  'format-version': 2,
  'table-uuid': UUID,
  location: 's3://b/wh/t',
  'last-sequence-number': 3,
  'last-updated-ms': 1_700_000_000_000,
  properties: {},
  ...changes,
});

interface World {
  readonly config?: object;
  readonly table?: Reply;
  readonly rest?: (asked: Asked) => Reply | undefined;
  readonly settings?: Partial<RestConfig>;
  readonly secret?: string;
}

async function withCatalog(
  world: World,
  work: (catalog: ReturnType<typeof createRestCatalog>, asked: Asked[]) => Promise<void>,
): Promise<void> {
  await using server = await httpReplies((asked) => {
    const own = world.rest?.(asked);
    if (own !== undefined) return own;
    if (asked.path.startsWith('/v1/config')) return { json: { defaults: {}, overrides: {}, ...world.config } };
    return world.table ?? { json: { 'metadata-location': LOCATION, metadata: metadata(), config: {} } };
  });
  const config: RestConfig = { type: 'rest', uri: server.url, ...world.settings };
  const secrets = { read: async (name: string) => (name === 'catalog-token' ? (world.secret ?? '') : '') };
  await work(createRestCatalog('db.t', config, { secrets }), server.asked);
}

function rejects(world: World, name: string, pattern: RegExp): Promise<void> {
  return withCatalog(world, async (catalog) => {
    await assert.rejects(catalog.currentMetadata(), (error: Error) => {
      assert.equal(error.name, name, error.message);
      assert.match(error.message, pattern);
      return true;
    });
  });
}

test('the pointer is the metadata-location, with what the catalog claims beside it', async () => {
  await withCatalog({}, async (catalog, asked) => {
    const pointer = await catalog.currentMetadata();
    assert.equal(pointer.metadata_location, LOCATION);
    assert.deepEqual(pointer.claims, {
      table_uuid: UUID,
      last_sequence_number: 3,
      last_updated_ms: 1_700_000_000_000,
      gc_enabled: [],
    });
    assert.match(asked.at(-1)!.path, /^\/v1\/namespaces\/db\/tables\/t\?snapshots=all/);
  });
});

test('a look again is one call, and answers the same pointer while nothing moved', async () => {
  let location = LOCATION;
  const rest = ({ path }: Asked): Reply | undefined =>
    path.includes('/tables/') ? { json: { 'metadata-location': location, metadata: metadata() } } : undefined;
  await withCatalog({ rest }, async (catalog, asked) => {
    const pointer = await catalog.currentMetadata();
    asked.length = 0;
    assert.equal(await catalog.reread(pointer), pointer);
    assert.equal(asked.length, 1);
    location = 's3://b/wh/t/metadata/00004-y.metadata.json';
    assert.equal((await catalog.reread(pointer)).metadata_location, location);
  });
});

test('CA-04 a catalog with many heads is refused, told by its config or by the table', async () => {
  await rejects(
    { config: { overrides: { 'nessie.default-branch.name': 'main' } } },
    'UnsupportedTableError',
    /several current/,
  );
  await rejects(
    {
      table: {
        json: { 'metadata-location': LOCATION, metadata: metadata({ properties: { 'nessie.commit.id': 'x' } }) },
      },
    },
    'UnsupportedTableError',
    /several current/,
  );
});

for (const place of ['config', 'defaults', 'overrides', 'properties']) {
  const settingsIn = (setting: object): World => ({
    config: { [place]: setting },
    table: {
      json: {
        'metadata-location': LOCATION,
        metadata: metadata(place === 'properties' ? { properties: setting } : {}),
        config: place === 'config' ? setting : {},
      },
    },
  });
  test(`FF-13 s3.delete-enabled=false in ${place} refuses`, async () => {
    await rejects(settingsIn({ 's3.delete-enabled': 'False' }), 'UnsupportedTableError', /s3\.delete-enabled=false/);
  });
  test(`FF-09 gc.enabled=false in ${place} refuses`, async () => {
    await rejects(settingsIn({ 'gc.enabled': 'FALSE' }), 'GcDisabledError', /GC is disabled/);
  });
}

test('S3 Tables is refused before any call', async () => {
  const config: RestConfig = { type: 'rest', uri: 'https://s3tables.eu-west-1.amazonaws.com/iceberg' };
  const catalog = createRestCatalog('db.t', config, { secrets: { read: async () => '' } });
  await assert.rejects(catalog.currentMetadata(), { name: 'UnsupportedTableError' });
});

const named = { error: { message: 'no', type: 'SomeException', code: 0 } };
for (const [status, name] of [
  [401, 'AccessDeniedError'],
  [403, 'AccessDeniedError'],
  [404, 'TableNotFoundError'],
  [419, 'AccessDeniedError'],
  [429, 'ServiceUnavailableError'],
  [503, 'ServiceUnavailableError'],
  [500, 'ServiceUnavailableError'],
  [400, 'MetadataUnreadableError'],
] as const) {
  test(`FF-13 status ${status} is ${name}, never an empty table`, async () => {
    await rejects({ table: { status, json: named } }, name, /db\.t/);
  });
}

for (const [status, name] of [
  [401, 'AccessDeniedError'],
  [403, 'AccessDeniedError'],
  [404, 'TableNotFoundError'],
  [419, 'AccessDeniedError'],
  [503, 'ServiceUnavailableError'],
] as const) {
  test(`FF-13 status ${status} of the configuration is ${name} as well`, async () => {
    const rest = ({ path }: Asked) => (path.startsWith('/v1/config') ? { status, json: named } : undefined);
    await rejects({ rest }, name, /db\.t/);
  });
}

test('a catalog that cannot be reached is a passing fault', async () => {
  const config: RestConfig = { type: 'rest', uri: 'http://127.0.0.1:1' };
  const catalog = createRestCatalog('db.t', config, { secrets: { read: async () => '' } });
  await assert.rejects(catalog.currentMetadata(), { name: 'ServiceUnavailableError' });
});

test('an answer without a metadata-location, or without metadata, is unreadable', async () => {
  await rejects({ table: { json: { metadata: metadata() } } }, 'MetadataUnreadableError', /no metadata-location/);
  await rejects({ table: { json: { 'metadata-location': LOCATION } } }, 'MetadataUnreadableError', /no metadata/);
});

test('a bearer token comes from the secret, never from the settings', async () => {
  await withCatalog({ settings: { token_secret: 'catalog-token' }, secret: 'abc\n' }, async (catalog, asked) => {
    await catalog.currentMetadata();
    assert.equal(asked.at(-1)!.headers.authorization, 'Bearer abc');
  });
});

test('client credentials are exchanged for a token, and again once after it was refused', async () => {
  let tokens = 0;
  const rest = ({ path, headers }: Asked): Reply | undefined => {
    if (path === '/v1/oauth/tokens') {
      tokens += 1;
      return { json: { access_token: `t${tokens}` } };
    }
    return headers.authorization === 'Bearer t2' ? undefined : { status: 401, json: named };
  };
  await withCatalog(
    { rest, settings: { token_secret: 'catalog-token', scope: 'sweep' }, secret: 'me:s3cret' },
    async (catalog, asked) => {
      assert.equal((await catalog.currentMetadata()).metadata_location, LOCATION);
      assert.equal(tokens, 2);
      const form = new URLSearchParams(asked.find(({ path }) => path === '/v1/oauth/tokens')!.body);
      assert.deepEqual(Object.fromEntries(form), {
        grant_type: 'client_credentials',
        client_id: 'me',
        client_secret: 's3cret',
        scope: 'sweep',
      });
    },
  );
});

test('a token that expired (419) is renewed once as well', async () => {
  let tokens = 0;
  const rest = ({ path, headers }: Asked): Reply | undefined => {
    if (path === '/v1/oauth/tokens') return { json: { access_token: `t${++tokens}` } };
    return headers.authorization === 'Bearer t1' ? { status: 419, json: named } : undefined;
  };
  await withCatalog({ rest, settings: { token_secret: 'catalog-token' }, secret: 'me:s3cret' }, async (catalog) => {
    assert.equal((await catalog.currentMetadata()).metadata_location, LOCATION);
    assert.equal(tokens, 2);
  });
});

test('refused credentials are denied, and the secret is not in the message', async () => {
  const rest = ({ path }: Asked): Reply | undefined =>
    path === '/v1/oauth/tokens' ? { status: 400, json: { error: 'invalid_client' } } : undefined;
  await withCatalog({ rest, settings: { token_secret: 'catalog-token' }, secret: 'me:s3cret' }, async (catalog) => {
    await assert.rejects(catalog.currentMetadata(), (error: Error) => {
      assert.equal(error.name, 'AccessDeniedError');
      assert.ok(!error.message.includes('s3cret'));
      return true;
    });
  });
});

test('warehouse and prefix choose the paths', async () => {
  await withCatalog({ settings: { warehouse: 'w1', prefix: 'p1' } }, async (catalog, asked) => {
    await catalog.currentMetadata();
    assert.match(asked[0]!.path, /warehouse=w1/);
    assert.match(asked.at(-1)!.path, /^\/v1\/p1\/namespaces\/db\/tables\/t/);
  });
});

test('the prefix is what the config answer says, and none where it says none', async () => {
  await withCatalog({ config: { overrides: { prefix: 'p2' } } }, async (catalog, asked) => {
    await catalog.currentMetadata();
    assert.match(asked.at(-1)!.path, /^\/v1\/p2\/namespaces\//);
  });
  await withCatalog({ settings: { warehouse: 'w1' } }, async (catalog, asked) => {
    await catalog.currentMetadata();
    assert.match(asked.at(-1)!.path, /^\/v1\/namespaces\//);
  });
});

test('a prefix that the catalog insists on wins over the configured one, which wins over a suggested one', async () => {
  const settings = { prefix: 'mine' };
  await withCatalog({ settings, config: { overrides: { prefix: 'theirs' } } }, async (catalog, asked) => {
    await catalog.currentMetadata();
    assert.match(asked.at(-1)!.path, /^\/v1\/theirs\/namespaces\//);
  });
  await withCatalog({ settings, config: { defaults: { prefix: 'theirs' } } }, async (catalog, asked) => {
    await catalog.currentMetadata();
    assert.match(asked.at(-1)!.path, /^\/v1\/mine\/namespaces\//);
  });
});

function listing({ path }: Asked): Reply | undefined {
  const url = new URL(path, 'http://x');
  if (url.pathname === '/v1/namespaces') {
    if (url.searchParams.has('parent')) return { json: { namespaces: [] } };
    return url.searchParams.get('pageToken') === 'n2'
      ? { json: { namespaces: [['other']] } }
      : { json: { namespaces: [['db']], 'next-page-token': 'n2' } };
  }
  const tables: Record<string, string[]> = {
    '/v1/namespaces/db/tables': ['t', 'u'],
    '/v1/namespaces/other/tables': ['gone', 'v'],
  };
  const names = tables[url.pathname];
  if (names !== undefined) {
    const namespace = url.pathname.split('/')[3]!;
    return { json: { identifiers: names.map((name) => ({ namespace: [namespace], name })) } };
  }
  if (url.pathname.endsWith('/tables/gone')) return { status: 404, json: named };
  if (url.pathname.endsWith('/tables/v')) return { status: 403, json: named };
  if (!url.pathname.endsWith('/tables/u')) return undefined;
  const u = metadata({ location: 's3://b/wh/u', properties: { 'write.data.path': 's3://b/shared' } });
  return { json: { 'metadata-location': 's3://b/wh/u/m.json', metadata: u } };
}

test('RE-13 the other tables of all namespaces are told by location and path properties', async () => {
  await withCatalog({ rest: listing }, async (catalog) => {
    assert.deepEqual(await catalog.otherTables!({ deep: true }), [
      { table: 'db.u', roots: ['s3://b/wh/u', 's3://b/shared'], complete: true },
      { table: 'other.v', roots: [], complete: false },
    ]);
  });
});

test('a catalog that does not let its tables be listed says undefined; one that fails does not', async () => {
  const only = (status: number) => ({
    rest: ({ path }: Asked) => (path.startsWith('/v1/namespaces') ? { status, json: named } : undefined),
  });
  await withCatalog(only(403), async (catalog) => {
    assert.equal(await catalog.otherTables!({ deep: false }), undefined);
  });
  await withCatalog(only(503), async (catalog) => {
    await assert.rejects(catalog.otherTables!({ deep: false }), { name: 'ServiceUnavailableError' });
  });
});
