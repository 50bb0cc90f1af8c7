/** Manifest entries through `avsc`: the plain, slow reading that the scanning reader is held against. */
import type { AvroFile } from './avro-container.ts';
import { AvroError } from './avro-cursor.ts';
import { parseAvroSchema } from './avro-schema.ts';
import { type Decoded, projectedText, projectedValue, projectRecords, type Selection } from './avsc-projection.ts';
import { type EntryFields, findEntryFields, STATUS_UNKNOWN } from './entry-capture.ts';
import type { ManifestEntry } from './types.ts';

/** All entries of an opened manifest. */
export function* projectedEntries(file: AvroFile): Generator<ManifestEntry> {
  const at = findEntryFields(parseAvroSchema(file.schema));
  const wanted = [at.content, at.filePath, at.referencedDataFile, at.keyMetadata].filter((index) => index >= 0);
  const fileSelection = { fields: new Map(wanted.map((index) => [index, 'all' as const])) };
  const fields = new Map<number, Selection | 'all'>([
    [at.status, 'all'],
    [at.dataFile, fileSelection],
  ]);
  for (const decoded of projectRecords(file, at.entry, { fields })) yield toEntry(decoded, at);
}

function toEntry(decoded: Decoded, at: EntryFields): ManifestEntry {
  const file = projectedValue(at.entry, decoded, at.dataFile) as Decoded | null;
  if (file === null) throw new AvroError('an entry has no data_file');
  const value = (index: number) => projectedValue(at.file, file, index);
  const filePath = projectedText(value(at.filePath));
  if (filePath === '') throw new AvroError('an entry names no file');
  const referenced = value(at.referencedDataFile);
  return {
    status: Number(projectedValue(at.entry, decoded, at.status) ?? STATUS_UNKNOWN),
    content: Number(value(at.content) ?? 0),
    filePath,
    ...(referenced === null ? {} : { referencedDataFile: projectedText(referenced) }),
    encrypted: projectedText(value(at.keyMetadata)) !== '',
  };
}
