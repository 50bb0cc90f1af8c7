/**
 * Back-pressure, shared by the batches of a run through one object. A throttle doubles the wait and halves the request; every
 * clean request takes one step back. The last writer wins: a lost step only makes the pace a little wrong, never unsafe.
 */
import { artefact } from '#shared/run/artefacts.ts';
import type { RunArtefacts } from '#shared/run/run-artefacts.ts';

/** At the deepest level a request has 1/64 of the batch size and waits 64 times the cool-down. */
export const DEEPEST = 6;
/** Throttles in a row at the deepest level after which the store is left alone. */
const PATIENCE = 3;

export interface Pace {
  readonly level: number;
  /** Throttles in a row at the deepest level. */
  readonly stuck: number;
}

export const FULL_PACE: Pace = { level: 0, stuck: 0 };

export async function readPace(artefacts: RunArtefacts): Promise<Pace> {
  return (await artefacts.readJson<Pace>(artefact.pace)) ?? FULL_PACE;
}

export async function writePace(artefacts: RunArtefacts, before: Pace, after: Pace): Promise<void> {
  if (before.level !== after.level || before.stuck !== after.stuck) await artefacts.writeJson(artefact.pace, after);
}

export function slower(pace: Pace): Pace {
  return pace.level < DEEPEST ? { level: pace.level + 1, stuck: 0 } : { level: DEEPEST, stuck: pace.stuck + 1 };
}

export function easier(pace: Pace): Pace {
  return { level: Math.max(0, pace.level - 1), stuck: 0 };
}

export function isExhausted(pace: Pace): boolean {
  return pace.stuck >= PATIENCE;
}

/** Keys of the next request. */
export function requestSize(pace: Pace, batchSize: number): number {
  return Math.max(1, Math.floor(Math.min(batchSize, 1000) / 2 ** pace.level));
}

/** Seconds that CoolDown waits; at least one once the store has throttled. */
export function waitSeconds(pace: Pace, cooldownSeconds: number): number {
  return pace.level === 0 ? cooldownSeconds : Math.max(cooldownSeconds, 1) * 2 ** pace.level;
}
