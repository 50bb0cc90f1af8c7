/** A small table with more orphans than one batch takes, so that batches, pauses and continuations all happen. */
import { RunWorld } from './run-world.ts';

export async function crashWorld(versioned = false): Promise<RunWorld> {
  const world = new RunWorld();
  if (versioned) world.tables.createBucket('b', { versioning: 'Enabled' });
  world.deployment = { ...world.deployment, defaults: { ...world.deployment.defaults, delete_batch_size: 3 } };
  const table = await world.table();
  await table.append(4);
  await table.append(2);
  for (let index = 0; index < 8; index++) {
    world.tables.seed('b', `wh/t/data/orphan-${index}.parquet`, Buffer.from(`orphan ${index}`), world.writeMs);
  }
  return world;
}
