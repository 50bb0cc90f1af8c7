/** A made-up table as a bucket of the embedded server: small metadata in memory, data keys and manifests made up as asked for. */

import type { StoredMeta } from '#infra/local/s3/backend.ts';
import { MemoryBucket } from '#infra/local/s3/memory-bucket.ts';
import { DATA_PREFIX, type MadeUpTable } from './made-up-table.ts';
import { OLD_MS, TABLE_UUID } from './mark-world.ts';
import { writeAvroFile } from './table-writer-avro.ts';

const MANIFEST = /^wh\/t\/metadata\/(\d+)-m0\.avro$/;
const ETAG = '"d41d8cd98f00b204e9800998ecf8427e"';
const SNAPSHOT_ID = '7123456789012345678';

export class MadeUpBucket extends MemoryBucket {
  readonly #table: MadeUpTable;
  /** The last manifest: a reader asks for its size and then for its bytes. */
  #made: { readonly number: number; readonly body: Buffer } | undefined;

  constructor(table: MadeUpTable) {
    super({ now: () => OLD_MS });
    this.#table = table;
    // A plan wants lengths; made-up manifests are alike.
    const length = table.manifest(0).length;
    this.seed('wh/t/metadata/snap-1.avro', manifestList(table, length), OLD_MS);
    this.seed(
      'wh/t/metadata/00001-6d5f1c0e-6a0b-4d58-8f0e-0c3b2a1d4e5f.metadata.json',
      Buffer.from(metadataJson()),
      OLD_MS,
    );
    for (const { key } of table.plannedManifests()) this.seed(key, length, OLD_MS);
  }

  override async head(key: string): Promise<StoredMeta> {
    const number = MANIFEST.exec(key)?.[1];
    const meta = await super.head(key);
    return number === undefined ? meta : { ...meta, sizeBytes: this.#manifest(Number(number)).length };
  }

  override async read(key: string, start: number, end: number): Promise<Buffer> {
    const number = MANIFEST.exec(key)?.[1];
    if (number === undefined) return super.read(key, start, end);
    return this.#manifest(Number(number)).subarray(start, end);
  }

  override *scan(prefix: string, after: string | undefined, delimiter?: string): Iterable<StoredMeta> {
    // `data/` comes before `metadata/`: first what is made up, then what is in memory.
    for (let index = this.#table.firstAfter(after ?? '', prefix); index < this.#table.options.files; ) {
      const key = this.#table.key(index);
      if (!key.startsWith(prefix)) break;
      yield { key, sizeBytes: 1000 + (index % 977), lastModifiedMs: OLD_MS, etag: ETAG };
      // Of keys that are rolled up the first is enough: a hundred million take too long to pass over.
      const end = delimiter ? key.indexOf(delimiter, prefix.length) : -1;
      index = end < 0 ? index + 1 : this.#table.firstAfter(`${key.slice(0, end + 1)}\uffff`, prefix);
    }
    if (!prefix.startsWith(DATA_PREFIX)) yield* super.scan(prefix, after, delimiter);
  }

  #manifest(number: number): Buffer {
    if (this.#made?.number !== number) this.#made = { number, body: this.#table.manifest(number) };
    return this.#made.body;
  }
}

function metadataJson(): string {
  return `{"format-version":2,"table-uuid":"${TABLE_UUID}","location":"s3://b/wh/t","last-sequence-number":1,
"last-updated-ms":${OLD_MS},"last-column-id":1,"schemas":[{"type":"struct","schema-id":0,"fields":[]}],"current-schema-id":0,
"partition-specs":[{"spec-id":0,"fields":[]}],"default-spec-id":0,"last-partition-id":999,"sort-orders":[],"default-sort-order-id":0,
"properties":{},"current-snapshot-id":${SNAPSHOT_ID},"refs":{"main":{"snapshot-id":${SNAPSHOT_ID},"type":"branch"}},
"snapshots":[{"snapshot-id":${SNAPSHOT_ID},"sequence-number":1,"timestamp-ms":${OLD_MS + 90 * 86_400_000},
"summary":{"operation":"append"},"manifest-list":"s3://b/wh/t/metadata/snap-1.avro"}],"metadata-log":[]}`;
}

/** The fields of a manifest list that a plan reads. */
export const LIST_SCHEMA = {
  type: 'record',
  name: 'manifest_file',
  fields: [
    { name: 'manifest_path', type: 'string', 'field-id': 500 },
    { name: 'manifest_length', type: 'long', 'field-id': 501 },
    { name: 'partition_spec_id', type: 'int', 'field-id': 502 },
    { name: 'content', type: 'int', 'field-id': 517 },
    { name: 'sequence_number', type: 'long', 'field-id': 515 },
    { name: 'min_sequence_number', type: 'long', 'field-id': 516 },
    { name: 'added_snapshot_id', type: 'long', 'field-id': 503 },
    { name: 'added_files_count', type: 'int', 'field-id': 504 },
    { name: 'existing_files_count', type: 'int', 'field-id': 505 },
    { name: 'deleted_files_count', type: 'int', 'field-id': 506 },
  ],
};

function manifestList(table: MadeUpTable, length: number): Buffer {
  const rows = table.plannedManifests().map(({ path, entries }) => ({
    manifest_path: path,
    manifest_length: length,
    partition_spec_id: 0,
    content: 0,
    sequence_number: 1,
    min_sequence_number: 1,
    added_snapshot_id: BigInt(SNAPSHOT_ID),
    added_files_count: entries,
    existing_files_count: 0,
    deleted_files_count: 0,
  }));
  return writeAvroFile(LIST_SCHEMA, rows, { codec: 'deflate', header: {} });
}
