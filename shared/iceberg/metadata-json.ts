/** Table metadata files (Iceberg spec, "Table Metadata"): v1, v2 and v3, plain or gzip, read without loss. */
import { MetadataUnreadableError, UnsupportedTableError } from '#shared/errors.ts';
import { arrayOf, type Fields, fieldsOf, optionalText, requiredText, stringMap } from './json-fields.ts';
import { toBigInt } from './lossless-json.ts';
import { gunzipIfNeeded } from './metadata-gzip.ts';
import { hasOwnKey, parseSnapshot } from './snapshot-json.ts';
import { openStreamedJson, type StreamedJson } from './streamed-json.ts';
import type { Snapshot, TableMetadata } from './types.ts';

/** Metadata JSON above this size, after gunzip, is refused before it is parsed (DESIGN section 3). */
export const MAX_METADATA_BYTES = 256 * 1024 * 1024;

const NEWEST_KNOWN_FORMAT = 3;

/**
 * Reads one metadata file. `gzip` is known by its magic bytes, never by the name. Unknown format versions refuse
 * (UnsupportedTableError); anything broken, or a snapshot with both or neither of `manifest-list` and `manifests`, is
 * MetadataUnreadableError.
 */
export function parseTableMetadata(
  bytes: Uint8Array,
  metadataLocation: string,
  options: { readonly maxBytes?: number } = {},
): TableMetadata {
  const json = gunzipIfNeeded(bytes, metadataLocation, options.maxBytes ?? MAX_METADATA_BYTES);
  const document = readJson(metadataLocation, () => openStreamedJson(json, 'snapshots'));
  const fields = fieldsOf(document.rest, 'the table metadata', metadataLocation);
  refuseViews(fields, metadataLocation);
  const formatVersion = knownFormatVersion(fields, metadataLocation);
  const { snapshots, encrypted } = readSnapshots(fields, document);
  const properties = stringMap(fields, 'properties');
  const currentSnapshotId = snapshotReference(fields, 'current-snapshot-id');
  refuseMissingSnapshots(fields, currentSnapshotId, snapshots);
  return {
    metadataLocation,
    formatVersion,
    tableUuid: optionalText(fields, 'table-uuid'),
    location: requiredText(fields, 'location'),
    lastUpdatedMs: milliseconds(fields, 'last-updated-ms'),
    lastSequenceNumber: toBigInt(fields.get('last-sequence-number')) ?? 0n,
    currentSnapshotId,
    properties,
    snapshots,
    metadataLog: metadataLog(fields),
    statistics: statisticsPaths(fields, 'statistics'),
    partitionStatistics: statisticsPaths(fields, 'partition-statistics'),
    partitionFields: partitionFields(fields),
    encrypted: encrypted || isEncrypted(fields, properties),
  };
}

function readJson<T>(source: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (cause instanceof MetadataUnreadableError) throw cause;
    throw new MetadataUnreadableError(`${source} is not JSON: ${(cause as Error).message}.`, { cause });
  }
}

/** One at a time: parsed together, 200,000 snapshots take several times the memory of what is kept of them. */
function readSnapshots(
  fields: Fields,
  { elements }: StreamedJson,
): { readonly snapshots: readonly Snapshot[]; readonly encrypted: boolean } {
  const { source } = fields;
  const snapshots: Snapshot[] = [];
  let encrypted = false;
  const take = (item: unknown): void => {
    snapshots.push(parseSnapshot(item, source));
    encrypted ||= hasOwnKey(item, source);
  };
  for (const item of arrayOf(fields, 'snapshots')) take(item);
  readJson(source, () => {
    for (const item of elements) take(item);
  });
  return { snapshots, encrypted };
}

function refuseViews(fields: Fields, source: string): void {
  if (fields.get('view-uuid') === undefined && fields.get('view-version') === undefined) return;
  throw new UnsupportedTableError(`${source} describes a view, which owns no files.`);
}

