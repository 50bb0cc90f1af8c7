/** Rule 1 of the verdict: the books balance, or the run ends. Counts come from receipts only. */
import { FilterMismatchError, ListingIncompleteError, ScanIncompleteError } from '#shared/errors.ts';
import type { ListItem, Plan } from './plan.ts';
import type { BuildReceipt, ListReceipt, ScanReceipt } from './receipts.ts';

export interface Receipts {
  readonly scans: readonly (ScanReceipt | undefined)[];
  readonly builds: readonly (BuildReceipt | undefined)[];
  readonly lists: readonly (ListReceipt | undefined)[];
}

export interface CompleteReceipts {
  readonly scans: readonly ScanReceipt[];
  readonly builds: readonly BuildReceipt[];
  readonly lists: readonly ListReceipt[];
}

/** Every planned piece of work left its receipt, and what one stage wrote is what the next one read. */
export function balanceBooks(
  plan: Plan,
  planHash: string,
  items: readonly ListItem[],
  receipts: Receipts,
): CompleteReceipts {
  const scans = present(receipts.scans, plan.scan.shards, planHash, 'Scan shard', ScanIncompleteError);
  const builds = present(receipts.builds, plan.ranges.length, planHash, 'Key range', FilterMismatchError);
  const lists = present(receipts.lists, plan.list.shards, planHash, 'Listing shard', ListingIncompleteError);
  balanceScans(plan, scans);
  balanceBuilds(scans, builds);
  balanceLists(plan, items, lists);
  return { scans, builds, lists };
}

type ErrorClass = new (message: string) => Error;

function present<T extends { readonly plan_hash: string }>(
  found: readonly (T | undefined)[],
  planned: number,
  planHash: string,
  what: string,
  Mismatch: ErrorClass,
): readonly T[] {
  if (!(planned > 0) || found.length !== planned) {
    throw new Mismatch(`${planned} of "${what}" were planned, ${found.length} looked for; start a new run.`);
  }
  return found.map((receipt, index) => {
    if (receipt === undefined) throw new Mismatch(`${what} ${index} of ${planned} left no receipt; start a new run.`);
    if (receipt.plan_hash !== planHash) throw new Mismatch(`${what} ${index} left the receipt of another plan.`);
    return receipt;
  });
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, value) => total + value, 0);

function balanceScans(plan: Plan, scans: readonly ScanReceipt[]): void {
  const planned = sum(scans.map((receipt) => receipt.manifests_planned));
  const settled = sum(
    scans.map((receipt) => receipt.manifests_read + receipt.manifests_skipped.length + receipt.pending_not_avro.length),
  );
  if (planned !== plan.scan.manifests || settled !== planned) {
    throw new ScanIncompleteError(
      `${plan.scan.manifests} manifests were planned, ${planned} given to scan shards and ${settled} scanned; start a new run.`,
    );
  }
  for (const receipt of scans) {
    const written = sum(receipt.sections.map((section) => section.entries));
    if (written !== receipt.fingerprints || sum(receipt.objects.map((object) => object.entries)) !== written) {
      throw new ScanIncompleteError(
        `Scan shard ${receipt.shard} contradicts itself about what it wrote; start a new run.`,
      );
    }
  }
}

function balanceBuilds(scans: readonly ScanReceipt[], builds: readonly BuildReceipt[]): void {
  const written = new Map<number, number>();
  for (const { range, entries } of scans.flatMap((receipt) => receipt.sections)) {
    written.set(range, (written.get(range) ?? 0) + entries);
  }
  builds.forEach((receipt, range) => {
    const expected = written.get(range) ?? 0;
    if (receipt.range !== range || receipt.entries_merged !== expected) {
      throw new FilterMismatchError(
        `Key range ${range} merged ${receipt.entries_merged} entries, the scan wrote ${expected}; start a new run.`,
      );
    }
    written.delete(range);
  });
  if (written.size > 0) {
    throw new FilterMismatchError(`The scan wrote entries for key ranges that nobody built: ${[...written.keys()]}.`);
  }
}

/** The shards' intervals are the planned ones, and together they cover every key of every root exactly once. */
function balanceLists(plan: Plan, items: readonly ListItem[], lists: readonly ListReceipt[]): void {
  if (items.length !== lists.length) {
    throw new ListingIncompleteError(
      `${items.length} listing shards stand in the plan's items, ${lists.length} receipts were found.`,
    );
  }
  lists.forEach((receipt, index) => {
    const item = items[index] as ListItem;
    const same =
      receipt.shard === index &&
      receipt.bucket === item.bucket &&
      receipt.prefix === item.prefix &&
      receipt.after === item.after &&
      receipt.through === item.through &&
      receipt.reached_end === true;
    if (!same)
      throw new ListingIncompleteError(`Listing shard ${index} did not list its interval to the end; start a new run.`);
  });
  for (const root of plan.roots) {
    const mine = lists.filter((receipt) => receipt.bucket === root.bucket && receipt.prefix === root.prefix);
    let reached: string | null = null;
    let open = true;
    for (const receipt of mine) {
      if (!open || receipt.after !== reached) {
        open = true;
        break;
      }
      reached = receipt.through;
      open = receipt.through !== null;
    }
    if (mine.length === 0 || open || mine.at(-1)?.through !== null) {
      throw new ListingIncompleteError(
        `The listing of s3://${root.bucket}/${root.prefix} has a gap or an overlap; start a new run.`,
      );
    }
  }
}
