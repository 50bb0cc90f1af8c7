/** Marks and lists a made-up table and says what was found of what was planted. */
import { createKeyHasher } from '#shared/filter/key-hash.ts';
import { RangeIndex } from '#shared/filter/key-ranges.ts';
import { decodeFilterShard, type FilterShard } from '#shared/filter/shard-file.ts';
import { artefact } from '#shared/run/artefacts.ts';
import type { BuildReceipt } from '#shared/run/receipts.ts';
import { DATA_PREFIX, type MadeUpOptions, MadeUpStore, MadeUpTable } from './made-up-table.ts';
import { MarkWorld } from './mark-world.ts';

export interface ScaleOptions extends MadeUpOptions {
  readonly ranges?: number;
  readonly keysPerShard?: number;
  readonly manifestsPerShard?: number;
}

export interface ScaleResult {
  readonly listed: number;
  readonly planted: number;
  readonly found: number;
  /** Planted orphans that the filter takes for referenced files. */
  readonly falsePositives: number;
  /** Found keys that were not planted, or found twice: must be none. */
  readonly wrong: number;
  /** Planted orphans that were lost for no reason: must be none. */
  readonly lost: number;
  readonly covered: number;
}

export async function sweepMadeUp(options: ScaleOptions): Promise<ScaleResult> {
  const table = new MadeUpTable({ codec: 'deflate', level: 1, ...options });
  const manifests = table.plannedManifests();
  const perShard = options.manifestsPerShard ?? 64;
  const shards = Array.from({ length: Math.ceil(manifests.length / perShard) }, (_, shard) =>
    manifests.slice(shard * perShard, (shard + 1) * perShard),
  );
  const world = await MarkWorld.open({
    tables: new MadeUpStore(table).asStore(),
    manifests: shards,
    list: table.listItems(options.keysPerShard ?? 100_000),
    plan: { ranges: table.ranges(options.ranges ?? 1) },
  });
  await world.mark();
  const receipts = await world.listAll();
  const found = new Uint8Array(options.files);
  let wrong = 0;
  let count = 0;
  for (const receipt of receipts) {
    for (const { key } of await world.candidates([receipt])) {
      const index = indexOf(key);
      // The whole key, not its number alone.
      const isPlanted = index < options.files && options.isOrphan(index) && table.key(index) === key;
      if (!isPlanted || found[index] === 1) wrong++;
      else count++;
      found[index] = 1;
    }
  }
  const missed = await missedOrphans(world, table, found);
  return {
    listed: receipts.reduce((sum, { listed }) => sum + listed.files, 0),
    found: count,
    wrong,
    covered: (await builds(world)).reduce((sum, { distinct }) => sum + distinct.covered, 0),
    ...missed,
  };
}

async function missedOrphans(
  world: MarkWorld,
  table: MadeUpTable,
  found: Uint8Array,
): Promise<Pick<ScaleResult, 'planted' | 'falsePositives' | 'lost'>> {
  const hasher = await createKeyHasher(world.plan.salt);
  const ranges = new RangeIndex(world.plan.ranges);
  const filters: FilterShard[] = [];
  for (const { filter } of await builds(world)) {
    filters.push(decodeFilterShard((await world.artefacts.read(filter.name)) as Buffer, world.plan.salt, filter.name));
  }
  let [planted, falsePositives, lost] = [0, 0, 0];
  for (let index = 0; index < table.options.files; index++) {
    if (!table.options.isOrphan(index)) continue;
    planted++;
    if (found[index] === 1) continue;
    const key = table.key(index);
    const filter = filters[ranges.find(Buffer.from(key))] as FilterShard;
    if (filter.hasContent(hasher.ofString(key))) falsePositives++;
    else lost++;
  }
  return { planted, falsePositives, lost };
}

async function builds(world: MarkWorld): Promise<BuildReceipt[]> {
  const receipts: BuildReceipt[] = [];
  for (let range = 0; range < world.plan.ranges.length; range++) {
    receipts.push((await world.artefacts.readJson<BuildReceipt>(artefact.buildReceipt(range))) as BuildReceipt);
  }
  return receipts;
}

function indexOf(key: string): number {
  return Number(/\/00000-0-(\d{12})-/.exec(key.slice(DATA_PREFIX.length - 1))?.[1]);
}
