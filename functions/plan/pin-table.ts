/** The pin: exactly the metadata file that the catalog names now (DESIGN section 3). There is no fallback to another. */
import type { CurrentPointer } from '#shared/catalog/catalog.ts';
import { readObject } from '#shared/catalog/table-objects.ts';
import { MetadataUnreadableError } from '#shared/errors.ts';
import { parseTableMetadata } from '#shared/iceberg/metadata-json.ts';
import type { TableMetadata } from '#shared/iceberg/types.ts';
import { locateReference, resolveLocation } from '#shared/identity/references.ts';
import type { IdentityRules } from '#shared/identity/types.ts';
import {
  gateBucketKind,
  gateCatalogAgrees,
  gateEncryption,
  gateFormatVersion,
  gateGcEnabled,
  gateNotBucketRoot,
  gateSingleHead,
  gateTableUuid,
} from '#shared/run/gates-table.ts';
import { identityRules } from '#shared/run/input-identity.ts';
import type { GateResult, Pin } from '#shared/run/plan.ts';
import type { ResolvedInput } from '#shared/run/resolved-input.ts';
import type { ObjectStore } from '#shared/storage/object-store.ts';

/** A folder in both spellings that matter: how it is recorded, and where it is listed. */
export interface Located {
  readonly scheme: string;
  readonly authority: string;
  readonly bucket: string;
  readonly prefix: string;
}

export interface PinnedTable {
  readonly pin: Pin;
  readonly meta: TableMetadata;
  /** When the pinned file was written, by the store's clock. */
  readonly writtenMs: number;
  readonly identity: IdentityRules;
  readonly location: Located;
  readonly gates: readonly GateResult[];
}

/** Reads the file that the pointer names and judges the table by it. */
export async function pinTable(
  input: ResolvedInput,
  pointer: CurrentPointer,
  store: ObjectStore,
): Promise<PinnedTable> {
  const path = pointer.metadata_location;
  const { bucket, key } = locateReference(path, identityRules(input, input.table));
  const object = await readObject(store, bucket, key);
  if (object === undefined) {
    throw new MetadataUnreadableError(`The current metadata file ${path} (s3://${bucket}/${key}) does not exist.`, {
      next: 'The table cannot be read as it is; restore the file or repair the catalog.',
    });
  }
  const meta = parseTableMetadata(object.body, path);
  const identity = identityRules(input, meta.location);
  const location = resolveLocation(meta.location, identity);
  const gates = [
    gateTableUuid(meta, input.table_uuid),
    gateFormatVersion(meta),
    gateEncryption(meta),
    gateGcEnabled(meta, pointer.claims),
    gateSingleHead(meta),
    gateNotBucketRoot(meta, location.bucket, location.prefix),
    gateBucketKind(location.bucket),
    gateCatalogAgrees(meta, pointer.claims),
  ];
  return { pin: pinOf(meta, bucket, key), meta, writtenMs: object.lastModifiedMs, identity, location, gates };
}

function pinOf(meta: TableMetadata, bucket: string, key: string): Pin {
  return {
    metadata_location: meta.metadataLocation,
    bucket,
    key,
    table_uuid: meta.tableUuid ?? null,
    format_version: meta.formatVersion,
    last_updated_ms: meta.lastUpdatedMs,
    last_sequence_number: meta.lastSequenceNumber.toString(),
    snapshot_id: meta.currentSnapshotId?.toString() ?? null,
  };
}

const DAY_MS = 86_400_000;

/**
 * The writer time (DESIGN section 6): of the newest retained snapshot that added data files; if none did, of the oldest
 * retained one; less a day, since an upload carries its start time. Null without snapshots.
 */
export function writerTime(meta: TableMetadata): string | null {
  const added = meta.snapshots.filter(({ summary }) => addedDataFiles(summary));
  const pool = added.length > 0 ? added : meta.snapshots;
  if (pool.length === 0) return null;
  const times = pool.map(({ timestampMs }) => timestampMs);
  const at = times.reduce((a, b) => (added.length > 0 ? Math.max(a, b) : Math.min(a, b)));
  return new Date(at - DAY_MS).toISOString();
}

/** Without a count only an append is known to add files; to guess more would let waiting files go earlier. */
function addedDataFiles(summary: Readonly<Record<string, string>>): boolean {
  const operation = summary['operation'];
  if (operation === 'replace') return false;
  const count = summary['added-data-files'];
  return count === undefined ? operation === 'append' : Number(count) > 0;
}
