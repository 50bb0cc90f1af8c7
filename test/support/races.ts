/**
 * One seeded race: commits adopt listed orphans at random moments between the listing and the last look before a request,
 * between stages and in the middle of a call. What comes between that look and its request is the window that no cleaner
 * without a lock can close, so nothing is committed there.
 */
import assert from 'node:assert/strict';
import { RECHECK_VALID_MS } from '#shared/run/recheck.ts';
import type { StoreCall } from './memory-store.ts';
import { ALLOW_ALL, lostFiles, orphanWorld } from './orphan-world.ts';
import { random } from './random.ts';

const STAGES: readonly string[] = ['list', 'evaluate', 'recheck', 'delete'];

/** Every call of these is followed by a look at the pointer before anything is deleted. */
function comesBeforeTheLook(call: StoreCall): boolean {
  if (call.phase !== 'before') return false;
  if (call.bucket === 'work') return call.operation === 'get';
  return call.operation === 'get' || (call.operation === 'head' && call.key.includes('/data/'));
}

/** Fails when a file that the table came to reference before the request's last look is gone. Answers what was rescued. */
export async function raceOnce(seed: number): Promise<{ readonly rescued: number; readonly adopted: number }> {
  const dice = random(seed);
  const orphans = 4 + Math.floor(dice() * 12);
  const versioned = dice() < 0.3;
  const { world, table, orphans: keys } = await orphanWorld(orphans, { versioned });
  const adopted: string[] = [];
  let commits = 1 + Math.floor(dice() * 3);
  let racing = false;
  const maybeCommit = async (chance: number) => {
    if (!racing || commits === 0 || dice() >= chance) return;
    const there = new Set(world.keys());
    const taken = keys.filter((key) => there.has(key) && !adopted.includes(key) && dice() < 0.4);
    if (taken.length === 0) return;
    commits--;
    racing = false;
    adopted.push(...taken);
    const before = world.writeMs;
    world.writeMs = world.nowMs;
    await table.adopt(taken);
    world.writeMs = before;
    world.nowMs += Math.floor(dice() * RECHECK_VALID_MS);
    racing = true;
  };
  const onCall = (call: StoreCall) => (comesBeforeTheLook(call) ? maybeCommit(0.02) : undefined);
  world.tables.options = { ...world.tables.options, conditionalDeletes: dice() < 0.7, onCall };
  world.work.options = { ...world.work.options, onCall };
  world.onStage = (stage) => {
    racing = STAGES.includes(stage);
    return maybeCommit(0.2);
  };

  const { record } = await world.run({ ...ALLOW_ALL, delete_batch_size: 1 + Math.floor(dice() * 3) }, `race-${seed}`);

  assert.deepEqual(lostFiles({ world, table }), [], `seed ${seed}`);
  const left = keys.filter((key) => world.keys().includes(key) && !adopted.includes(key));
  if (record.verdict === 'DELETED') assert.deepEqual(left, [], `seed ${seed}: orphans that nobody adopted stayed`);
  return { rescued: record.rescued_files_count, adopted: adopted.length };
}