function knownFormatVersion(fields: Fields, source: string): number {
  const version = fields.get('format-version');
  if (typeof version !== 'number' || !Number.isInteger(version)) fields.fail('format-version', 'is not a whole number');
  if (version >= 1 && version <= NEWEST_KNOWN_FORMAT) return version;
  throw new UnsupportedTableError(
    `${source} has format version ${version}; 1 to ${NEWEST_KNOWN_FORMAT} are known. ` +
      'A file that an unknown version names in an unknown place would look like an orphan.',
  );
}

function milliseconds(fields: Fields, name: string): number {
  const value = toBigInt(fields.get(name));
  return value === undefined ? fields.fail(name, 'is not a time in milliseconds') : Number(value);
}

/** -1, null and absent all mean "no current snapshot" (Java writes -1 for v1 and v2). */
function snapshotReference(fields: Fields, name: string): bigint | undefined {
  const value = fields.get(name);
  if (value === undefined || value === null) return undefined;
  const id = toBigInt(value) ?? fields.fail(name, 'is not a snapshot id');
  return id === -1n ? undefined : id;
}

/**
 * Reachability goes over `snapshots` only. A current snapshot or a ref that is not among them proves that the array is not
 * whole, and what the absent one names would look like orphans.
 */
function refuseMissingSnapshots(fields: Fields, current: bigint | undefined, snapshots: readonly Snapshot[]): void {
  const known = new Set(snapshots.map(({ snapshotId }) => snapshotId));
  if (current !== undefined && !known.has(current))
    fields.fail('current-snapshot-id', `${current} is not among the snapshots`);
  const refs = fields.get('refs');
  if (refs === undefined || refs === null) return;
  for (const [name, ref] of fieldsOf(refs, 'refs', fields.source).entries()) {
    const target = snapshotReference(fieldsOf(ref, `ref ${name}`, fields.source), 'snapshot-id');
    if (target !== undefined && !known.has(target))
      fields.fail('refs', `names ${target}, which is not among the snapshots`);
  }
}

function metadataLog(fields: Fields): TableMetadata['metadataLog'] {
  return arrayOf(fields, 'metadata-log').map((item) => {
    const entry = fieldsOf(item, 'an entry of metadata-log', fields.source);
    return {
      metadataFile: requiredText(entry, 'metadata-file'),
      timestampMs: Number(toBigInt(entry.get('timestamp-ms')) ?? 0n),
    };
  });
}

/** Spec, "Table Statistics" and "Partition Statistics": only `statistics-path` names the file. An empty one names nothing. */
function statisticsPaths(fields: Fields, name: string): readonly string[] {
  return arrayOf(fields, name)
    .map((item) =>
      requiredText(fieldsOf(item, `an entry of ${name}`, fields.source), 'statistics-path', { empty: true }),
    )
    .filter((path) => path !== '');
}

/** Of every spec, past ones too: their folders still hold files (v1 has one spec under `partition-spec`). */
function partitionFields(fields: Fields): readonly string[] {
  const specs = arrayOf(fields, 'partition-specs').map((item) => fieldsOf(item, 'a partition spec', fields.source));
  const lists = [...specs.flatMap((spec) => arrayOf(spec, 'fields')), ...arrayOf(fields, 'partition-spec')];
  const names = lists.map((item) => optionalText(fieldsOf(item, 'a partition field', fields.source), 'name'));
  return [...new Set(names.filter((name) => name !== undefined))];
}

/** Spec v3, "Encryption": lists and manifests are then streams that cannot be read without the key service. */
function isEncrypted(fields: Fields, properties: Readonly<Record<string, string>>): boolean {
  return arrayOf(fields, 'encryption-keys').length > 0 || (properties['encryption.key-id'] ?? '') !== '';
}

export { type PeekedIdentity, peekTableIdentity } from './peek-identity.ts';
