/** Keys of the run table (DESIGN section 9): one module, so that planner, record and command line agree. */
import type { ItemKey } from './item-table.ts';
import type { CatalogConfig, ResolvedInput } from './resolved-input.ts';

/** Which catalog a table's name belongs to, as one segment of a key. */
export function catalogLabel(catalog: CatalogConfig): string {
  if (catalog.type === 'path') return 'path';
  if (catalog.type === 'glue') return catalog.catalog_id === undefined ? 'glue' : `glue:${catalog.catalog_id}`;
  return ['rest', catalog.uri.replace(/^https?:\/\//, '').replace(/\/+$/, ''), catalog.warehouse]
    .filter((part) => part !== undefined)
    .join(':');
}

/** `TABLE#<catalog>#<db.table>`: the partition of a table's records and scheduled times. */
export function tablePk(input: Pick<ResolvedInput, 'catalog' | 'table'>): string {
  return `TABLE#${catalogLabel(input.catalog)}#${input.table}`;
}

/** `RUN#<T0>#<run_id>` below the table's partition: the record itself. */
export function recordKey(input: Pick<ResolvedInput, 'catalog' | 'table'>, t0: string, runId: string): ItemKey {
  return { pk: tablePk(input), sk: `RUN#${t0}#${runId}` };
}

/** Points from a run id to its record by `record_pk` and `record_sk`. */
export function runPointerKey(runId: string): ItemKey {
  return { pk: `RUN#${runId}`, sk: 'RUN' };
}
