import assert from 'node:assert/strict';
import test from 'node:test';
import { openAvroFile } from '#shared/iceberg/avro-container.ts';
import { forEachEntry, type ManifestExpectations, readManifest } from '#shared/iceberg/manifest.ts';
import { readManifestList } from '#shared/iceberg/manifest-list.ts';
import { snappyDecompress } from '#shared/iceberg/snappy.ts';
import { snappyCompress, writeAvroFile, zigzag } from '#test/support/table-writer-avro.ts';
import { encodeManifest, encodeManifestList, type ManifestOptions } from '#test/support/table-writer-manifests.ts';
import type { WrittenEntry, WrittenManifest } from '#test/support/table-writer-model.ts';
import { manifestSchema } from '#test/support/table-writer-schemas.ts';

const SNAPSHOT_ID = 5184430069070270604n;
const unreadable = { name: 'MetadataUnreadableError' };

const file = (path: string) => ({ bucket: 'b', key: path, recorded: `s3://b/wh/t/${path}` });

function entry(path: string, changes: Partial<WrittenEntry> = {}): WrittenEntry {
  return { status: 1, content: 0, file: file(path), format: 'PARQUET', bytes: 10, partition: ['p'], ...changes };
}

const ten = Array.from({ length: 10 }, (_, index) => entry(`data/${index}.parquet`));

function manifest(
  entries: readonly WrittenEntry[],
  options: Partial<ManifestOptions> = {},
  partitionNames = ['p'],
): Buffer {
  const content = {
    snapshotId: SNAPSHOT_ID,
    sequenceNumber: 1,
    partitionNames,
    specId: 0,
    content: 0 as const,
    entries,
  };
  return encodeManifest(content, { formatVersion: 2, codec: 'deflate', style: {}, bareHeaders: false, ...options });
}

/** Both readers, which must agree in everything. */
function entriesOf(bytes: Uint8Array, expectations: ManifestExpectations = {}): string[] {
  const seen: string[] = [];
  forEachEntry(bytes, 'm', expectations, (status, content, path, referenced) => {
    seen.push([status, content, path.view(), referenced.view()].join(' ').trim());
  });
  const projected = Array.from(readManifest(bytes, 'm', expectations), (item) =>
    [item.status, item.content, item.filePath, item.referencedDataFile ?? ''].join(' ').trim(),
  );
  assert.deepEqual(projected, seen);
  return seen;
}

/** Both readers fail. */
function assertUnreadable(bytes: Uint8Array, expectations: ManifestExpectations = {}): void {
  assert.throws(() => forEachEntry(bytes, 'm', expectations, () => {}), unreadable);
  assert.throws(() => [...readManifest(bytes, 'm', expectations)], unreadable);
}

const paths = ten.map((item) => `1 0 ${item.file.recorded}`);

test('the four codecs give the same ten paths, others fail (AV-04)', () => {
  for (const codec of ['null', 'deflate', 'snappy', 'zstandard'] as const) {
    assert.deepEqual(entriesOf(manifest(ten, { codec })), paths);
  }
  const xz = Buffer.from(manifest(ten, { codec: 'null' }));
  xz.write('nulx', xz.indexOf('null', xz.indexOf('avro.codec')));
  assertUnreadable(xz);
});

test('snapshot ids over 2^53 are passed over (AV-02)', () => assert.deepEqual(entriesOf(manifest(ten)), paths));

test('a v1 manifest has no content and is data, also in a v2 table (AV-07)', () => {
  assert.deepEqual(entriesOf(manifest(ten, { formatVersion: 1 })), paths);
});

test('fields without ids are found by name (AV-08)', () => {
  assert.deepEqual(entriesOf(manifest(ten, { style: { withoutFieldIds: true } })), paths);
});

test('fields are found by id whatever their name', () => {
  const schema = JSON.parse(JSON.stringify(manifestSchema(2, ['p'])).replace('"file_path"', '"location"'));
  const bytes = manifest(ten);
  const renamed = writeAvroFile(schema, [recordOf(schema)], { codec: 'null', header: {} });
  assert.deepEqual(entriesOf(renamed), ['1 0 s3://b/renamed']);
  assert.equal(entriesOf(bytes).length, 10);
});

/** One entry with every field of a schema, optional ones null. */
function recordOf(schema: { fields: { name: string; type: unknown }[] }): object {
  const values: Record<string, unknown> = {
    status: 1,
    content: 0,
    location: 's3://b/renamed',
    file_format: 'PARQUET',
    record_count: 1,
    file_size_in_bytes: 1,
  };
  return Object.fromEntries(
    schema.fields.map(({ name, type }) => {
      const record = type as { fields?: { name: string; type: unknown }[] };
      return [name, record.fields === undefined ? (values[name] ?? null) : recordOf(record as never)];
    }),
  );
}

