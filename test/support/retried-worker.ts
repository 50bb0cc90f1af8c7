/** Kills one call of a marking stage before or after anything that the outside can see, and lets the state machine call it again. */
import { ServiceUnavailableError } from '#shared/errors.ts';
import type { RunRecord } from '#shared/run/record.ts';
import { crashWorld } from './crash-world.ts';
import type { StoreCall } from './memory-store.ts';

const STAGES = new Set(['plan', 'scan', 'build', 'list', 'evaluate']);

export interface RetriedRun {
  readonly keys: readonly string[];
  readonly record: Partial<RunRecord>;
  readonly killed: boolean;
  readonly points: number;
}

/** Infinity: undisturbed. */
export async function retriedAt(point: number): Promise<RetriedRun> {
  const world = await crashWorld();
  let points = 0;
  let marking = false;
  world.onStage = (stage) => {
    marking = STAGES.has(stage);
  };
  const strike = (call?: unknown) => {
    // The map reads its items itself; it is no worker.
    const { operation, key = '' } = (call ?? {}) as Partial<StoreCall>;
    if (operation === 'get' && key.endsWith('-items.jsonl')) return;
    // What a killed worker knew is gone: the stage starts anew, over what it left in the stores.
    if (marking && points++ === point) throw new ServiceUnavailableError('The worker was killed.');
  };
  world.tables.options = { ...world.tables.options, onCall: strike };
  world.work.options = { ...world.work.options, onCall: strike };
  world.items.hooks = { before: strike, after: strike };
  const { record, failure } = await world.run({ max_orphan_percent: 100 }, 'first');
  if (failure !== undefined) throw new Error(`The retried run failed: ${failure.error} ${failure.cause}`);
  return { keys: world.keys(), record: counts(record), killed: points > point, points };
}

/** What must not depend on retries. Requests and times do. */
function counts(record: RunRecord): Partial<RunRecord> {
  const { verdict, before, after, gates, kept, filters } = record;
  const { orphan_files_count, orphan_bytes, scanned_files_count, referenced_files_count, deleted_files_count } = record;
  const { processed_manifests_count, missing_files_count, orphan_percent } = record;
  return {
    ...{ verdict, before, after, gates, kept, filters, orphan_files_count, orphan_bytes, scanned_files_count },
    ...{ referenced_files_count, deleted_files_count, processed_manifests_count, missing_files_count, orphan_percent },
  };
}
