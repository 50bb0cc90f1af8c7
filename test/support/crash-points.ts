/** Kills a run before and after every call that the outside can see, from the recheck on, and starts anew. */
import type { ItemTableHooks } from './memory-item-table.ts';
import { KilledError, type RunWorld } from './run-world.ts';

export interface CrashOutcome {
  readonly keys: readonly string[];
  /** Deleted by the killed run, as its abort record says, and by those after it. */
  readonly deleted: number;
  readonly killed: boolean;
}

const STAGES = new Set(['recheck', 'delete', 'record']);

/**
 * Runs once with the kill at the given call (counted from the first recheck, before and after apart), then until nothing is
 * left to do. Infinity: undisturbed.
 */
export async function crashAt(
  makeWorld: () => Promise<RunWorld>,
  point: number,
): Promise<CrashOutcome & { readonly points: number }> {
  const world = await makeWorld();
  let points = 0;
  let armed = false;
  let dead = false;
  const strike = () => {
    if (dead) throw new KilledError('killed');
    if (!armed) return;
    if (points++ === point) {
      dead = true;
      throw new KilledError('killed');
    }
  };
  world.onStage = (stage) => {
    armed ||= STAGES.has(stage);
  };
  world.tables.options = { ...world.tables.options, onCall: strike };
  world.work.options = { ...world.work.options, onCall: strike };
  const hooks: ItemTableHooks = { before: strike, after: strike };
  world.items.hooks = hooks;

  const startMs = world.nowMs;
  let deleted = 0;
  try {
    deleted += (await world.run({ max_orphan_percent: 100 }, 'first')).record.deleted_files_count;
  } catch (error) {
    if (!(error instanceof KilledError)) throw error;
  }
  const killed = dead;
  dead = false;
  armed = false;
  world.onStage = () => undefined;
  if (killed) deleted += (await world.recordAbort('first', {}, startMs)).deleted_files_count;
  for (let round = 0; round < 5; round++) {
    world.nowMs += 60_000;
    const { record, failure } = await world.run({ max_orphan_percent: 100 });
    if (failure !== undefined) throw new Error(`The run after the crash failed: ${failure.cause}`);
    deleted += record.deleted_files_count;
    if (record.verdict === 'NOTHING_TO_DO') break;
  }
  return { keys: world.keys(), deleted, killed, points };
}
