/** Listing run records, of one table or of all. */
import { existsSync } from 'node:fs';
import type { ItemTable } from '#shared/run/item-table.ts';
import type { RunRecord } from '#shared/run/record.ts';
import type { CatalogConfig } from '#shared/run/resolved-input.ts';
import { recentRecords, recordsOfTable } from '#shared/run/run-store.ts';
import { realDirectory, withoutFinalSlashes } from './arguments/mounts.ts';
import { catalogOf } from './arguments/run-input.ts';
import type { CommandContext } from './context.ts';
import { readRecordedLocation } from './recorded-location.ts';

/** The table as its records name it: a directory stands for the location that its metadata records. */
function tableName(word: string, context: CommandContext): { readonly table: string; readonly catalog: CatalogConfig } {
  const catalog = catalogOf(context.parsed.values) as CatalogConfig | undefined;
  if (catalog !== undefined && catalog.type !== 'path') return { table: word, catalog };
  const isPath = word.includes('/') || existsSync(word);
  if (catalog === undefined && !isPath) return { table: word, catalog: { type: 'glue' } };
  const location = existsSync(word) ? readRecordedLocation(realDirectory(word), undefined) : word;
  return { table: withoutFinalSlashes(location), catalog: { type: 'path' } };
}

/** Newest first: of one table, or of all. */
export function listRecords(
  items: ItemTable,
  table: string | undefined,
  limit: number,
  context: CommandContext,
): Promise<readonly RunRecord[]> {
  return table === undefined ? recentRecords(items, limit) : recordsOfTable(items, tableName(table, context), limit);
}
