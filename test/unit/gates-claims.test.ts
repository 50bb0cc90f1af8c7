import assert from 'node:assert/strict';
import test from 'node:test';
import { parseTableMetadata } from '#shared/iceberg/metadata-json.ts';
import { gateCatalogAgrees, gateGcEnabled } from '#shared/run/gates-table.ts';

const META = parseTableMetadata(
  Buffer.from(
    JSON.stringify({
      'format-version': 2,
      'table-uuid': '9C12D441-03fe-4693-9a96-a0705ddf69c1',
      location: 's3://b/wh/t',
      'last-sequence-number': 7,
      'last-updated-ms': 1_700_000_000_000,
    }),
  ),
  's3://b/wh/t/metadata/v1.metadata.json',
);
const none = { gc_enabled: [] };

test('a catalog that says nothing, or what the file says, agrees with it', () => {
  for (const claims of [
    none,
    { ...none, table_uuid: '9c12d441-03FE-4693-9a96-a0705ddf69c1' },
    { ...none, last_sequence_number: 7, last_updated_ms: 1_700_000_000_000 },
  ]) {
    assert.equal(gateCatalogAgrees(META, claims).passed, true);
  }
});

test('a catalog that says another uuid, sequence number or time than the file refuses', () => {
  for (const [claims, message] of [
    [{ table_uuid: '11111111-2222-4333-8444-555555555555' }, /table-uuid is 1111/],
    [{ last_sequence_number: 8 }, /last-sequence-number is 8 in the catalog and 7 in the file/],
    [{ last_updated_ms: 1_700_000_000_001 }, /last-updated-ms/],
  ] as const) {
    assert.throws(() => gateCatalogAgrees(META, { ...none, ...claims }), { name: 'UnsupportedTableError', message });
  }
});

test('gc.enabled of the catalog counts like that of the file', () => {
  for (const value of ['true', ' TRUE ']) assert.equal(gateGcEnabled(META, { gc_enabled: [value] }).passed, true);
  for (const value of ['false', '', 'yes']) {
    assert.throws(() => gateGcEnabled(META, { gc_enabled: ['true', value] }), { name: 'GcDisabledError' });
  }
});
