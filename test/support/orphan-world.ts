/** The plainest world for the delete stage: a table with live files and a number of old orphans. */
import { RunWorld } from './run-world.ts';
import type { TableWriter } from './table-writer.ts';

export interface OrphanWorld {
  readonly world: RunWorld;
  readonly table: TableWriter;
  readonly orphans: readonly string[];
}

export async function orphanWorld(
  names: number | readonly string[] = 3,
  settings: { readonly versioned?: boolean; readonly live?: number } = {},
): Promise<OrphanWorld> {
  const world = new RunWorld();
  if (settings.versioned === true) world.tables.createBucket('b', { versioning: 'Enabled' });
  const table = await world.table();
  await table.append(settings.live ?? 3);
  const list =
    typeof names === 'number'
      ? Array.from({ length: names }, (_, index) => `orphan-${String(index).padStart(5, '0')}.parquet`)
      : names;
  const orphans = list.map((name) => `wh/t/data/${name}`);
  for (const key of orphans) world.tables.seed('b', key, Buffer.from(key), world.writeMs);
  return { world, table, orphans };
}

export const ALLOW_ALL = { max_orphan_percent: 100 } as const;

/** Keys that the table references and the bucket no longer has. */
export function lostFiles({ world, table }: Pick<OrphanWorld, 'world' | 'table'>): string[] {
  const there = new Set(world.keys());
  return [...table.referenced()].filter((key) => !there.has(key));
}
