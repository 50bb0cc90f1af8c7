/** The table writer's metadata JSON, with every field that the spec requires, so that other readers take it too. */
import { gzipSync } from 'node:zlib';
import type { WrittenFile, WrittenRef, WrittenSnapshot } from './table-writer-model.ts';
import type { FormatVersion } from './table-writer-schemas.ts';

export type GzipSpelling = 'none' | 'gz' | 'json.gz' | 'gzip' | 'plain-name';

export interface MetadataState {
  readonly formatVersion: FormatVersion;
  /** v1 files may lack it. */
  readonly tableUuid: string | undefined;
  readonly location: string;
  readonly lastUpdatedMs: number;
  readonly lastSequenceNumber: number;
  readonly currentSnapshotId: bigint | undefined;
  /** How "no current snapshot" is written (AV-15). */
  readonly noSnapshot: -1 | null | 'absent';
  readonly properties: Readonly<Record<string, string>>;
  readonly specs: readonly (readonly string[])[];
  readonly snapshots: readonly WrittenSnapshot[];
  readonly refs: ReadonlyMap<string, WrittenRef>;
  readonly log: readonly { readonly file: WrittenFile; readonly timestampMs: number }[];
  readonly statistics: readonly { readonly snapshotId: bigint; readonly file: WrittenFile; readonly bytes: number }[];
  readonly partitionStatistics: readonly {
    readonly snapshotId: bigint;
    readonly file: WrittenFile;
    readonly bytes: number;
  }[];
}

/** Integers beyond 2^53 stand in the text digit by digit. */
const raw = (id: bigint): unknown => (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(String(id));

/** The bytes of a metadata file. */
export function metadataJson(state: MetadataState, gzip: GzipSpelling): Buffer {
  const text = Buffer.from(JSON.stringify(metadataObject(state)));
  return gzip === 'none' ? text : gzipSync(text);
}

/** A file name for a version, in either form and any gzip spelling. */
export function metadataName(version: number, form: 'hadoop' | 'catalog', gzip: GzipSpelling, uuid: string): string {
  const stem = form === 'hadoop' ? `v${version}` : `${String(version).padStart(5, '0')}-${uuid}`;
  const suffixes = {
    none: '.metadata.json',
    'plain-name': '.metadata.json',
    gz: '.gz.metadata.json',
    gzip: '.gzip.metadata.json',
    'json.gz': '.metadata.json.gz',
  };
  return stem + suffixes[gzip];
}

function metadataObject(state: MetadataState): object {
  const none = state.noSnapshot === 'absent' ? {} : { 'current-snapshot-id': state.noSnapshot };
  return {
    'format-version': state.formatVersion,
    ...(state.tableUuid === undefined ? {} : { 'table-uuid': state.tableUuid }),
    location: state.location,
    ...(state.formatVersion === 1 ? {} : { 'last-sequence-number': state.lastSequenceNumber }),
    'last-updated-ms': state.lastUpdatedMs,
    ...schemas(state),
    properties: state.properties,
    ...(state.currentSnapshotId === undefined ? none : { 'current-snapshot-id': raw(state.currentSnapshotId) }),
    ...(state.formatVersion < 3 ? {} : { 'next-row-id': 1000 }),
    refs: Object.fromEntries(
      [...state.refs].map(([name, ref]) => [name, { 'snapshot-id': raw(ref.snapshotId), type: ref.type }]),
    ),
    snapshots: state.snapshots.map((snapshot) => snapshotObject(snapshot, state.formatVersion)),
    statistics: state.statistics.map((item) => ({ ...statistics(item), 'blob-metadata': [] })),
    'partition-statistics': state.partitionStatistics.map(({ file, ...item }) => statistics({ ...item, file })),
    'snapshot-log':
      state.currentSnapshotId === undefined
        ? []
        : [{ 'snapshot-id': raw(state.currentSnapshotId), 'timestamp-ms': state.lastUpdatedMs }],
    'metadata-log': state.log.map(({ file, timestampMs }) => ({
      'metadata-file': file.recorded,
      'timestamp-ms': timestampMs,
    })),
  };
}

function schemas(state: MetadataState): object {
  const names = [...new Set(state.specs.flat())];
  const columns = [
    { id: 1, name: 'id', required: false, type: 'long' },
    ...names.map((name, index) => ({ id: 2 + index, name: `${name}_source`, required: false, type: 'string' })),
  ];
  const schema = { type: 'struct', 'schema-id': 0, fields: columns };
  const specs = state.specs.map((fields, id) => ({
    'spec-id': id,
    fields: fields.map((name) => {
      const at = names.indexOf(name);
      return { name, transform: 'identity', 'source-id': 2 + at, 'field-id': 1000 + at };
    }),
  }));
  return {
    'last-column-id': columns.length,
    ...(state.formatVersion === 1 ? { schema, 'partition-spec': specs.at(-1)?.fields } : {}),
    schemas: [schema],
    'current-schema-id': 0,
    'partition-specs': specs,
    'default-spec-id': specs.length - 1,
    'last-partition-id': 999 + names.length,
    'sort-orders': [{ 'order-id': 0, fields: [] }],
    'default-sort-order-id': 0,
  };
}

function snapshotObject(snapshot: WrittenSnapshot, formatVersion: FormatVersion): object {
  return {
    'snapshot-id': raw(snapshot.id),
    ...(snapshot.parentId === undefined ? {} : { 'parent-snapshot-id': raw(snapshot.parentId) }),
    ...(formatVersion === 1 ? {} : { 'sequence-number': snapshot.sequenceNumber }),
    'timestamp-ms': snapshot.timestampMs,
    summary: { operation: snapshot.operation, ...snapshot.summary },
    ...(snapshot.list === undefined
      ? { manifests: snapshot.manifests.map(({ recorded }) => recorded) }
      : { 'manifest-list': snapshot.list.recorded }),
    'schema-id': 0,
    ...(formatVersion < 3 ? {} : { 'first-row-id': 0, 'added-rows': 1 }),
  };
}

function statistics(item: { readonly snapshotId: bigint; readonly file: WrittenFile; readonly bytes: number }): object {
  return {
    'snapshot-id': raw(item.snapshotId),
    'statistics-path': item.file.recorded,
    'file-size-in-bytes': item.bytes,
    'file-footer-size-in-bytes': 4,
  };
}
