/**
 * The Glue catalog against moto's Glue, which is another server's reading of the protocol than our own tests':
 * `MOTO_ENDPOINT=http://127.0.0.1:5055 node --test test/e2e/glue-moto.test.ts`. With `moto_old_clock.py` the plan finds the
 * orphans; with the true time it keeps them all as too young. Databases and buckets are made and left behind.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import {
  CreateDatabaseCommand,
  CreateTableCommand,
  GlueClient,
  type TableInput,
  UpdateTableCommand,
} from '@aws-sdk/client-glue';
import { CreateBucketCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { createGlueCatalog } from '#shared/catalog/glue.ts';
import type { RunRecord } from '#shared/run/record.ts';
import { createS3Client } from '#shared/storage/s3-client.ts';
import { S3Store } from '#shared/storage/s3-store.ts';
import { type CliResult, runCli } from '#test/support/cli-world.ts';
import { TableWriter } from '#test/support/table-writer.ts';

const endpoint = process.env['MOTO_ENDPOINT'];
const DAY_MS = 86_400_000;
const REGION = 'eu-west-1';
const KEYS = { accessKeyId: 'test', secretAccessKey: 'test' };
/** The account that moto gives to keys that it does not know. */
const ACCOUNT = '123456789012';

const location = (table: string, at: string): TableInput => ({ Name: table, StorageDescriptor: { Location: at } });

class Lake {
  readonly id = Date.now().toString(36);
  readonly bucket = `icesweep-glue-${this.id}`;
  readonly database = `sales_${this.id}`;
  readonly table = `${this.database}.orders`;
  readonly folder = mkdtempSync(join(tmpdir(), 'icesweep-glue-'));
  readonly s3 = createS3Client({ endpoint: endpoint as string, region: REGION, credentials: KEYS });
  readonly glue = new GlueClient({ endpoint: endpoint as string, region: REGION, credentials: KEYS });
  readonly writer: TableWriter;
  /** Of the newest metadata file. */
  pointer = '';

  constructor() {
    const put = (Bucket: string, Key: string, Body: Uint8Array): Promise<unknown> => {
      if (Key.endsWith('.metadata.json')) this.pointer = `s3://${Bucket}/${Key}`;
      return this.s3.send(new PutObjectCommand({ Bucket, Key, Body }));
    };
    this.writer = new TableWriter({ put }, { location: this.at('orders'), startMs: Date.now() - 2 * DAY_MS });
  }

  at(path: string): string {
    return `s3://${this.bucket}/sales/${path}`;
  }

  async add(database: string, table: TableInput): Promise<void> {
    await this.glue.send(new CreateTableCommand({ DatabaseName: database, TableInput: table }));
  }

  orders(changes: TableInput['Parameters'] = {}): TableInput {
    const Parameters = { table_type: 'ICEBERG', metadata_location: this.pointer, ...changes };
    return { ...location('orders', this.at('orders')), TableType: 'EXTERNAL_TABLE', Parameters };
  }

  async write(): Promise<void> {
    await this.s3.send(
      new CreateBucketCommand({ Bucket: this.bucket, CreateBucketConfiguration: { LocationConstraint: REGION } }),
    );
    await this.writer.create();
    await this.writer.append(4);
    await this.writer.plantOrphans();
    await this.glue.send(new CreateDatabaseCommand({ DatabaseInput: { Name: this.database } }));
    await this.add(this.database, this.orders());
  }

  catalog(table: string, catalogId?: string) {
    const config = { type: 'glue', ...(catalogId === undefined ? {} : { catalog_id: catalogId }) } as const;
    return createGlueCatalog(table, config, { tables: new S3Store(this.s3, this.s3) }, this.glue);
  }

  plan(table: string, ...flags: readonly string[]): Promise<CliResult> {
    const args = ['plan', table, '--catalog', 'glue', '--max-orphan-percent', '100', '--output', 'json', ...flags];
    const env = {
      ...process.env,
      AWS_ACCESS_KEY_ID: KEYS.accessKeyId,
      AWS_SECRET_ACCESS_KEY: KEYS.secretAccessKey,
      AWS_REGION: REGION,
      AWS_ENDPOINT_URL_GLUE: endpoint,
      AWS_ENDPOINT_URL_S3: endpoint,
    };
    return runCli([...args, '--region', REGION, '--state', join(this.folder, 'state'), '--quiet'], this.folder, {
      env,
    });
  }
}

