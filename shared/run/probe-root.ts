/** May we delete here? Asked by a delete that can remove nothing: an absent key, under a condition that no object meets. */
import { nameStoreError } from '#shared/catalog/table-objects.ts';
import { AccessDeniedError } from '#shared/errors.ts';
import { stepAfterDenial } from '#shared/storage/denied.ts';
import { isStoreFault, type ObjectStore, type Versioning } from '#shared/storage/object-store.ts';
import type { Folder } from './plan.ts';
import { newNonce } from './run-artefacts.ts';

/** No object has this ETag. */
export const IMPOSSIBLE_ETAG = '"icesweep-probe"';

export function probeKey(prefix: string): string {
  return `${prefix}.icesweep-probe-${newNonce()}`;
}

/**
 * True where the store refused the impossible condition, false where it did as if there were none. A store of unknown habits
 * answers with a delete marker where versioning is on: it is not to be asked there.
 *
 * @param named the root as the table names it
 * @throws AccessDeniedError
 */
export async function probeRoot(store: ObjectStore, { bucket, prefix }: Folder, named: string): Promise<boolean> {
  const key = probeKey(prefix);
  try {
    await store.deleteObject(bucket, key, { ifMatch: IMPOSSIBLE_ETAG });
    return false;
  } catch (error) {
    if (isStoreFault(error, 'NotFound', 'PreconditionFailed')) return true;
    if (isStoreFault(error, 'NotImplemented', 'BadRequest')) return false;
    if (isStoreFault(error, 'AccessDenied')) {
      const grant = `Grant s3:DeleteObject and s3:GetObject on s3://${bucket}/${prefix}*.`;
      throw new AccessDeniedError(`Deleting under ${named} is not permitted; nothing was scanned or deleted.`, {
        cause: error,
        next: stepAfterDenial(error, grant),
      });
    }
    throw nameStoreError(error, 's3:DeleteObject', bucket, key);
  }
}

export async function readVersioning(tables: ObjectStore, bucket: string): Promise<Versioning> {
  try {
    return await tables.versioning(bucket);
  } catch (error) {
    if (isStoreFault(error, 'NotImplemented', 'BadRequest')) return 'Unversioned';
    throw nameStoreError(error, 's3:GetBucketVersioning', bucket, '');
  }
}
