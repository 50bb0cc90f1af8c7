/** Who else may own files where the run lists: other table formats, other tables of the catalog (DESIGN section 7). */
import type { Catalog, OtherTable } from '#shared/catalog/catalog.ts';
import { inOrder, listPage } from '#shared/catalog/table-objects.ts';
import { LocationConflictError, PrefixMismatchError } from '#shared/errors.ts';
import { resolveLocation } from '#shared/identity/references.ts';
import type { Folder, GateResult } from '#shared/run/plan.ts';
import type { ObjectStore } from '#shared/storage/object-store.ts';
import type { SpellingFinder } from './location-spellings.ts';
import type { PinnedTable } from './pin-table.ts';

/** Folders in which other formats keep their logs. The lister looks for more of them at any depth. */
const OTHER_FORMATS = ['_delta_log/', '.hoodie/', '_hudi/', '_paimon/', '.hudi/'];

/** A log of another format beside the data: that format's own cleaner, or ours, would remove what the other needs (FF-06). */
export async function gateOtherFormats(store: ObjectStore, folders: readonly Folder[]): Promise<GateResult> {
  const places = folders.flatMap(({ bucket, prefix }) =>
    OTHER_FORMATS.map((name) => ({ bucket, prefix: prefix + name })),
  );
  const pages = await inOrder(places, 16, (place) => listPage(store, { ...place, maxKeys: 1 }));
  const found = places.find((_, index) => pages[index]!.objects.length > 0);
  if (found !== undefined) {
    throw new LocationConflictError(
      `s3://${found.bucket}/${found.prefix} belongs to another table format on the same files.`,
      {
        next: 'That format names files which Iceberg metadata does not; such a table is not cleaned.',
      },
    );
  }
  return { name: 'other_formats', value: 0, limit: 0, passed: true };
}

export interface Neighbours {
  /** Undefined where the catalog cannot list its tables, or may not show them. */
  readonly tables: readonly OtherTable[] | undefined;
  readonly compared: number | null;
}

export async function listNeighbours(catalog: Catalog, deep: boolean): Promise<Neighbours> {
  const tables = await catalog.otherTables?.({ deep });
  return { tables, compared: tables?.length ?? null };
}

/** Where two folded prefixes, both ending at a slash, are equal or one contains the other. */
export function overlaps(a: string, b: string): boolean {
  return a.startsWith(b) || b.startsWith(a);
}

/** The folders that another table owns; recorded paths that say no place own none. */
export function rootsOf(other: OtherTable, table: PinnedTable): Folder[] {
  return other.roots.flatMap((recorded) => {
    try {
      const { bucket, prefix } = resolveLocation(recorded, table.identity);
      return [{ bucket, prefix }];
    } catch (error) {
      if (error instanceof PrefixMismatchError) return [];
      throw error;
    }
  });
}

/** Whether a table of the catalog has a root at, over or under one of the folders. */
export function conflictWith(
  other: OtherTable,
  folders: readonly Folder[],
  table: PinnedTable,
  spellings: SpellingFinder,
): Folder | undefined {
  return rootsOf(other, table).find((theirs) =>
    folders.some(
      (ours) => ours.bucket === theirs.bucket && overlaps(spellings.fold(ours.prefix), spellings.fold(theirs.prefix)),
    ),
  );
}

/** No other table's root equals, contains or lies inside ours; `overlaps_allowed` names exceptions (FF-03, IK-05 to 07). */
export function gateOverlaps(
  neighbours: Neighbours,
  folders: readonly Folder[],
  table: PinnedTable,
  spellings: SpellingFinder,
  allowed: readonly string[],
): GateResult {
  for (const other of neighbours.tables ?? []) {
    if (allowed.includes(other.table)) continue;
    const conflict = conflictWith(other, folders, table, spellings);
    if (conflict !== undefined) {
      throw new LocationConflictError(
        `The table ${other.table} keeps files at s3://${conflict.bucket}/${conflict.prefix}, which overlaps this table's.`,
        {
          next: 'Move one of them, or name it in overlaps_allowed of the deployment if its files are told apart otherwise.',
        },
      );
    }
  }
  return { name: 'overlapping_tables', value: neighbours.compared, limit: 0, passed: true };
}