describe('the Glue catalog against moto', { skip: endpoint === undefined && 'MOTO_ENDPOINT is not set' }, () => {
  let lake: Lake;
  before(async () => {
    lake = new Lake();
    await lake.write();
  });
  after(() => rmSync(lake.folder, { recursive: true, force: true }));

  test('the pointer is the metadata_location, and a moved one is seen', async () => {
    const catalog = lake.catalog(lake.table);
    const first = await catalog.currentMetadata();
    assert.equal(first.metadata_location, lake.pointer);
    assert.equal(await catalog.reread(first), first);

    await lake.writer.append(1);
    await lake.glue.send(new UpdateTableCommand({ DatabaseName: lake.database, TableInput: lake.orders() }));
    assert.equal((await catalog.reread(first)).metadata_location, lake.pointer);
    assert.notEqual(first.metadata_location, lake.pointer);
  });

  test('a table or a database that is not there is TableNotFoundError', async () => {
    for (const name of [`${lake.database}.none`, 'none.orders'])
      await assert.rejects(lake.catalog(name).currentMetadata(), { name: 'TableNotFoundError' });
  });

  test('views, tables of other formats and entries without a pointer are refused by name', async () => {
    const others: readonly (readonly [string, TableInput, string])[] = [
      ['a_view', { Name: 'a_view', TableType: 'VIRTUAL_VIEW' }, 'UnsupportedTableError'],
      ['iceberg_view', { Name: 'iceberg_view', Parameters: { table_type: 'ICEBERG-VIEW' } }, 'UnsupportedTableError'],
      ['plain', { ...location('plain', lake.at('plain')), TableType: 'EXTERNAL_TABLE' }, 'UnsupportedTableError'],
      [
        'lost',
        { ...location('lost', lake.at('lost')), Parameters: { table_type: 'iceberg' } },
        'MetadataUnreadableError',
      ],
      ['kept', { ...lake.orders({ 'gc.enabled': 'false' }), Name: 'kept', StorageDescriptor: {} }, 'GcDisabledError'],
    ];
    const database = `others_${lake.id}`;
    await lake.glue.send(new CreateDatabaseCommand({ DatabaseInput: { Name: database } }));
    for (const [name, input, error] of others) {
      await lake.add(database, input);
      await assert.rejects(lake.catalog(`${database}.${name}`).currentMetadata(), { name: error }, name);
    }
  });

  test('the catalog of an account is asked by its id', async () => {
    assert.equal((await lake.catalog(lake.table, ACCOUNT).currentMetadata()).metadata_location, lake.pointer);
  });

  test('every table of every database is listed, with its roots, and not the table itself', async () => {
    const many = `many_${lake.id}`;
    await lake.glue.send(new CreateDatabaseCommand({ DatabaseInput: { Name: many } }));
    const names = Array.from({ length: 20 }, (_, at) => `t${String(at).padStart(3, '0')}`);
    for (const name of names) await lake.add(many, location(name, lake.at(`many/${name}`)));

    const others = await lake.catalog(lake.table).otherTables?.({ deep: true });
    const found = (others ?? []).filter(({ table }) => table.startsWith(`${many}.`));
    assert.deepEqual(
      found.map(({ table }) => table).sort(),
      names.map((name) => `${many}.${name}`),
    );
    assert.deepEqual(found[7]?.roots, [lake.at(`many/${found[7]?.table.split('.')[1]}`)]);
    assert.ok(!(others ?? []).some(({ table }) => table === lake.table));
  });

  test('a whole plan finds the table through Glue, and what no metadata names', async () => {
    const { code, out, err } = await lake.plan(lake.table);
    assert.equal(code, 0, err);
    const record = JSON.parse(out) as RunRecord;
    const orphans = lake.writer.unreferenced().size;

    assert.equal(record.metadata_location, lake.pointer);
    assert.ok(record.tables_compared !== null && record.tables_compared > 20);
    assert.ok([record.orphan_files_count, record.kept.young].includes(orphans), out);
  });

  test('a table that Glue does not know, and one that lies in another, end by name', async () => {
    const absent = await lake.plan(`${lake.database}.none`);
    await lake.add(lake.database, location('inside', lake.at('orders/data/inside')));
    const inside = await lake.plan(lake.table);

    assert.deepEqual([absent.code, (JSON.parse(absent.out) as RunRecord).error], [1, 'TableNotFoundError']);
    assert.deepEqual([inside.code, (JSON.parse(inside.out) as RunRecord).error], [3, 'LocationConflictError']);
    assert.match(inside.err, new RegExp(`${lake.database}.inside keeps files at`));
  });
});
