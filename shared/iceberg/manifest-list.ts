/** Manifest lists (Iceberg spec, "Manifest Lists"). */
import { MetadataUnreadableError } from '#shared/errors.ts';
import { openAvroFile } from './avro-container.ts';
import { AvroError } from './avro-cursor.ts';
import { type AvroRecord, findField, parseAvroSchema } from './avro-schema.ts';
import { type Decoded, projectedText, projectedValue, projectRecords } from './avsc-projection.ts';
import type { ManifestFile } from './types.ts';

/**
 * Field ids of `manifest_file`, with the names that stand in for them. 504 to 506 have an older name each; some writers give
 * none of the counts (v1), or no file header beyond the schema (AV-06).
 */
const FIELDS = {
  manifestPath: [500, 'manifest_path'],
  manifestLength: [501, 'manifest_length'],
  content: [517, 'content'],
  sequenceNumber: [515, 'sequence_number'],
  addedFilesCount: [504, 'added_files_count', 'added_data_files_count'],
  existingFilesCount: [505, 'existing_files_count', 'existing_data_files_count'],
  deletedFilesCount: [506, 'deleted_files_count', 'deleted_data_files_count'],
  keyMetadata: [519, 'key_metadata'],
} as const;

type FieldName = keyof typeof FIELDS;
type Places = Readonly<Record<FieldName, number>>;

/** The rows of a manifest list, in file order. A broken list throws MetadataUnreadableError. */
export function readManifestList(bytes: Uint8Array, source: string): ManifestFile[] {
  return [...manifestListRows(bytes, source)];
}

/** The same one by one, for lists of any length; a fault may show after some of them. */
export function* manifestListRows(bytes: Uint8Array, source: string): Generator<ManifestFile> {
  try {
    const file = openAvroFile(bytes);
    const row = parseAvroSchema(file.schema);
    if (row.kind !== 'record') throw new AvroError('its schema is not that of a manifest list');
    const at = placesIn(row);
    const kept = Object.values(at).filter((index) => index >= 0);
    const selection = { fields: new Map(kept.map((index) => [index, 'all' as const])) };
    for (const decoded of projectRecords(file, row, selection)) yield toManifestFile(row, decoded, at);
  } catch (cause) {
    const problem = (cause as Error).message;
    throw new MetadataUnreadableError(`${source} cannot be read as a manifest list: ${problem}.`, { cause });
  }
}

/** The number of entries that a row promises: only where it gives all three counts (v1 may give none). */
export function promisedEntries(manifest: ManifestFile): number | undefined {
  const { addedFilesCount, existingFilesCount, deletedFilesCount } = manifest;
  if (addedFilesCount === undefined || existingFilesCount === undefined || deletedFilesCount === undefined)
    return undefined;
  return addedFilesCount + existingFilesCount + deletedFilesCount;
}

function placesIn(row: AvroRecord): Places {
  const places = Object.fromEntries(
    Object.entries(FIELDS).map(([name, [id, ...names]]) => [name, findField(row, id, ...names)]),
  ) as Record<FieldName, number>;
  if (places.manifestPath < 0) throw new AvroError('its schema is not that of a manifest list');
  return places;
}

function toManifestFile(row: AvroRecord, decoded: Decoded, at: Places): ManifestFile {
  const value = (name: FieldName) => projectedValue(row, decoded, at[name]);
  const manifestPath = projectedText(value('manifestPath'));
  if (manifestPath === '') throw new AvroError('a row names no manifest');
  const sequenceNumber = value('sequenceNumber');
  return {
    manifestPath,
    content: Number(value('content') ?? 0) === 0 ? 'data' : 'deletes',
    ...(sequenceNumber === null ? {} : { sequenceNumber: BigInt(sequenceNumber as number | bigint) }),
    ...count('manifestLength', value('manifestLength')),
    ...count('addedFilesCount', value('addedFilesCount')),
    ...count('existingFilesCount', value('existingFilesCount')),
    ...count('deletedFilesCount', value('deletedFilesCount')),
    encrypted: projectedText(value('keyMetadata')) !== '',
  };
}

/** A negative number is no count: some writers say -1 for "not known". */
function count(name: FieldName, value: unknown): Partial<ManifestFile> {
  const number = Number(value);
  return value === null || !Number.isSafeInteger(number) || number < 0 ? {} : { [name]: number };
}
