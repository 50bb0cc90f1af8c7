import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { z } from 'zod';
import { writeSchemas } from '#infra/schemas.ts';
import { tablesFileSchema } from '#infra/tables-file.ts';
import { inputSchema } from '#shared/run/input-schema.ts';

const README = readFileSync(join(import.meta.dirname, '../../README.md'), 'utf8');

interface Properties {
  readonly [name: string]: { readonly description?: string; readonly default?: unknown };
}

describe('the published JSON Schemas', () => {
  let folder = '';
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'icesweep-schemas-'));
    writeSchemas(folder);
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  const published = (name: string) => JSON.parse(readFileSync(join(folder, name), 'utf8'));
  /** Reads the file alone, as an editor does. */
  const takes = (name: string, value: unknown): boolean => z.fromJSONSchema(published(name)).safeParse(value).success;

  const inputs: readonly (readonly [unknown, boolean])[] = [
    [{ table: 'analytics.orders' }, true],
    [{ table: 'a.b', older_than: '3d', exclude: ['x/*'], max_orphan_percent: 0, delete_batch_size: 1000 }, true],
    [{ table: 'a.b', catalog: { type: 'rest', uri: 'https://c/x' }, equal_schemes: { 's3a,s3n': 's3' } }, true],
    [{ table: 'a.b', path_aliases: { 'hdfs://nn/wh': 'S3A://lake/wh' }, max_plan_age: 'P7D' }, true],
    [
      { table: 'a.b', scheduled_time: '2026-01-31T00:00:00Z', table_uuid: '9c12d441-03fe-4693-9a96-a0705ddf69c1' },
      true,
    ],
    [{}, false],
    [{ table: ' ' }, false],
    [{ table: 'a.b', retention_threshold: '7d' }, false],
    [{ table: 'a.b', older_than: 3 }, false],
    [{ table: 'a.b', max_orphan_percent: 101 }, false],
    [{ table: 'a.b', delete_batch_size: 0 }, false],
    [{ table: 'a.b', max_writer_lag: '30' }, false],
    [{ table: 'a.b', catalog: { type: 'hive' } }, false],
    [{ table: 'a.b', path_aliases: { 'hdfs://nn/wh': '/local' } }, false],
    [{ table: 'a.b', override: 'abc' }, false],
  ];
  for (const [input, valid] of inputs) {
    test(`the input ${JSON.stringify(input)} is ${valid ? 'taken' : 'refused'} by schema and parser alike`, () => {
      assert.equal(takes('input.schema.json', input), valid);
      assert.equal(inputSchema.safeParse(input).success, valid);
    });
  }

  const entry = { table: 'analytics.orders', schedule: 'cron(0 3 * * ? *)', timezone: 'Europe/Berlin' };
  const files: readonly (readonly [unknown, boolean])[] = [
    [{ tables: [] }, true],
    [{ $schema: './node_modules/icesweep/dist/schemas/tables-file.schema.json', tables: [entry] }, true],
    [
      { tables: [{ ...entry, older_than: '7d', owned_roots: ['s3://lake/out/'], table_location: 's3://lake/o/' }] },
      true,
    ],
    [{ tables: [{ ...entry, schedule: 'often' }] }, false],
    [{ tables: [{ schedule: 'rate(1 day)' }] }, false],
    [{ tables: [{ ...entry, catalog: { type: 'glue' } }] }, false],
    [{ tables: entry }, false],
    [{ table: [entry] }, false],
  ];
  for (const [file, valid] of files) {
    test(`the tables file ${JSON.stringify(file)} is ${valid ? 'taken' : 'refused'} by schema and parser alike`, () => {
      assert.equal(takes('tables-file.schema.json', file), valid);
      assert.equal(tablesFileSchema.safeParse(file).success, valid);
    });
  }

  test('every example of the README is taken', () => {
    const examples = [...README.matchAll(/`(\{"table":[^`]*\})`/g)].map(([, text]) => text as string);
    const tables = [...README.matchAll(/```json\n([^`]*"tables"[^`]*)```/g)].map(([, text]) => text as string);
    assert.ok(examples.length >= 2 && tables.length >= 1);

    for (const text of examples) assert.ok(takes('input.schema.json', JSON.parse(text)), text);
    for (const text of tables) assert.ok(takes('tables-file.schema.json', JSON.parse(text)), text);
  });

  test('every setting has its words, and the built-in values are there', () => {
    const input = published('input.schema.json').properties as Properties;
    const table = published('tables-file.schema.json').properties.tables.items.properties as Properties;

    for (const [name, property] of [...Object.entries(input), ...Object.entries(table)])
      assert.ok((property.description ?? '').length > 5, name);
    assert.deepEqual([input['older_than']?.default, table['max_orphan_percent']?.default], ['P3D', 20]);
    assert.equal(input['max_orphan_files']?.default, undefined);
  });
});
