/** Reading table metadata and manifest lists through the stages' ports, with every failure named. */
import { readObject } from '#shared/catalog/table-objects.ts';
import { MetadataUnreadableError } from '#shared/errors.ts';
import { readManifestList } from '#shared/iceberg/manifest-list.ts';
import { parseTableMetadata } from '#shared/iceberg/metadata-json.ts';
import type { ManifestFile, Snapshot, TableMetadata } from '#shared/iceberg/types.ts';
import { locateReference } from '#shared/identity/references.ts';
import type { IdentityRules } from '#shared/identity/types.ts';
import type { ObjectStore, StoredObject } from '#shared/storage/object-store.ts';

const LISTS_AT_ONCE = 8;

/** Fetches a file that metadata names. Absence is undefined; a refusal is never taken for absence. */
export async function fetchNamed(
  store: ObjectStore,
  path: string,
  identity: IdentityRules,
): Promise<StoredObject | undefined> {
  const { bucket, key } = locateReference(path, identity);
  return readObject(store, bucket, key);
}

/** Loads a metadata file, or undefined where it does not exist. */
export async function loadMetadata(
  store: ObjectStore,
  location: string,
  identity: IdentityRules,
): Promise<TableMetadata | undefined> {
  const object = await fetchNamed(store, location, identity);
  return object === undefined ? undefined : parseTableMetadata(object.body, location);
}

/** A snapshot's manifests; undefined where its manifest list does not exist. Inline manifests of v1 need no list. */
export async function manifestsOf(
  store: ObjectStore,
  snapshot: Snapshot,
  identity: IdentityRules,
): Promise<readonly ManifestFile[] | undefined> {
  if (snapshot.manifestList === undefined) {
    return (snapshot.manifests ?? []).map((manifestPath) => ({ manifestPath, content: 'data', encrypted: false }));
  }
  const object = await fetchNamed(store, snapshot.manifestList, identity);
  return object === undefined ? undefined : readManifestList(object.body, snapshot.manifestList);
}

/** Distinct manifests of many snapshots, lists read in parallel within bounds. A list that does not exist throws. */
export async function manifestsOfAll(
  store: ObjectStore,
  snapshots: readonly Snapshot[],
  identity: IdentityRules,
): Promise<ReadonlyMap<string, ManifestFile>> {
  const found = new Map<string, ManifestFile>();
  for (let start = 0; start < snapshots.length; start += LISTS_AT_ONCE) {
    const group = snapshots.slice(start, start + LISTS_AT_ONCE);
    const lists = await Promise.all(group.map((snapshot) => manifestsOf(store, snapshot, identity)));
    lists.forEach((manifests, index) => {
      if (manifests === undefined) {
        throw new MetadataUnreadableError(`Manifest list ${group[index]?.manifestList} does not exist.`);
      }
      for (const manifest of manifests) found.set(manifest.manifestPath, manifest);
    });
  }
  return found;
}
