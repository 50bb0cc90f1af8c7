/** The table's gates, judged again on metadata that became current after the plan (DESIGN section 8). */
import type { CatalogClaims } from '#shared/catalog/catalog.ts';
import { GcDisabledError, TableChangedError, UnsupportedTableError } from '#shared/errors.ts';
import type { TableMetadata } from '#shared/iceberg/types.ts';
import { resolveLocation } from '#shared/identity/references.ts';
import type { Plan } from './plan.ts';

/** Throws unless the metadata is still that of the planned table, in a state that may be cleaned. */
export function requireSameTable(plan: Plan, metadata: TableMetadata): void {
  const planned = plan.pin.table_uuid?.toLowerCase() ?? null;
  const current = metadata.tableUuid?.toLowerCase() ?? null;
  if (planned !== null && current !== planned) {
    throw new TableChangedError(
      `The table was dropped and created anew: ${metadata.metadataLocation} has table-uuid ${current}, the plan ${planned}.`,
      { next: 'Start a new run.' },
    );
  }
  if (placeOf(plan, metadata.location) !== placeOf(plan, plan.location)) {
    throw new TableChangedError(`The table was moved from ${plan.location} to ${metadata.location}.`, {
      next: 'Start a new run.',
    });
  }
  const gc = metadata.properties['gc.enabled'];
  if (gc !== undefined && gc.toLowerCase() !== 'true') {
    throw new GcDisabledError(
      `gc.enabled was set to ${JSON.stringify(gc)} during the run: other tables may use these files.`,
    );
  }
  if (metadata.encrypted) {
    throw new UnsupportedTableError('The table was encrypted during the run; its manifests cannot be read any more.');
  }
}

/** What the catalog says beside the pointer can only refuse. */
export function requireClaimsAllow(claims: CatalogClaims): void {
  const off = claims.gc_enabled.find((value) => value.trim().toLowerCase() !== 'true');
  if (off === undefined) return;
  throw new GcDisabledError(
    `The catalog came to say gc.enabled=${off} during the run: other tables may use these files.`,
  );
}

function placeOf(plan: Plan, location: string): string {
  const { bucket, prefix } = resolveLocation(location, plan.identity);
  return `${bucket}/${prefix}`;
}