test('wrapped primitives and free record names (AV-11)', () => {
  assert.deepEqual(entriesOf(manifest(ten, { style: { wrapped: true } })), paths);
});

test('names that Avro forbids, and names that repeat, are not judged (AV-11)', () => {
  const text = manifest(ten, { codec: 'null' });
  for (const [from, to] of [
    ['"r102"', '"1-é"'],
    ['"r102"', '"r2"'],
    ['"manifest_entry"', '"a/b c.d e.f;g"'],
  ] as const) {
    assert.deepEqual(entriesOf(withSchema(text, (schema) => schema.replace(from, to))), paths);
  }
});

/** The same file under another schema text: the header's value is replaced with its length. */
function withSchema(bytes: Buffer, change: (schema: string) => string): Buffer {
  const start = bytes.indexOf('{"type":"record"');
  const end = bytes.indexOf('avro.codec') - zigzag('avro.codec'.length).length;
  const before = bytes.subarray(0, start - zigzag(end - start).length);
  const schema = Buffer.from(change(bytes.toString('utf8', start, end)));
  return Buffer.concat([before, zigzag(schema.length), schema, bytes.subarray(end)]);
}

test('an empty partition record (AV-12)', () => {
  assert.deepEqual(entriesOf(manifest(ten, {}, [])), paths);
});

test('headers with only schema and codec (AV-06)', () => {
  assert.deepEqual(entriesOf(manifest(ten, { bareHeaders: true })), paths);
});

test('everything nullable', () => assert.deepEqual(entriesOf(manifest(ten, { style: { nullable: true } })), paths));

test('DELETED entries are told apart and give no live path (RE-11, AV-17)', () => {
  const entries = [entry('data/a', { status: 2 }), entry('data/b', { status: 0 }), entry('data/c', { status: 2 })];
  assert.deepEqual(entriesOf(manifest(entries)), [
    '2 0 s3://b/wh/t/data/a',
    '0 0 s3://b/wh/t/data/b',
    '2 0 s3://b/wh/t/data/c',
  ]);
});

test('delete files, and what a deletion vector refers to (RE-08, TR-18, TR-19, TR-20)', () => {
  const entries = [
    entry('data/pos', { content: 1 }),
    entry('data/eq', { content: 2 }),
    entry('data/dv.puffin', { content: 1, referencedDataFile: file('data/a'), contentOffset: 4 }),
    entry('data/dv.puffin', { content: 1, referencedDataFile: file('data/b'), contentOffset: 44 }),
  ];
  assert.deepEqual(entriesOf(manifest(entries, { formatVersion: 3 })), [
    '1 1 s3://b/wh/t/data/pos',
    '1 2 s3://b/wh/t/data/eq',
    '1 1 s3://b/wh/t/data/dv.puffin s3://b/wh/t/data/a',
    '1 1 s3://b/wh/t/data/dv.puffin s3://b/wh/t/data/b',
  ]);
});

test('fewer entries than promised fail, more do not', () => {
  assertUnreadable(manifest(ten), { entries: 11 });
  assert.equal(entriesOf(manifest(ten), { entries: 9 }).length, 10);
});

test('the length counts where there are no counts', () => {
  const bytes = manifest(ten);
  assertUnreadable(bytes, { length: bytes.length + 1 });
  assert.equal(entriesOf(bytes, { length: bytes.length }).length, 10);
  assert.equal(entriesOf(bytes, { length: 1, entries: 10 }).length, 10);
});

test('a file cut anywhere fails, at the end of a block by its length or count', () => {
  for (const codec of ['null', 'deflate', 'snappy', 'zstandard'] as const) {
    const bytes = manifest(ten, { codec });
    for (let end = 0; end < bytes.length; end++) {
      const cut = bytes.subarray(0, end);
      assert.throws(() => forEachEntry(cut, 'm', { length: bytes.length }, () => {}), unreadable);
      assert.throws(() => forEachEntry(cut, 'm', { entries: 10 }, () => {}), unreadable);
    }
  }
});

test('a block that inflates too far fails in every codec', () => {
  for (const codec of ['null', 'deflate', 'snappy', 'zstandard'] as const) {
    const avro = openAvroFile(manifest([entry('x'.repeat(10_000))], { codec }));
    assert.throws(() => [...avro.blocks(5000)]);
    assert.equal([...avro.blocks(20_000)].length, 1);
  }
  assert.throws(() => snappyDecompress(Buffer.from([0xff, 0xff, 0xff, 0xff, 0x0f, 0]), 2 ** 40), /promises/);
});

test('snappy gives back what went in', () => {
  for (const text of ['', 'a', 'abcdefgh'.repeat(300), 'x'.repeat(100_000), 'no repetition here']) {
    assert.equal(snappyDecompress(snappyCompress(Buffer.from(text)), 1 << 20).toString(), text);
  }
});

