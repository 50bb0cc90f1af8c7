/**
 * What `<table>` names (DESIGN section 11): a mounted location, a directory or a metadata file of this machine, a location on
 * a store, or a catalog's `db.table`.
 */
import { existsSync, statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { InvalidInputError, TableNotFoundError } from '#shared/errors.ts';
import { type Mount, mountedUri, mountOf, realDirectory, withoutFinalSlashes } from './mounts.ts';

export const METADATA_FILE = /\.metadata\.json(?:\.gz)?$/;

export interface TableArgument {
  readonly table: string;
  readonly metadataLocation?: string;
  /** With the mount that a directory of this machine needs, if it was given as one. */
  readonly mounts: readonly Mount[];
}

/** Reads the recorded location out of one of the metadata files of a directory. */
export type LocationReader = (directory: string, metadataFile: string | undefined) => string;

export interface TableContext {
  readonly mounts: readonly Mount[];
  /** A catalog other than `path` was named. */
  readonly named: boolean;
  readonly readLocation: LocationReader;
}

function kindOf(path: string): 'directory' | 'file' | undefined {
  if (!existsSync(path)) return undefined;
  const stats = statSync(path);
  return stats.isDirectory() ? 'directory' : stats.isFile() ? 'file' : undefined;
}

/** `<table>/metadata/x.metadata.json` → `<table>`; a file elsewhere belongs to the folder it lies in. */
function tableFolderOf(file: string): string {
  const folder = realDirectory(dirname(file));
  return basename(folder) === 'metadata' ? dirname(folder) : folder;
}

/** The file as the table itself would name it, where it lies below the table's folder. */
function recordedSpelling(file: string, directory: string, location: string): string {
  return file.startsWith(`${directory}/`) ? `${location}${file.slice(directory.length)}` : mountedUri(file);
}

function fromDirectory(directory: string, metadataFile: string | undefined, context: TableContext): TableArgument {
  const location = withoutFinalSlashes(context.readLocation(directory, metadataFile));
  const known = context.mounts.find((mount) => mount.recorded === location);
  if (known !== undefined && known.directory !== directory) {
    throw new InvalidInputError(
      `The metadata in ${directory} records the location ${location}, which is mounted at ${known.directory}.`,
    );
  }
  const mounts = known === undefined ? [...context.mounts, { recorded: location, directory }] : context.mounts;
  return {
    table: location,
    mounts: [...mounts].sort((a, b) => b.recorded.length - a.recorded.length),
    ...(metadataFile === undefined ? {} : { metadataLocation: recordedSpelling(metadataFile, directory, location) }),
  };
}

/**
 * Decides what a `<table>` operand is; nothing but local metadata is read.
 *
 * @throws InvalidInputError a word that is none of them
 * @throws TableNotFoundError a directory without a table
 */
export function resolveTableArgument(word: string, context: TableContext): TableArgument {
  if (context.named) return { table: word, mounts: context.mounts };
  const mount = mountOf(word, context.mounts);
  if (mount !== undefined) {
    return METADATA_FILE.test(word)
      ? { table: word.replace(/\/(?:metadata\/)?[^/]+$/, ''), metadataLocation: word, mounts: context.mounts }
      : { table: withoutFinalSlashes(word), mounts: context.mounts };
  }
  const kind = kindOf(word);
  if (kind === 'directory') return fromDirectory(realDirectory(word), undefined, context);
  if (kind === 'file' && METADATA_FILE.test(word)) {
    const folder = realDirectory(dirname(word));
    return fromDirectory(tableFolderOf(word), `${folder}/${basename(word)}`, context);
  }
  if (kind === 'file') throw new InvalidInputError(`${word} is no metadata file (*.metadata.json).`);
  if (/^s3[an]?:\/\//i.test(word)) return { table: withoutFinalSlashes(word), mounts: context.mounts };
  if (/^[a-z][a-z0-9+.-]*:\//i.test(word)) {
    throw new InvalidInputError(`${word} lies on a store that cannot be listed.`, {
      next: `Say where its files are with --mount ${word}=DIRECTORY.`,
    });
  }
  if (word.includes('/'))
    throw new TableNotFoundError(`There is no directory ${word}.`, {
      next: 'If the metadata records this path, add --mount RECORDED_PREFIX=DIRECTORY.',
    });
  throw new InvalidInputError(`${JSON.stringify(word)} is no directory, and no catalog is named to look it up in.`, {
    next: 'Add --catalog glue or --catalog rest --uri URL.',
  });
}
