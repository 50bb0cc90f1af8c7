/** Gathers every receipt that the plan calls for. */
import { ListingIncompleteError } from '#shared/errors.ts';
import { artefact } from '#shared/run/artefacts.ts';
import { balanceBooks, type CompleteReceipts } from '#shared/run/judge-books.ts';
import type { ListItem, Plan } from '#shared/run/plan.ts';
import type { BuildReceipt, ListReceipt, ScanReceipt } from '#shared/run/receipts.ts';
import type { RunArtefacts } from '#shared/run/run-artefacts.ts';

const READS_AT_ONCE = 16;

export async function collectReceipts(
  artefacts: RunArtefacts,
  plan: Plan,
  planHash: string,
): Promise<CompleteReceipts> {
  const items = await artefacts.read(artefact.listItems);
  if (items === undefined)
    throw new ListingIncompleteError('The listing shards of the plan are gone; start a new run.');
  const planned = items
    .toString('utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map(readItem);
  return balanceBooks(plan, planHash, planned, {
    scans: await readAll<ScanReceipt>(artefacts, plan.scan.shards, artefact.scanReceipt),
    builds: await readAll<BuildReceipt>(artefacts, plan.ranges.length, artefact.buildReceipt),
    lists: await readAll<ListReceipt>(artefacts, plan.list.shards, artefact.listReceipt),
  });
}

function readItem(line: string): ListItem {
  try {
    return JSON.parse(line) as ListItem;
  } catch {
    throw new ListingIncompleteError('The listing shards of the plan were cut; start a new run.');
  }
}

async function readAll<T>(
  artefacts: RunArtefacts,
  count: number,
  name: (index: number) => string,
): Promise<(T | undefined)[]> {
  const found: (T | undefined)[] = [];
  for (let start = 0; start < count; start += READS_AT_ONCE) {
    const group = Array.from({ length: Math.min(READS_AT_ONCE, count - start) }, (_, index) => start + index);
    found.push(...(await Promise.all(group.map((index) => artefacts.readJson<T>(name(index))))));
  }
  return found;
}