test('a snappy copy may overlap what it writes', () => {
  const block = Buffer.from([10, 4, 0x61, 0x62, 30, 2, 0]);
  assert.equal(snappyDecompress(block, 100).toString(), 'ababababab');
});

test('an encrypted file is told, and refused where it is live', () => {
  const schema = manifestSchema(2, []) as never as { fields: { name: string; type: unknown }[] };
  const plain = recordOf(JSON.parse(JSON.stringify(schema).replace('"file_path"', '"location"')));
  const data = { ...(plain as { data_file: Record<string, unknown> }).data_file, key_metadata: Buffer.from('key') };
  const { location, ...rest } = data as Record<string, unknown>;
  const record = (status: number) => ({ ...plain, status, data_file: { ...rest, file_path: location } });
  const live = writeAvroFile(schema, [record(1)], { codec: 'null', header: {} });
  assert.throws(() => forEachEntry(live, 'm', {}, () => {}), { name: 'UnsupportedTableError' });
  assert.equal([...readManifest(live, 'm')][0]?.encrypted, true);
  forEachEntry(writeAvroFile(schema, [record(2)], { codec: 'null', header: {} }), 'm', {}, () => {});
});

test('an inflated block gives its memory back when it is read, a stored one leaves the file as it was', () => {
  for (const codec of ['null', 'deflate', 'snappy', 'zstandard'] as const) {
    const body = Buffer.from(manifest(ten, { codec }));
    const before = Buffer.from(body);
    const views: Buffer[] = [];
    forEachEntry(body, 'm', {}, (_status, _content, path) => {
      views.push(path.view());
    });

    const isInflated = codec === 'deflate' || codec === 'zstandard';
    assert.ok(
      views.every((view) => (view.length === 0) === isInflated),
      codec,
    );
    assert.deepEqual(body, before);
  }
});

test('a stored file of the size of an inflated block is read to its end', () => {
  const body = manifest(ten, { codec: 'null' });
  // A file of its own memory, as long as the chunks of zlib.
  const whole = Buffer.from(new ArrayBuffer(72 * 1024), 0, body.length);
  whole.set(body);
  assert.deepEqual(entriesOf(whole), paths);
  assert.deepEqual(entriesOf(whole), paths);
});

test('an error of the visitor is its own', () => {
  assert.throws(
    () =>
      forEachEntry(manifest(ten), 'm', {}, () => {
        throw new RangeError('mine');
      }),
    { name: 'RangeError', message: 'mine' },
  );
});

const rows: readonly WrittenManifest[] = [0, 1].map((content) => ({
  ...file(`metadata/${content}-m0.avro`),
  length: 100 + content,
  content: content as 0 | 1,
  specId: 0,
  sequenceNumber: 7,
  snapshotId: SNAPSHOT_ID,
  entries: [entry('a', { status: 0 }), entry('b'), entry('c', { status: 2 })],
}));

test('manifest lists of every version, with old names, without counts, ids or headers (AV-06, AV-08)', () => {
  const list = (options: Partial<ManifestOptions>) =>
    readManifestList(
      encodeManifestList(SNAPSHOT_ID, rows, {
        formatVersion: 2,
        codec: 'deflate',
        style: {},
        bareHeaders: false,
        ...options,
      }),
      'l',
    );
  const full = {
    manifestPath: 's3://b/wh/t/metadata/1-m0.avro',
    manifestLength: 101,
    content: 'deletes',
    sequenceNumber: 7n,
    addedFilesCount: 1,
    existingFilesCount: 1,
    deletedFilesCount: 1,
    encrypted: false,
  };
  for (const style of [
    {},
    { oldCountNames: true },
    { withoutFieldIds: true },
    { withoutFieldIds: true, oldCountNames: true },
    { wrapped: true },
    { nullable: true },
  ]) {
    assert.deepEqual(list({ style, bareHeaders: true })[1], full);
  }
  assert.equal(list({ formatVersion: 1, style: { withoutCounts: true } })[1]?.addedFilesCount, undefined);
  assert.equal(list({ formatVersion: 1 })[1]?.content, 'data');
  assert.equal(list({ formatVersion: 3 })[1]?.sequenceNumber, 7n);
});

test('a manifest is no manifest list, and the reverse, and text is neither', () => {
  assert.throws(() => readManifestList(manifest(ten), 'l'), unreadable);
  const list = encodeManifestList(1n, rows, { formatVersion: 2, codec: 'null', style: {}, bareHeaders: false });
  assertUnreadable(list);
  for (const bytes of [Buffer.alloc(0), Buffer.from('PAR1'), Buffer.from('Obj\x01')]) {
    assertUnreadable(bytes);
    assert.throws(() => readManifestList(bytes, 'l'), unreadable);
  }
});
