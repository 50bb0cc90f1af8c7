/** Judged at every look at a catalog, so that a table whose files become shared during a run stops it. */
import { GcDisabledError } from '#shared/errors.ts';

export function refuseGcDisabled(values: readonly string[], table: string): void {
  const off = values.find((value) => value.trim().toLowerCase() !== 'true');
  if (off === undefined) return;
  throw new GcDisabledError(
    `GC is disabled for ${table}: the catalog says gc.enabled=${JSON.stringify(off)}, and deleting files may corrupt other tables.`,
    { next: 'Its files may be shared with another table. Set gc.enabled=true only if they are not.' },
  );
}
