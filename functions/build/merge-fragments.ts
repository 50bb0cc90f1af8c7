/** Gathers one key range out of the fragments of every scan shard, in memory that is sized before anything is read. */
import { FilterMismatchError, ScanIncompleteError } from '#shared/errors.ts';
import { distinctSorted } from '#shared/filter/fingerprints.ts';
import { artefact } from '#shared/run/artefacts.ts';
import { type RangeSections, readRangeSections, sectionsOfRange } from '#shared/run/fragments.ts';
import type { FragmentGroup, ScanReceipt } from '#shared/run/receipts.ts';
import type { RunArtefacts } from '#shared/run/run-artefacts.ts';

const READS_AT_ONCE = 8;

export interface Merged {
  /** Sorted and distinct within each group; a fingerprint may be in several groups. */
  readonly groups: ReadonlyMap<FragmentGroup, BigUint64Array>;
  readonly fragments: number;
  /** Fingerprints read, before deduplication. */
  readonly entries: number;
  readonly gets: number;
}

/** Every scan shard of the plan must have left its receipt: a missing one would make its files look unreferenced. */
export async function mergeFragments(
  artefacts: RunArtefacts,
  scanShards: number,
  planHash: string,
  range: number,
): Promise<Merged> {
  const found = (
    await inParallel(indices(scanShards), async (shard) => {
      const name = artefact.scanReceipt(shard);
      const receipt = await artefacts.readReceipt<ScanReceipt>(name, planHash, ScanIncompleteError);
      if (receipt === undefined || receipt.shard !== shard) {
        throw new ScanIncompleteError(`Scan shard ${shard} of ${scanShards} left no receipt; start a new run.`);
      }
      return sectionsOfRange(artefacts, receipt, range, FilterMismatchError);
    })
  ).flat();
  const gathered = new Gathered(found);
  await inParallel(found, async (sections) => {
    for (const { group, fingerprints } of await readRangeSections(artefacts, sections, FilterMismatchError)) {
      gathered.add(group, fingerprints);
    }
  });
  return {
    groups: gathered.groups(),
    fragments: found.reduce((sum, { sections }) => sum + sections.length, 0),
    entries: gathered.entries,
    gets: scanShards + found.length,
  };
}

class Gathered {
  readonly #arrays = new Map<FragmentGroup, { readonly values: BigUint64Array; length: number }>();
  entries = 0;

  constructor(found: readonly RangeSections[]) {
    const totals = new Map<FragmentGroup, number>();
    for (const { group, entries } of found.flatMap(({ sections }) => sections)) {
      totals.set(group, (totals.get(group) ?? 0) + entries);
    }
    for (const [group, total] of totals) this.#arrays.set(group, { values: new BigUint64Array(total), length: 0 });
  }

  add(group: FragmentGroup, fingerprints: BigUint64Array): void {
    const array = this.#arrays.get(group) as { readonly values: BigUint64Array; length: number };
    array.values.set(fingerprints, array.length);
    array.length += fingerprints.length;
    this.entries += fingerprints.length;
  }

  groups(): ReadonlyMap<FragmentGroup, BigUint64Array> {
    return new Map([...this.#arrays].map(([group, { values }]) => [group, distinctSorted(values.sort())]));
  }
}

function indices(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index);
}

/** Results in the order of the items. The first failure ends it. */
async function inParallel<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = new Array(items.length);
  const next = items.entries();
  const worker = async (): Promise<void> => {
    for (const [index, item] of next) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(READS_AT_ONCE, items.length) }, worker));
  return results;
}
