/**
 * What a table must be before anything of it is listed or read (DESIGN section 7, gates of the plan). Each gate throws its own
 * error or answers what it saw.
 */
import type { CatalogClaims } from '#shared/catalog/catalog.ts';
import { GcDisabledError, LocationConflictError, TableNotFoundError, UnsupportedTableError } from '#shared/errors.ts';
import type { TableMetadata } from '#shared/iceberg/types.ts';
import { foldKey } from '#shared/identity/fold-key.ts';
import type { GateResult } from './plan.ts';

type Value = GateResult['value'];

const passed = (name: string, value: Value, limit: Value): GateResult => ({ name, value, limit, passed: true });

/** A table-uuid that the operator gave must be the table's. */
export function gateTableUuid(meta: TableMetadata, wanted: string | undefined): GateResult {
  const uuid = meta.tableUuid?.toLowerCase() ?? null;
  if (wanted !== undefined && uuid !== wanted) {
    throw new TableNotFoundError(
      `${meta.metadataLocation} has table-uuid ${uuid}, not the ${wanted} that was asked for.`,
      {
        next: 'The name may now belong to another table; nothing was touched.',
      },
    );
  }
  return passed('table_uuid', uuid, wanted ?? null);
}

/** The parser refuses versions that it does not know; the record says which one it was. */
export function gateFormatVersion(meta: TableMetadata): GateResult {
  return passed('format_version', meta.formatVersion, 3);
}

export function gateEncryption(meta: TableMetadata): GateResult {
  if (meta.encrypted) {
    throw new UnsupportedTableError(`${meta.metadataLocation} is the metadata of an encrypted table.`, {
      next: 'Its manifests cannot be read without its keys, so nothing of it is removed.',
    });
  }
  return passed('encryption', false, false);
}

/** Absent, or `true` in any letter case, in the table's properties and in whatever the catalog adds to them (FF-09). */
export function gateGcEnabled(meta: TableMetadata, claims: CatalogClaims): GateResult {
  const own = meta.properties['gc.enabled'];
  const values = [...(own === undefined ? [] : [own]), ...claims.gc_enabled];
  const off = values.find((value) => value.trim().toLowerCase() !== 'true');
  if (off !== undefined) {
    throw new GcDisabledError(
      `GC is disabled for ${meta.location}: gc.enabled is ${JSON.stringify(off)}, and deleting files may corrupt other tables.`,
      {
        next: 'Its files may be shared with the table that it was copied from. Set gc.enabled=true only if they are not.',
      },
    );
  }
  return passed('gc.enabled', values[0] ?? null, 'true');
}

/** Properties that a catalog of many heads leaves in its tables (CA-04). */
export function gateSingleHead(meta: TableMetadata): GateResult {
  const nessie = Object.keys(meta.properties).find((name) => name.startsWith('nessie.'));
  if (nessie !== undefined) {
    throw new UnsupportedTableError(
      `${meta.location} has the property ${nessie}: its catalog can hold several current versions of the table.`,
      { next: "Use that catalog's own garbage collection, which sees all of its branches." },
    );
  }
  return passed('single_head', true, true);
}

/** The whole bucket would be listed (FF-11). `prefix` is the location's key prefix. */
export function gateNotBucketRoot(meta: TableMetadata, bucket: string, prefix: string): GateResult {
  if (foldKey(prefix) === '') {
    throw new LocationConflictError(`The table's location ${meta.location} is the root of the bucket ${bucket}.`, {
      next: "Every object of the bucket would count as the table's; move the table below a prefix.",
    });
  }
  return passed('location', `s3://${bucket}/${prefix}`, null);
}

/** S3 Tables keep their own files in order; directory buckets list in no order. */
export function gateBucketKind(bucket: string): GateResult {
  if (bucket.endsWith('--table-s3')) {
    throw new UnsupportedTableError(
      `The bucket ${bucket} belongs to S3 Tables, which removes unreferenced files itself.`,
    );
  }
  if (bucket.endsWith('--x-s3')) {
    throw new UnsupportedTableError(
      `The directory bucket ${bucket} lists its keys in no order, which icesweep relies on.`,
    );
  }
  return passed('bucket', bucket, null);
}

/**
 * What the catalog says of the table must be what the file says: else the catalog answers with something that the file does
 * not hold, and the file is not the table's state.
 */
export function gateCatalogAgrees(meta: TableMetadata, claims: CatalogClaims): GateResult {
  const differences = [
    differs('table-uuid', claims.table_uuid?.toLowerCase(), meta.tableUuid?.toLowerCase()),
    differs('last-sequence-number', claims.last_sequence_number, Number(meta.lastSequenceNumber)),
    differs('last-updated-ms', claims.last_updated_ms, meta.lastUpdatedMs),
  ].filter((text) => text !== undefined);
  if (differences.length > 0) {
    throw new UnsupportedTableError(`The catalog and ${meta.metadataLocation} disagree: ${differences.join('; ')}.`, {
      next: 'The file is not the state that the catalog serves; nothing of the table is removed.',
    });
  }
  return passed('catalog_agrees', true, true);
}

function differs(
  name: string,
  claimed: string | number | undefined,
  own: string | number | undefined,
): string | undefined {
  if (claimed === undefined || claimed === own) return undefined;
  return `${name} is ${claimed} in the catalog and ${own ?? 'absent'} in the file`;
}
