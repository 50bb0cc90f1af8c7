/** Encodes the table writer's manifests and manifest lists. */
import type { Codec } from './table-writer-avro.ts';
import { writeAvroFile } from './table-writer-avro.ts';
import { liveEntries, type WrittenEntry, type WrittenManifest } from './table-writer-model.ts';
import { type FormatVersion, manifestListSchema, manifestSchema, type SchemaStyle } from './table-writer-schemas.ts';

export interface ManifestOptions {
  readonly formatVersion: FormatVersion;
  readonly codec: Codec;
  readonly style: SchemaStyle;
  /** Only `avro.schema` and `avro.codec` in the file headers (AV-06). */
  readonly bareHeaders: boolean;
  readonly recordsPerBlock?: number;
}

export interface ManifestContent {
  readonly snapshotId: bigint;
  readonly sequenceNumber: number;
  readonly partitionNames: readonly string[];
  readonly specId: number;
  readonly content: 0 | 1;
  readonly entries: readonly WrittenEntry[];
}

export function encodeManifest(manifest: ManifestContent, options: ManifestOptions): Buffer {
  const schema = manifestSchema(options.formatVersion, manifest.partitionNames, options.style) as Shape;
  const header = {
    schema: JSON.stringify({
      type: 'struct',
      'schema-id': 0,
      fields: [{ id: 1, name: 'id', required: false, type: 'long' }],
    }),
    'schema-id': '0',
    'partition-spec': '[]',
    'partition-spec-id': String(manifest.specId),
    'format-version': String(options.formatVersion),
    ...(options.formatVersion === 1 ? {} : { content: manifest.content === 0 ? 'data' : 'deletes' }),
  };
  const records = manifest.entries.map((entry) => complete(schema, entryRecord(entry, manifest, schema)));
  return writeAvroFile(schema, records, { ...containerOptions(options), header: options.bareHeaders ? {} : header });
}

export function encodeManifestList(
  snapshotId: bigint,
  manifests: readonly WrittenManifest[],
  options: ManifestOptions,
): Buffer {
  const schema = manifestListSchema(options.formatVersion, options.style) as Shape;
  const header = { 'snapshot-id': String(snapshotId), 'format-version': String(options.formatVersion) };
  const records = manifests.map((manifest) => complete(schema, listRecord(manifest)));
  return writeAvroFile(schema, records, { ...containerOptions(options), header: options.bareHeaders ? {} : header });
}

interface Shape {
  readonly fields: readonly { readonly name: string; readonly type: unknown }[];
}

function containerOptions({ codec, recordsPerBlock }: ManifestOptions): { codec: Codec; recordsPerBlock: number } {
  return { codec, recordsPerBlock: recordsPerBlock ?? 3 };
}

/** Keeps what the schema has; a field without a value is null. */
function complete(shape: Shape, record: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(shape.fields.map(({ name }) => [name, record[name] ?? null]));
}

function entryRecord(entry: WrittenEntry, manifest: ManifestContent, schema: Shape): Readonly<Record<string, unknown>> {
  const file = recordIn(schema.fields.find(({ name }) => name === 'data_file')?.type);
  const partition = recordIn(file.fields.find(({ name }) => name === 'partition')?.type);
  const data = {
    content: entry.content,
    file_path: entry.file.recorded,
    file_format: entry.format,
    partition: Object.fromEntries(partition.fields.map(({ name }, index) => [name, entry.partition[index] ?? null])),
    record_count: 10,
    file_size_in_bytes: entry.bytes,
    block_size_in_bytes: 64 * 1024 * 1024,
    column_sizes: [{ key: 1, value: 100 }],
    value_counts: [{ key: 1, value: 10 }],
    lower_bounds: [{ key: 1, value: Buffer.from([1, 0, 0, 0, 0, 0, 0, 0]) }],
    upper_bounds: [{ key: 1, value: Buffer.from([9, 0, 0, 0, 0, 0, 0, 0]) }],
    split_offsets: [4],
    equality_ids: entry.content === 2 ? [1] : null,
    sort_order_id: 0,
    referenced_data_file: entry.referencedDataFile?.recorded,
    content_offset: entry.contentOffset,
    content_size_in_bytes: entry.contentOffset === undefined ? undefined : 40,
  };
  return {
    status: entry.status,
    snapshot_id: manifest.snapshotId,
    sequence_number: entry.status === 1 ? null : manifest.sequenceNumber,
    file_sequence_number: entry.status === 1 ? null : manifest.sequenceNumber,
    data_file: complete(file, data),
  };
}

function recordIn(type: unknown): Shape {
  const record = Array.isArray(type) ? type.find((branch) => typeof branch === 'object') : type;
  return record as Shape;
}

function listRecord(manifest: WrittenManifest): Readonly<Record<string, unknown>> {
  const added = manifest.entries.filter(({ status }) => status === 1).length;
  const existing = liveEntries(manifest).length - added;
  const deleted = manifest.entries.length - added - existing;
  return {
    manifest_path: manifest.recorded,
    manifest_length: manifest.length,
    partition_spec_id: manifest.specId,
    content: manifest.content,
    sequence_number: manifest.sequenceNumber,
    min_sequence_number: manifest.sequenceNumber,
    added_snapshot_id: manifest.snapshotId,
    added_files_count: added,
    existing_files_count: existing,
    deleted_files_count: deleted,
    added_data_files_count: added,
    existing_data_files_count: existing,
    deleted_data_files_count: deleted,
    added_rows_count: 10 * added,
    existing_rows_count: 10 * existing,
    deleted_rows_count: 10 * deleted,
  };
}
