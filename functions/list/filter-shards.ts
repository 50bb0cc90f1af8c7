/** Loads filter shards by key range and keeps at most two: neighbours, where raw and folded order differ at a border. */
import { FilterMismatchError } from '#shared/errors.ts';
import { decodeFilterShard, type FilterShard } from '#shared/filter/shard-file.ts';
import { artefact } from '#shared/run/artefacts.ts';
import type { Plan } from '#shared/run/plan.ts';
import type { BuildReceipt } from '#shared/run/receipts.ts';
import type { RunArtefacts } from '#shared/run/run-artefacts.ts';

const MOST_HELD = 2;

export class FilterShards {
  readonly #plan: Plan;
  readonly #planHash: string;
  readonly #artefacts: RunArtefacts;
  /** Least recently used first. */
  readonly #held = new Map<number, FilterShard>();
  /** Objects fetched, for the books. */
  gets = 0;

  constructor(plan: Plan, planHash: string, artefacts: RunArtefacts) {
    this.#plan = plan;
    this.#planHash = planHash;
    this.#artefacts = artefacts;
  }

  /** The shard of a range. Absent, altered, of another run or with other numbers than its receipt: FilterMismatchError. */
  async load(range: number): Promise<FilterShard> {
    const known = this.#held.get(range);
    if (known !== undefined) {
      this.#held.delete(range);
      this.#held.set(range, known);
      return known;
    }
    // Room first: the new shard must not be a third beside two old ones.
    while (this.#held.size >= MOST_HELD) this.#held.delete(this.#held.keys().next().value as number);
    const shard = await this.#fetch(range);
    this.#held.set(range, shard);
    return shard;
  }

  async #fetch(range: number): Promise<FilterShard> {
    const name = artefact.buildReceipt(range);
    const receipt = await this.#artefacts.readReceipt<BuildReceipt>(name, this.#planHash, FilterMismatchError);
    if (receipt === undefined || receipt.range !== range) {
      throw new FilterMismatchError(`Key range ${range} has no filter shard; start a new run.`);
    }
    this.gets += 2;
    const bytes = await this.#artefacts.readNamed(receipt.filter, FilterMismatchError);
    const shard = decodeFilterShard(bytes, this.#plan.salt, receipt.filter.name);
    const { content, metadata } = receipt.distinct;
    if (shard.contentEntries !== content || shard.metadataEntries !== metadata) {
      throw new FilterMismatchError(
        `Filter shard ${receipt.filter.name} holds ${shard.contentEntries} and ${shard.metadataEntries} references, ` +
          `its receipt says ${content} and ${metadata}; start a new run.`,
      );
    }
    return shard;
  }
}
