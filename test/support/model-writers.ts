/** What writers do to a table in the model: one random step each, with files of plausible and implausible ages. */
import { DAY_MS, type RunWorld } from './run-world.ts';
import type { TableWriter } from './table-writer.ts';

export interface ModelTable {
  readonly world: RunWorld;
  readonly table: TableWriter;
  readonly dice: () => number;
  readonly formatVersion: 1 | 2 | 3;
  /** Every key that some metadata file which was current since `watchFrom` names. */
  readonly everReferenced: Set<string>;
  /** Data files of Flink checkpoints that are not committed yet. */
  readonly pendingFiles: string[][];
}

export function below(dice: () => number, limit: number): number {
  return Math.floor(dice() * limit);
}

/** Files are written now, give or take a writer's wrong clock. */
function stamp({ world, table, dice }: ModelTable): void {
  const skew = dice() < 0.2 ? (dice() - 0.5) * 3_600_000 : 0;
  world.writeMs = Math.round(world.nowMs + skew);
  table.nowMs = Math.max(table.nowMs, world.writeMs);
}

type Step = (model: ModelTable) => Promise<unknown>;

const STEPS: readonly (readonly [weight: number, step: Step])[] = [
  [6, ({ table, dice }) => table.append(1 + below(dice, 3))],
  [2, ({ table, dice }) => table.overwrite(1 + below(dice, 2))],
  [2, ({ table }) => table.rewrite()],
  [2, ({ table, dice }) => table.expire(1 + below(dice, 3))],
  [1, ({ table, dice }) => table.append(1, { branch: `branch-${below(dice, 3)}` })],
  [1, ({ table, dice }) => table.append(1).then(() => table.tag(`tag-${below(dice, 100)}`))],
  [1, ({ table, dice }) => table.stage(1, `wap-${below(dice, 1000)}`)],
  [1, ({ table, formatVersion }) => (formatVersion === 1 ? table.append(1) : table.positionDelete())],
  [1, ({ table, formatVersion }) => (formatVersion === 1 ? table.append(1) : table.equalityDelete())],
  [1, ({ table }) => table.addStatistics()],
  [1, ({ table }) => table.addPartitionStatistics()],
  [2, crash],
  [1, checkpoint],
  [1, commitCheckpoint],
];

/** A job that died: its data files, or a whole attempt's manifest, lie there and nothing names them. */
async function crash({ table, dice }: ModelTable): Promise<void> {
  const id = below(dice, 1e9);
  await table.put(`data/00000-0-${id}-crashed-00001.parquet`, Buffer.from(`crashed ${id}`));
  if (dice() < 0.4) await table.put(`metadata/${id}-m0.avro`, Buffer.from(`half a manifest ${id}`));
}

async function checkpoint({ table, pendingFiles }: ModelTable): Promise<void> {
  const { files } = await table.pendingFlinkManifest();
  pendingFiles.push(files.map((file) => file.key));
}

async function commitCheckpoint({ table, pendingFiles }: ModelTable): Promise<void> {
  const keys = pendingFiles.shift();
  if (keys !== undefined) await table.adopt(keys);
}

/** One step of one writer; what the table then references is written down. */
export async function writerStep(model: ModelTable): Promise<void> {
  stamp(model);
  const total = STEPS.reduce((sum, [weight]) => sum + weight, 0);
  let left = model.dice() * total;
  for (const [weight, step] of STEPS) {
    left -= weight;
    if (left > 0) continue;
    await step(model);
    break;
  }
  watch(model);
}

export function watch({ table, everReferenced, pendingFiles }: ModelTable): void {
  for (const key of table.referenced()) everReferenced.add(key);
  for (const key of pendingFiles.flat()) everReferenced.add(key);
}

export function someDays(dice: () => number): number {
  return Math.round(dice() * 4 * DAY_MS);
}
