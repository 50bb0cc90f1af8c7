/** The Glue catalog against a small HTTP server that speaks its JSON protocol. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { GlueClient } from '@aws-sdk/client-glue';
import { createGlueCatalog } from '#shared/catalog/glue.ts';
import type { CatalogConfig } from '#shared/run/resolved-input.ts';
import { httpReplies, type Reply } from '#test/support/http-replies.ts';
import { MemoryStore } from '#test/support/memory-store.ts';
import { PlanWorld } from '#test/support/plan-world.ts';

type GlueConfig = Extract<CatalogConfig, { type: 'glue' }>;
interface Call {
  readonly action: string;
  readonly request: Record<string, unknown>;
}

const LOCATION = 's3://b/wh/t/metadata/00003-x.metadata.json';
const iceberg = (changes: object = {}) => ({
  Name: 't',
  DatabaseName: 'db',
  TableType: 'EXTERNAL_TABLE',
  Parameters: { table_type: 'ICEBERG', metadata_location: LOCATION },
  StorageDescriptor: { Location: 's3://b/wh/t' },
  ...changes,
});

async function withGlue(
  answer: (call: Call) => Reply,
  work: (catalog: ReturnType<typeof createGlueCatalog>, calls: Call[]) => Promise<void>,
  options: { config?: Partial<GlueConfig>; store?: MemoryStore } = {},
): Promise<void> {
  const calls: Call[] = [];
  await using server = await httpReplies(({ headers, body }) => {
    const call = { action: String(headers['x-amz-target']).split('.')[1]!, request: JSON.parse(body) };
    calls.push(call);
    return answer(call);
  });
  const client = new GlueClient({
    region: 'eu-west-1',
    endpoint: server.url,
    credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
    maxAttempts: 1,
  });
  const ports = { tables: options.store ?? new MemoryStore() };
  await work(createGlueCatalog('db.t', { type: 'glue', ...options.config }, ports, client), calls);
  client.destroy();
}

const refusal = (type: string, status = 400): Reply => ({ status, json: { __type: type, message: 'no' } });

test('the pointer is metadata_location, and a look again is one call', async () => {
  await withGlue(
    () => ({ json: { Table: iceberg() } }),
    async (catalog, calls) => {
      const pointer = await catalog.currentMetadata();
      assert.equal(pointer.metadata_location, LOCATION);
      assert.deepEqual(calls[0], { action: 'GetTable', request: { CatalogId: '123', DatabaseName: 'db', Name: 't' } });
      assert.equal(await catalog.reread(pointer), pointer);
      assert.equal(calls.length, 2);
    },
    { config: { catalog_id: '123' } },
  );
});

test('a resource link is followed to the account that owns the table', async () => {
  const link = {
    Name: 't',
    DatabaseName: 'db',
    TargetTable: { CatalogId: '999', DatabaseName: 'lake', Name: 'orders' },
  };
  await withGlue(
    ({ request }) => ({ json: { Table: request['CatalogId'] === '999' ? iceberg() : link } }),
    async (catalog, calls) => {
      assert.equal((await catalog.currentMetadata()).metadata_location, LOCATION);
      assert.deepEqual(calls[1]!.request, { CatalogId: '999', DatabaseName: 'lake', Name: 'orders' });
    },
  );
});

test('the table behind a link is not another table', async () => {
  const link = { Name: 't', DatabaseName: 'db', TargetTable: { DatabaseName: 'lake', Name: 'orders' } };
  const orders = iceberg({ Name: 'orders', DatabaseName: 'lake' });
  const answer = ({ action, request }: Call): Reply => {
    if (action === 'GetTable') return { json: { Table: request['Name'] === 'orders' ? orders : link } };
    if (action === 'GetDatabases') return { json: { DatabaseList: [{ Name: 'lake' }] } };
    return { json: { TableList: [orders] } };
  };
  await withGlue(answer, async (catalog) => {
    await catalog.currentMetadata();
    assert.deepEqual(await catalog.otherTables!({ deep: false }), []);
  });
});

for (const [what, table] of [
  ['a view', iceberg({ TableType: 'VIRTUAL_VIEW' })],
  ['a table of S3 Tables', iceberg({ FederatedTable: { Identifier: 'x' } })],
  ['a catalog of S3 Tables', iceberg({ CatalogId: '1:s3tablescatalog/x' })],
  ['a Hive table', iceberg({ Parameters: {} })],
] as const) {
  test(`${what} is refused by name`, async () => {
    await withGlue(
      () => ({ json: { Table: table } }),
      async (catalog) => {
        await assert.rejects(catalog.currentMetadata(), { name: 'UnsupportedTableError' });
      },
    );
  });
}

test('FF-09 gc.enabled=false among the parameters refuses', async () => {
  const Parameters = { table_type: 'iceberg', metadata_location: LOCATION, 'gc.enabled': 'False' };
  await withGlue(
    () => ({ json: { Table: iceberg({ Parameters }) } }),
    async (catalog) => {
      await assert.rejects(catalog.currentMetadata(), { name: 'GcDisabledError' });
    },
  );
});

for (const [type, status, name] of [
  ['EntityNotFoundException', 400, 'TableNotFoundError'],
  ['AccessDeniedException', 400, 'AccessDeniedError'],
  ['UnrecognizedClientException', 400, 'AccessDeniedError'],
  ['ThrottlingException', 400, 'ServiceUnavailableError'],
  ['InternalServiceException', 500, 'ServiceUnavailableError'],
  ['InvalidInputException', 400, 'MetadataUnreadableError'],
] as const) {
  test(`FF-13 ${type} is ${name}, never an empty table`, async () => {
    await withGlue(
      () => refusal(type, status),
      async (catalog) => {
        await assert.rejects(catalog.currentMetadata(), { name });
      },
    );
  });
}

const databases: Reply = { json: { DatabaseList: [{ Name: 'db' }, { Name: 'lake' }] } };

test('the other tables of all databases are compared, Hive tables too, links and views by what they own', async () => {
  const world = new PlanWorld();
  const other = await world.table({ location: 's3://b/wh/u', properties: { 'write.data.path': 's3://b/shared' } });
  const u = iceberg({
    Name: 'u',
    StorageDescriptor: { Location: 's3://b/wh/u' },
    Parameters: { table_type: 'ICEBERG', metadata_location: other.metadataFile!.recorded },
  });
  const hive = { Name: 'h', DatabaseName: 'lake', StorageDescriptor: { Location: 's3://b/hive/h' } };
  const link = { Name: 'l', DatabaseName: 'lake', TargetTable: { Name: 'x', DatabaseName: 'y' } };
  const answer = ({ action, request }: Call): Reply => {
    if (action === 'GetDatabases') return databases;
    return { json: { TableList: request['DatabaseName'] === 'db' ? [iceberg(), u] : [hive, link] } };
  };
  await withGlue(
    answer,
    async (catalog) => {
      const shallow = await catalog.otherTables!({ deep: false });
      assert.deepEqual(shallow, [
        { table: 'db.u', roots: ['s3://b/wh/u'], complete: false },
        { table: 'lake.h', roots: ['s3://b/hive/h'], complete: true },
      ]);
      const deep = await catalog.otherTables!({ deep: true });
      assert.deepEqual(deep![0], { table: 'db.u', roots: ['s3://b/wh/u', 's3://b/shared'], complete: true });
    },
    { store: world.store },
  );
});

test('no page of databases or tables is left out, also an empty one in between', async () => {
  const named = (database: string, name: string) => ({ Name: name, DatabaseName: database });
  const pages: Readonly<Record<string, Reply>> = {
    GetDatabases: { json: { DatabaseList: [{ Name: 'a' }], NextToken: 'db-2' } },
    'GetDatabases db-2': { json: { DatabaseList: [{ Name: 'c' }] } },
    'GetTables a': { json: { TableList: [named('a', 't1')], NextToken: 'a-2' } },
    'GetTables a a-2': { json: { TableList: [], NextToken: 'a-3' } },
    'GetTables a a-3': { json: { TableList: [named('a', 't2')] } },
    'GetTables c': { json: { TableList: [named('c', 't3')] } },
  };
  const answer = ({ action, request }: Call): Reply =>
    pages[[action, request['DatabaseName'], request['NextToken']].filter(Boolean).join(' ')] ?? refusal('NoSuchPage');
  await withGlue(answer, async (catalog, calls) => {
    const others = await catalog.otherTables!({ deep: false });
    assert.deepEqual(
      others?.map(({ table }) => table),
      ['a.t1', 'a.t2', 'c.t3'],
    );
    assert.equal(calls.length, Object.keys(pages).length);
  });
});

test('RE-13 a table whose metadata cannot be read proves nothing', async () => {
  const u = iceberg({ Name: 'u', StorageDescriptor: { Location: 's3://b/wh/u' } });
  await withGlue(
    ({ action }) =>
      action === 'GetDatabases' ? { json: { DatabaseList: [{ Name: 'db' }] } } : { json: { TableList: [u] } },
    async (catalog) => {
      assert.deepEqual(await catalog.otherTables!({ deep: true }), [
        { table: 'db.u', roots: ['s3://b/wh/u'], complete: false },
      ]);
    },
  );
});

test('where listing is denied the answer is undefined; where it fails the run does', async () => {
  await withGlue(
    () => refusal('AccessDeniedException'),
    async (catalog) => {
      assert.equal(await catalog.otherTables!({ deep: false }), undefined);
    },
  );
  await withGlue(
    () => refusal('ThrottlingException'),
    async (catalog) => {
      await assert.rejects(catalog.otherTables!({ deep: false }), { name: 'ServiceUnavailableError' });
    },
  );
});
