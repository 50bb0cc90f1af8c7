/** The location that a table's metadata records, read from a directory of this machine before anything is mounted. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { MetadataUnreadableError, TableNotFoundError } from '#shared/errors.ts';
import { chooseMetadata, headsNeeded, type MetadataHead } from '#shared/iceberg/choose-metadata.ts';
import { parseTableMetadata } from '#shared/iceberg/metadata-json.ts';
import type { TableMetadata } from '#shared/iceberg/types.ts';

function parse(file: string): TableMetadata {
  try {
    return parseTableMetadata(readFileSync(file), file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    throw new MetadataUnreadableError(`${file} cannot be read: ${(error as Error).message}`);
  }
}

function headOf(file: string): MetadataHead {
  const meta = parse(file);
  return {
    lastUpdatedMs: meta.lastUpdatedMs,
    ...(meta.tableUuid === undefined ? {} : { tableUuid: meta.tableUuid }),
  };
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw new MetadataUnreadableError(`${folder} cannot be read: ${(error as Error).message}`);
  }
}

/**
 * @param metadataFile the file to read, else the directory's current one is chosen as the run would choose it
 * @throws TableNotFoundError a directory without metadata files
 * @throws MetadataUnreadableError a metadata file, or their folder, that cannot be read
 */
export function readRecordedLocation(directory: string, metadataFile: string | undefined): string {
  if (metadataFile !== undefined) return parse(metadataFile).location;
  const folder = join(directory, 'metadata');
  const names = namesIn(folder);
  if (!names.some((name) => name.includes('.metadata.json'))) {
    throw new TableNotFoundError(`${directory} is no Iceberg table: there is no metadata/*.metadata.json in it.`, {
      next: 'Name the directory that holds data/ and metadata/.',
    });
  }
  const heads = new Map(headsNeeded(names).map((name) => [name, headOf(join(folder, name))]));
  return parse(join(folder, chooseMetadata(names, heads).name)).location;
}
