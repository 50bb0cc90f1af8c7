/**
 * A table with a history of any length as a bucket of the embedded server: metadata file in memory, manifest lists and
 * manifests of one entry each made up as they are read.
 */
import { gzipSync } from 'node:zlib';
import { noSuchKey, type StoredMeta } from '#infra/local/s3/backend.ts';
import { MemoryBucket } from '#infra/local/s3/memory-bucket.ts';
import { LIST_SCHEMA } from './made-up-bucket.ts';
import { OLD_MS, TABLE_UUID } from './mark-world.ts';
import { statManifest } from './stat-manifest.ts';
import { writeAvroFile } from './table-writer-avro.ts';

export interface HistoryOptions {
  readonly snapshots: number;
  /** Manifests altogether, each with one entry. */
  readonly manifests: number;
  /** The manifests `[from, to)` that the list of a snapshot names. */
  readonly named: (snapshot: number) => readonly [from: number, to: number];
  /** Distinct manifest lists, if fewer than snapshots: so that a huge metadata file can be read without as many lists. */
  readonly lists?: number;
  readonly gzip?: boolean;
}

const FOLDER = 'wh/t/metadata/';
const NAME = /^wh\/t\/metadata\/(m|snap)-(\d{8})\.avro$/;
const ETAG = '"d41d8cd98f00b204e9800998ecf8427e"';
const HELD = 32;
const ORPHAN = 'wh/t/data/orphan.parquet';
const METADATA_FILE = `${FOLDER}00001-6d5f1c0e-6a0b-4d58-8f0e-0c3b2a1d4e5f.metadata.json`;

export class HistoryBucket extends MemoryBucket {
  readonly #options: HistoryOptions;
  #commits = 0;
  /** The last few bodies: a reader asks for the size and then for the bytes. */
  readonly #made = new Map<string, Buffer>();
  /** Of the metadata file, before gzip. */
  readonly metadataBytes: number;

  constructor(options: HistoryOptions) {
    super({ now: () => OLD_MS });
    this.#options = options;
    const json = metadataJson(options.snapshots, options.lists);
    this.metadataBytes = json.length;
    this.seed(METADATA_FILE, options.gzip ? gzipSync(json, { level: 1 }) : json, OLD_MS);
  }

