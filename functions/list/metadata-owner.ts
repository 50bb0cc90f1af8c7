/** Whose is an unreferenced `*.metadata.json`? A table that shares the storage would lose its files to this run. */
import { AccessDeniedError } from '#shared/errors.ts';
import { parseMetadataName } from '#shared/iceberg/metadata-names.ts';
import { type PeekedIdentity, peekTableIdentity } from '#shared/iceberg/peek-identity.ts';
import { foldReference } from '#shared/identity/fold-key.ts';
import { locateReference } from '#shared/identity/references.ts';
import type { Plan } from '#shared/run/plan.ts';
import type { ForeignMetadataFile } from '#shared/run/receipts.ts';
import { stepAfterDenial } from '#shared/storage/denied.ts';
import { isStoreFault, type ListedObject, type ObjectStore } from '#shared/storage/object-store.ts';

const PEEKED_BYTES = 8192;
/** A metadata file without a uuid is read whole to know that; a larger one is not, and counts as unreadable. */
const MOST_BYTES = 64 * 1024 * 1024;

export type MetadataOwner =
  | { readonly whose: 'ours'; readonly superseded: boolean }
  | { readonly whose: 'former' }
  /** It went away between the listing and the look. */
  | { readonly whose: 'gone' }
  | { readonly whose: 'foreign'; readonly file: ForeignMetadataFile };

export interface OwnerAnswer {
  readonly owner: MetadataOwner;
  readonly gets: number;
}

/** Reads the first 8 KB, and the whole file only where the uuid is not there. */
export async function findMetadataOwner(
  store: ObjectStore,
  bucket: string,
  object: ListedObject,
  plan: Plan,
): Promise<OwnerAnswer> {
  const { key } = object;
  try {
    const first = await store.get(bucket, key, { range: { start: 0, end: PEEKED_BYTES - 1 } });
    const peeked = peekTableIdentity(first.body);
    if (peeked.tableUuid !== undefined || peeked.complete) return { owner: judge(key, peeked, plan), gets: 1 };
    if (first.sizeBytes <= PEEKED_BYTES || first.sizeBytes > MOST_BYTES) {
      return { owner: judge(key, peeked, plan), gets: 1 };
    }
    const whole = await store.get(bucket, key);
    return { owner: judge(key, peekTableIdentity(whole.body), plan), gets: 2 };
  } catch (error) {
    if (isStoreFault(error, 'NotFound')) return { owner: { whose: 'gone' }, gets: 1 };
    if (isStoreFault(error, 'AccessDenied')) {
      throw new AccessDeniedError(`Reading metadata file s3://${bucket}/${key} was denied.`, {
        cause: error,
        next: `${stepAfterDenial(error, `Grant s3:GetObject on s3://${bucket}/${key}.`)} icesweep must know whose table it belongs to.`,
      });
    }
    if (isUnreadableKey(error)) return { owner: unreadable(key), gets: 1 };
    throw error;
  }
}

/** A directory lists files whose names are no UTF-8 under keys that it cannot be asked for. */
function isUnreadableKey(error: unknown): boolean {
  return isStoreFault(error, 'BadRequest') && error.code === 'InvalidArgument';
}

function unreadable(key: string): MetadataOwner {
  return { whose: 'foreign', file: { key, found: 'unreadable', table_uuid: null } };
}

function judge(key: string, peeked: PeekedIdentity, plan: Plan): MetadataOwner {
  const uuid = peeked.tableUuid?.toLowerCase();
  const foreign = (found: ForeignMetadataFile['found']): MetadataOwner => ({
    whose: 'foreign',
    file: { key, found, table_uuid: peeked.tableUuid ?? null },
  });
  if (uuid !== undefined) {
    if (uuid === plan.pin.table_uuid?.toLowerCase()) return ours(key, plan);
    const former = plan.input.former_table_uuids.some((known) => known.toLowerCase() === uuid);
    return former ? { whose: 'former' } : foreign('foreign_uuid');
  }
  // Only a document seen to its end has no uuid; format version 1 does not ask for one.
  if (!peeked.complete) return unreadable(key);
  if (peeked.location !== undefined && isSameLocation(peeked.location, plan)) return ours(key, plan);
  return foreign('foreign_location');
}

function isSameLocation(location: string, plan: Plan): boolean {
  const { identity } = plan;
  const folded = (path: string) => foldReference(path, identity.ignoreCase).replace(/\/+$/, '');
  if (folded(location) !== folded(plan.location)) return false;
  try {
    return locateReference(location, identity).bucket === locateReference(plan.location, identity).bucket;
  } catch {
    return false;
  }
}

/** Versions of one name form can be compared; the plan has put every later file of ours into the filter. */
function ours(key: string, plan: Plan): MetadataOwner {
  const own = parseMetadataName(baseName(key));
  const pinned = parseMetadataName(baseName(plan.pin.key));
  const superseded = own !== null && pinned !== null && own.form === pinned.form && own.version < pinned.version;
  return { whose: 'ours', superseded };
}

function baseName(key: string): string {
  return key.slice(key.lastIndexOf('/') + 1);
}
