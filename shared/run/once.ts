/** One-time writes: taken by the first run that asks, and granted again to that same run when a reply was lost (DESIGN section 9). */
import type { Item, ItemKey, ItemTable } from './item-table.ts';

/** True where the key is now, or was already, this run's. False: another run has it. */
export function takeOnce(
  items: ItemTable,
  key: ItemKey,
  runId: string,
  details: Omit<Item, 'pk' | 'sk'>,
): Promise<boolean> {
  const item: Item = { ...details, pk: key.pk, sk: key.sk, run_id: runId };
  return items.put(item, [[{ absent: true }], [{ attribute: 'run_id', equals: runId }]]);
}

/** A repeated trigger of one scheduled time is taken once. */
export function scheduledKey(tablePk: string, scheduledTime: string): ItemKey {
  return { pk: tablePk, sk: `SCHEDULED#${scheduledTime}` };
}

/** A plan digest is consumed by the one run that deletes it. */
export function consumedKey(digest: string): ItemKey {
  return { pk: `DIGEST#${digest}`, sk: 'CONSUMED' };
}
