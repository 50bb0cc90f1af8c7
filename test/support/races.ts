/** One seeded race: a commit adopts listed orphans at a random moment between listing and the last look before a request. */
import assert from 'node:assert/strict';
import { RECHECK_VALID_MS } from '#shared/run/recheck.ts';
import { ALLOW_ALL, lostFiles, orphanWorld } from './orphan-world.ts';
import { random } from './random.ts';

/** Fails when a file that the table came to reference before the request's last look is gone. Answers what was rescued. */
export async function raceOnce(seed: number): Promise<{ readonly rescued: number; readonly adopted: number }> {
  const dice = random(seed);
  const orphans = 4 + Math.floor(dice() * 12);
  const versioned = dice() < 0.3;
  const { world, table, orphans: keys } = await orphanWorld(orphans, { versioned });
  world.tables.options = { ...world.tables.options, conditionalDeletes: dice() < 0.7 };
  // Commits fall on stage boundaries, and on the store's calls before a request's last look: what comes between that look
  // and its request is the window that no cleaner without a lock can close.
  const moment = Math.floor(dice() * (6 + orphans));
  const adopted: string[] = [];
  let passed = 0;
  world.onStage = async (stage) => {
    if (!['list', 'evaluate', 'recheck', 'delete'].includes(stage) || passed++ !== moment) return;
    const there = new Set(world.keys());
    const taken = keys.filter((key) => there.has(key) && dice() < 0.5);
    if (taken.length === 0) return;
    adopted.push(...taken);
    const before = world.writeMs;
    world.writeMs = world.nowMs;
    await table.adopt(taken);
    world.writeMs = before;
    world.nowMs += Math.floor(dice() * RECHECK_VALID_MS);
  };
  const { record } = await world.run({ ...ALLOW_ALL, delete_batch_size: 1 + Math.floor(dice() * 3) }, `race-${seed}`);
  assert.deepEqual(lostFiles({ world, table }), [], `seed ${seed}`);
  const left = keys.filter((key) => world.keys().includes(key) && !adopted.includes(key));
  if (record.verdict === 'DELETED') assert.deepEqual(left, [], `seed ${seed}: orphans that nobody adopted stayed`);
  return { rescued: record.rescued_files_count, adopted: adopted.length };
}
