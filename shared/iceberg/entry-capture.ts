/** Which five fields of a manifest entry are read, and where they lie in the writer's schema (Iceberg spec, "Manifests"). */
import { captureNumber, capturePresence, captureRecord, captureSpan, recordStep } from './avro-capture.ts';
import { AvroError, type ByteSpan } from './avro-cursor.ts';
import { type AvroRecord, type AvroType, asRecord, findField } from './avro-schema.ts';
import type { Step } from './avro-skip.ts';

/** Overwritten by every entry. */
export interface EntryCapture {
  status: number;
  content: number;
  /** Empty where the entry names no file. */
  readonly filePath: ByteSpan;
  /** Empty where there is none. */
  readonly referencedDataFile: ByteSpan;
  encrypted: boolean;
}

/** A status that the writer left out: not DELETED, hence live. */
export const STATUS_UNKNOWN = -1;

/** Where the fields lie; -1 for an optional one that the writer does not have. */
export interface EntryFields {
  readonly entry: AvroRecord;
  readonly status: number;
  readonly dataFile: number;
  readonly file: AvroRecord;
  readonly content: number;
  readonly filePath: number;
  readonly referencedDataFile: number;
  readonly keyMetadata: number;
}

/** Finds the fields by id, else by name. `status`, `data_file` and `file_path` must be there; v1 has no `content` (AV-07). */
export function findEntryFields(schema: AvroType): EntryFields {
  const entry = schema.kind === 'record' ? schema : undefined;
  const status = entry === undefined ? -1 : findField(entry, 0, 'status');
  const dataFile = entry === undefined ? -1 : findField(entry, 2, 'data_file');
  const file = dataFile < 0 ? undefined : asRecord((entry as AvroRecord).fields[dataFile]?.type as AvroType);
  const filePath = file === undefined ? -1 : findField(file, 100, 'file_path');
  if (entry === undefined || file === undefined || status < 0 || filePath < 0) {
    throw new AvroError('its schema is not that of a manifest');
  }
  return {
    entry,
    status,
    dataFile,
    file,
    content: findField(file, 134, 'content'),
    filePath,
    referencedDataFile: findField(file, 143, 'referenced_data_file'),
    keyMetadata: findField(file, 131, 'key_metadata'),
  };
}

/** The step that reads one entry into `into`. Optional fields keep what the caller set before. */
export function entryStep(schema: AvroType, into: EntryCapture): Step {
  const at = findEntryFields(schema);
  const status = captureNumber(at.entry.fields[at.status]?.type as AvroType, 'status', (value) => {
    into.status = value ?? STATUS_UNKNOWN;
  });
  const dataFile = captureRecord(at.entry.fields[at.dataFile]?.type as AvroType, 'data_file', (record) =>
    recordStep(record, record === at.file ? fileCaptures(at, into) : new Map()),
  );
  return recordStep(
    at.entry,
    new Map([
      [at.status, status],
      [at.dataFile, dataFile],
    ]),
  );
}

function fileCaptures(at: EntryFields, into: EntryCapture): Map<number, Step> {
  const typeOf = (index: number) => at.file.fields[index]?.type as AvroType;
  const captures = new Map<number, Step>();
  captures.set(at.filePath, captureSpan(typeOf(at.filePath), 'file_path', into.filePath));
  if (at.content >= 0) {
    captures.set(
      at.content,
      captureNumber(typeOf(at.content), 'content', (value) => {
        into.content = value ?? 0;
      }),
    );
  }
  if (at.referencedDataFile >= 0) {
    captures.set(
      at.referencedDataFile,
      captureSpan(typeOf(at.referencedDataFile), 'referenced_data_file', into.referencedDataFile),
    );
  }
  if (at.keyMetadata >= 0) {
    captures.set(
      at.keyMetadata,
      capturePresence(typeOf(at.keyMetadata), 'key_metadata', (present) => {
        into.encrypted = present;
      }),
    );
  }
  return captures;
}
