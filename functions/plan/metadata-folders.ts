/** The folders in which a table keeps its metadata, and what is found there right after the pin (DESIGN section 3). */
import { listWhole } from '#shared/catalog/table-objects.ts';
import { PrefixMismatchError } from '#shared/errors.ts';
import { parsePendingManifest } from '#shared/iceberg/flink.ts';
import { isMetadataJsonName } from '#shared/iceberg/metadata-names.ts';
import { foldKey, foldReference } from '#shared/identity/fold-key.ts';
import { locateReference, resolveLocation } from '#shared/identity/references.ts';
import type { Folder } from '#shared/run/plan.ts';
import type { ListedObject, ObjectStore } from '#shared/storage/object-store.ts';
import type { PinnedTable } from './pin-table.ts';

export interface ListedFile extends ListedObject {
  readonly bucket: string;
}

export const fileName = (key: string): string => key.slice(key.lastIndexOf('/') + 1);

const folderOf = (key: string): string => key.slice(0, key.lastIndexOf('/') + 1);

/** Keeps the first of equal folders. */
export function distinctFolders(folders: readonly Folder[]): Folder[] {
  const seen = new Map(folders.map((folder) => [`${folder.bucket}/${folder.prefix}`, folder] as const).reverse());
  return [...seen.values()].reverse();
}

/** The place of a recorded path, or undefined where the path does not say it: such a path is judged by the scan. */
function placeOf(table: PinnedTable, path: string): Folder | undefined {
  try {
    const { bucket, key } = locateReference(path, table.identity);
    return { bucket, prefix: key };
  } catch (error) {
    if (error instanceof PrefixMismatchError) return undefined;
    throw error;
  }
}

/** Of the pinned file, of its log, `<location>/metadata/` in every spelling, `write.metadata.path`. */
export function metadataFolders(table: PinnedTable, locationSpellings: readonly Folder[]): Folder[] {
  const logged = table.meta.metadataLog
    .map(({ metadataFile }) => placeOf(table, metadataFile))
    .filter((place) => place !== undefined)
    .map(({ bucket, prefix }) => ({ bucket, prefix: folderOf(prefix) }));
  const configured = table.meta.properties['write.metadata.path'];
  return distinctFolders([
    { bucket: table.pin.bucket, prefix: folderOf(table.pin.key) },
    ...locationSpellings.map(({ bucket, prefix }) => ({ bucket, prefix: `${prefix}metadata/` })),
    ...(configured === undefined ? [] : [propertyFolder(table, configured)].filter((folder) => folder !== undefined)),
    ...logged,
  ]);
}

/** The folder that a property names; relative ones lie in the location. Undefined where the storage cannot be told. */
export function propertyFolder(table: PinnedTable, value: string): Folder | undefined {
  try {
    const { bucket, prefix } = resolveLocation(value, table.identity);
    return { bucket, prefix };
  } catch (error) {
    if (!(error instanceof PrefixMismatchError)) throw error;
    const relative = !/^[A-Za-z][A-Za-z0-9+.-]*:|^\//.test(value);
    if (!relative || value.split('/').includes('..')) return undefined;
    const below = value.replace(/^\.\//, '').replace(/\/+$/, '');
    return { bucket: table.location.bucket, prefix: `${table.location.prefix}${below}/` };
  }
}

/** What the plan asks about: a folder that was never cleaned holds millions of lists and manifests beside it. */
function isAskedAbout(key: string): boolean {
  const name = fileName(key);
  return isMetadataJsonName(name) || parsePendingManifest(name) !== null;
}

/** Metadata files and pending manifests of the folders themselves, not of folders below them; each once. */
export async function listFolders(
  store: ObjectStore,
  folders: readonly Folder[],
  hasTime: () => boolean,
): Promise<ListedFile[]> {
  const files = new Map<string, ListedFile>();
  for (const { bucket, prefix } of folders) {
    const { objects } = await listWhole(store, { bucket, prefix, delimiter: '/' }, { keeps: isAskedAbout, hasTime });
    for (const object of objects) files.set(`${bucket}/${object.key}`, { ...object, bucket });
  }
  return [...files.values()];
}

/** Metadata files of the folders that are neither the pinned one nor in its log, newest first. */
export function unloggedMetadataFiles(table: PinnedTable, files: readonly ListedFile[]): ListedFile[] {
  const fold = (path: string): string => foldReference(path, table.identity.ignoreCase);
  const known = new Set([
    foldKey(table.pin.key, table.identity.ignoreCase),
    ...table.meta.metadataLog.map(({ metadataFile }) => fold(metadataFile)),
    ...table.meta.metadataLog
      .map(({ metadataFile }) => placeOf(table, metadataFile))
      .filter((place) => place !== undefined)
      .map(({ prefix }) => foldKey(prefix, table.identity.ignoreCase)),
  ]);
  const time = (file: ListedFile): number =>
    Number.isFinite(file.lastModifiedMs) ? file.lastModifiedMs : Number.MAX_VALUE;
  return files
    .filter(({ key }) => isMetadataJsonName(fileName(key)))
    .filter(({ key }) => !known.has(foldKey(key, table.identity.ignoreCase)))
    .sort((a, b) => time(b) - time(a) || (a.key < b.key ? 1 : -1));
}
