/**
 * Flink's pending manifests (DESIGN section 3, Flink): named by no snapshot, kept whatever their age and whoever their job,
 * and read as manifests, so that the uncommitted data files they name are referenced too.
 */
import { listWhole } from '#shared/catalog/table-objects.ts';
import { PrefixMismatchError } from '#shared/errors.ts';
import { fileKind } from '#shared/iceberg/file-kind.ts';
import { flinkJobIds, parsePendingManifest } from '#shared/iceberg/flink.ts';
import type { TableMetadata } from '#shared/iceberg/types.ts';
import type { Folder } from '#shared/run/plan.ts';
import type { ObjectStore } from '#shared/storage/object-store.ts';
import { distinctFolders, fileName, type ListedFile, propertyFolder } from './metadata-folders.ts';
import type { PinnedTable } from './pin-table.ts';

export interface PendingManifests {
  readonly jobIds: readonly string[];
  readonly folders: readonly Folder[];
  /** Files to keep and to read. */
  readonly files: readonly ListedFile[];
}

export interface PendingQuestion {
  readonly table: PinnedTable;
  readonly laterRoots: readonly TableMetadata[];
  /** Files of the metadata folders. */
  readonly listed: readonly ListedFile[];
  readonly store: ObjectStore;
  readonly t0Ms: number;
  readonly horizonMs: number | undefined;
}

/** `flink.manifests.location` of the pinned metadata and of every later root. */
function manifestFolders(question: PendingQuestion): Folder[] {
  const { table, laterRoots } = question;
  const values = [table.meta, ...laterRoots].map(({ properties }) => properties['flink.manifests.location']);
  return distinctFolders(
    values.filter((value) => value !== undefined).map((value) => propertyFolder(table, value) ?? refusePlace(value)),
  );
}

/** Files that nobody can look at would lose their protection in silence. */
function refusePlace(value: string): never {
  throw new PrefixMismatchError(
    `flink.manifests.location is ${value}, which does not say where in the storage it lies.`,
    {
      next: 'Map it with path_aliases.',
    },
  );
}

/** In a folder that Flink owns every Avro file may be a pending manifest, whatever its name; lists are told by theirs. */
function mayBeManifest(key: string): boolean {
  return key.endsWith('.avro') && fileKind(key) !== 'manifest_list';
}

export async function findPendingManifests(question: PendingQuestion): Promise<PendingManifests> {
  const { table, laterRoots, listed, store, t0Ms, horizonMs } = question;
  const folders = manifestFolders(question);
  const files = new Map<string, ListedFile>();
  const add = (file: ListedFile): void => {
    const tooOld = horizonMs !== undefined && file.lastModifiedMs < t0Ms - horizonMs;
    if (!tooOld) files.set(`${file.bucket}/${file.key}`, file);
  };
  for (const file of listed) if (parsePendingManifest(fileName(file.key)) !== null) add(file);
  for (const { bucket, prefix } of folders) {
    const { objects } = await listWhole(store, { bucket, prefix });
    for (const object of objects) if (mayBeManifest(object.key)) add({ ...object, bucket });
  }
  const jobIds = [...new Set([table.meta, ...laterRoots].flatMap(flinkJobIds))];
  return { jobIds, folders, files: [...files.values()] };
}
