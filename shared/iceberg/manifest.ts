/**
 * Manifests (Iceberg spec, "Manifests"). Two readers of one contract: `forEachEntry` passes over everything but five fields and is
 * what scans; `readManifest` decodes with `avsc`, its reader schema pruned from the writer's own. The tests hold them together.
 */
import { MetadataUnreadableError, UnsupportedTableError } from '#shared/errors.ts';
import { type AvroFile, openAvroFile } from './avro-container.ts';
import { AvroCursor, AvroError, ByteSpan } from './avro-cursor.ts';
import { parseAvroSchema } from './avro-schema.ts';
import { type EntryCapture, entryStep } from './entry-capture.ts';
import { projectedEntries } from './entry-projection.ts';
import type { ManifestEntry } from './types.ts';

/** What the manifest list says of a manifest; undefined where it does not. */
export interface ManifestExpectations {
  /** Added, existing and deleted entries together. */
  readonly entries?: number;
  /** `manifest_length`. Judged only where `entries` is not given: rewritten copies keep stale lengths. */
  readonly length?: number;
}

/** The spans are valid during the call only; `referencedDataFile` is empty where there is none. */
export type EntryVisitor = (status: number, content: number, filePath: ByteSpan, referencedDataFile: ByteSpan) => void;

const STATUS_DELETED = 2;

/** All entries, live and DELETED. The counts are checked when the iteration ends; a broken file throws MetadataUnreadableError. */
export function* readManifest(
  bytes: Uint8Array,
  source: string,
  expectations: ManifestExpectations = {},
): Generator<ManifestEntry> {
  let entries = 0;
  try {
    for (const entry of projectedEntries(openManifest(bytes, expectations))) {
      entries++;
      yield entry;
    }
    checkEntries(entries, expectations);
  } catch (cause) {
    throw unreadable(source, cause);
  }
}

/**
 * The same entries, without strings and objects, synchronously and block by block. A live entry with `key_metadata` is a file
 * of an encrypted table: UnsupportedTableError.
 */
export function forEachEntry(
  bytes: Uint8Array,
  source: string,
  expectations: ManifestExpectations,
  visit: EntryVisitor,
): void {
  let entries = 0;
  let encrypted = false;
  let visiting = false;
  try {
    const file = openManifest(bytes, expectations);
    const [filePath, referencedDataFile] = [new ByteSpan(), new ByteSpan()];
    const entry: EntryCapture = { status: 0, content: 0, filePath, referencedDataFile, encrypted: false };
    const step = entryStep(parseAvroSchema(file.schema), entry);
    for (const block of file.blocks()) {
      const cursor = new AvroCursor(block.data);
      for (let left = block.count; left > 0; left--) {
        entry.content = 0;
        step(cursor);
        encrypted ||= entry.encrypted && entry.status !== STATUS_DELETED;
        if (filePath.length === 0) throw new AvroError('an entry names no file');
        visiting = true;
        visit(entry.status, entry.content, filePath, referencedDataFile);
        visiting = false;
      }
      if (cursor.pos !== cursor.end) throw new AvroError('a block holds more than its entries');
      block.release();
      entries += block.count;
    }
    checkEntries(entries, expectations);
  } catch (cause) {
    throw visiting ? cause : unreadable(source, cause);
  }
  if (encrypted) throw new UnsupportedTableError(`${source} names encrypted files; encrypted tables are not cleaned.`);
}

/** DESIGN section 3: where the list gives no counts, a file cut at a block's end shows only in its size. */
function openManifest(bytes: Uint8Array, { entries, length }: ManifestExpectations): AvroFile {
  if (entries === undefined && length !== undefined && bytes.length !== length) {
    throw new AvroError(`it has ${bytes.length} bytes where its manifest list says ${length}`);
  }
  return openAvroFile(bytes);
}

function checkEntries(entries: number, expectations: ManifestExpectations): void {
  if (expectations.entries === undefined || entries >= expectations.entries) return;
  throw new AvroError(`it has ${entries} entries where its manifest list promises ${expectations.entries}`);
}

function unreadable(source: string, cause: unknown): MetadataUnreadableError {
  if (cause instanceof MetadataUnreadableError) return cause;
  return new MetadataUnreadableError(`${source} cannot be read as a manifest: ${(cause as Error).message}.`, { cause });
}