  /** A commit: the same history and one snapshot more under the next name, as another writer would leave it. */
  commit(): void {
    this.#commits++;
    const json = metadataJson(this.#options.snapshots + this.#commits, this.#options.lists);
    const name = METADATA_FILE.replace('00001-', `${String(this.#commits + 1).padStart(5, '0')}-`);
    this.seed(name, this.#options.gzip ? gzipSync(json, { level: 1 }) : json, Date.now());
  }

  /** A data file that nobody names. */
  orphan(): void {
    this.seed(ORPHAN, Buffer.from('orphan'), OLD_MS);
    for (let number = 0; number < this.#options.manifests; number++) this.seed(dataKey(number), 10, OLD_MS);
  }

  orphanIsThere(): boolean {
    return [...super.scan(ORPHAN, undefined)].length > 0;
  }

  override async head(key: string): Promise<StoredMeta> {
    const body = this.#body(key);
    return body === undefined ? super.head(key) : metaOf(key, body.length);
  }

  override async read(key: string, start: number, end: number): Promise<Buffer> {
    return this.#body(key)?.subarray(start, end) ?? super.read(key, start, end);
  }

  override *scan(prefix: string, after: string | undefined, delimiter?: string): Iterable<StoredMeta> {
    // In byte order: the metadata file, `m-…`, `snap-…`.
    yield* super.scan(prefix, after, delimiter);
    // Rolled up into a folder, or elsewhere: the metadata file has said it.
    if (!prefix.startsWith(FOLDER) && (delimiter !== undefined || !FOLDER.startsWith(prefix))) return;
    for (const [kind, count] of [
      ['m', this.#options.manifests],
      ['snap', this.#options.lists ?? this.#options.snapshots],
    ] as const) {
      for (let number = firstAfter(kind, count, after ?? ''); number < count; number++) {
        const key = keyOf(kind, number);
        if (key.startsWith(prefix)) yield metaOf(key, 500);
      }
    }
  }

  #body(key: string): Buffer | undefined {
    const [, kind, digits] = NAME.exec(key) ?? [];
    if (kind === undefined) return undefined;
    const known = this.#made.get(key);
    if (known !== undefined) return known;
    const number = Number(digits);
    if (kind === 'm' && number >= this.#options.manifests) throw noSuchKey(key);
    const body = kind === 'm' ? manifest(number) : this.#list(number);
    this.#made.set(key, body);
    if (this.#made.size > HELD) this.#made.delete(this.#made.keys().next().value as string);
    return body;
  }

  #list(snapshot: number): Buffer {
    // A snapshot that came with a commit names what the last one did.
    const [from, to] = this.#options.named(Math.min(snapshot, this.#options.snapshots - 1));
    // All manifests are alike.
    const { length } = manifest(0);
    const rows = Array.from({ length: to - from }, (_, index) => ({
      manifest_path: `s3://b/${keyOf('m', from + index)}`,
      manifest_length: length,
      partition_spec_id: 0,
      content: 0,
      sequence_number: snapshot + 1,
      min_sequence_number: snapshot + 1,
      added_snapshot_id: snapshotId(snapshot),
      added_files_count: 1,
      existing_files_count: 0,
      deleted_files_count: 0,
    }));
    return writeAvroFile(LIST_SCHEMA, rows, { codec: 'deflate', header: {}, recordsPerBlock: 1000 });
  }
}

function keyOf(kind: 'm' | 'snap', number: number): string {
  return `${FOLDER}${kind}-${String(number).padStart(8, '0')}.avro`;
}

/** Number of the first key of a kind after `after`. */
function firstAfter(kind: 'm' | 'snap', count: number, after: string): number {
  if (after < keyOf(kind, 0)) return 0;
  const digits = new RegExp(`^${FOLDER}${kind}-(\\d{8})`).exec(after)?.[1];
  return digits === undefined ? count : Number(digits) + 1;
}

function metaOf(key: string, sizeBytes: number): StoredMeta {
  return { key, sizeBytes, lastModifiedMs: OLD_MS, etag: ETAG };
}

function manifest(number: number): Buffer {
  return statManifest([{ path: `s3://b/${dataKey(number)}` }], { codec: 'null' });
}

function dataKey(number: number): string {
  return `wh/t/data/00000-0-${String(number).padStart(12, '0')}-00001.parquet`;
}

function snapshotId(number: number): bigint {
  return 7_123_456_789_000_000_000n + BigInt(number);
}

/** As Spark writes it: a summary of a dozen entries with every snapshot, which is most of the file. */
function metadataJson(snapshots: number, lists = snapshots): Buffer {
  const parts: Buffer[] = [];
  let text = `{"format-version":2,"table-uuid":"${TABLE_UUID}","location":"s3://b/wh/t","last-sequence-number":${snapshots},
"last-updated-ms":${OLD_MS},"last-column-id":1,"schemas":[{"type":"struct","schema-id":0,"fields":[]}],"current-schema-id":0,
"partition-specs":[{"spec-id":0,"fields":[]}],"default-spec-id":0,"last-partition-id":999,"sort-orders":[],"default-sort-order-id":0,
"properties":{"write.format.default":"parquet"},"current-snapshot-id":${snapshotId(snapshots - 1)},"snapshots":[`;
  for (let number = 0; number < snapshots; number++) {
    text += `${number === 0 ? '' : ','}${snapshotJson(number, number % lists)}`;
    if (text.length < 4_000_000) continue;
    parts.push(Buffer.from(text));
    text = '';
  }
  const main = `{"snapshot-id":${snapshotId(snapshots - 1)},"type":"branch"}`;
  parts.push(Buffer.from(`${text}],"refs":{"main":${main}},"metadata-log":[],"statistics":[]}`));
  return Buffer.concat(parts);
}

function snapshotJson(number: number, list: number): string {
  return `{"sequence-number":${number + 1},"snapshot-id":${snapshotId(number)},"parent-snapshot-id":${snapshotId(number - 1)},
"timestamp-ms":${OLD_MS - 1_000_000 + number},"summary":{"operation":"append","spark.app.id":"application_1712345678901_${number}",
"added-data-files":"1","added-records":"${10_000 + (number % 977)}","added-files-size":"${13_000_000 + (number % 99_991)}",
"changed-partition-count":"1","total-records":"${number * 10_000}","total-files-size":"${number * 13_000_000}","total-data-files":"${number}",
"total-delete-files":"0","total-position-deletes":"0","total-equality-deletes":"0","engine-version":"3.5.1","engine-name":"spark",
"iceberg-version":"Apache Iceberg 1.6.1 (commit 8e9d59d299be42b0bca9461457cd1e95dbaad086)"},
"manifest-list":"s3://b/${keyOf('snap', list)}","schema-id":0}`;
}
