/**
 * Back-pressure, shared by the batches of a run through one object. A throttle halves the request and doubles the wait; clean
 * requests step back towards the size that was too much, stay below it for a while, and only then try for more. The last
 * writer wins: a lost step makes the pace a little wrong, never unsafe.
 */
import { artefact } from '#shared/run/artefacts.ts';
import type { RunArtefacts } from '#shared/run/run-artefacts.ts';

/** Share of the size that was too much at which a run stays. */
const BELOW_EDGE = 0.95;
/** Clean requests at that size before more is tried: each try that fails costs a doubled wait. */
const HOLD = 60;
/** The trials grow from a thousandth on, faster with every clean request, so that a store that recovered is soon used in full. */
const FIRST_TRIAL = 0.001;
const TRIAL_GROWTH = 1.05;
/** A throttle within so few clean requests means that the edge lies well below. */
const SOON = 10;
const LONGEST_WAIT = 64;
/** Throttles in a row, a few minutes of them, after which the store is left alone. */
export const PATIENCE = 9;

export interface Pace {
  /** Share of the batch size that a request takes. */
  readonly size: number;
  /** Multiple of the cool-down that follows a full request. */
  readonly wait: number;
  /** The size that the store throttled last; null while it never did, or has recovered. */
  readonly edge: number | null;
  /** Clean requests since the last throttle. */
  readonly clean: number;
  /** Throttles in a row. */
  readonly throttles: number;
}

export const FULL_PACE: Pace = { size: 1, wait: 1, edge: null, clean: 0, throttles: 0 };

export async function readPace(artefacts: RunArtefacts): Promise<Pace> {
  return (await artefacts.readJson<Pace>(artefact.pace)) ?? FULL_PACE;
}

export async function writePace(artefacts: RunArtefacts, before: Pace, after: Pace): Promise<void> {
  if (before !== after) await artefacts.writeJson(artefact.pace, after);
}

export function slower(pace: Pace): Pace {
  const tooMuch = pace.edge !== null && pace.clean < SOON ? Math.min(pace.size, pace.edge * 0.8) : pace.size;
  return {
    size: pace.size / 2,
    wait: Math.min(LONGEST_WAIT, pace.wait * 2),
    edge: tooMuch,
    clean: 0,
    throttles: pace.throttles + 1,
  };
}

export function easier(pace: Pace): Pace {
  if (pace.edge === null) return pace;
  const clean = pace.clean + 1;
  const goal = pace.edge * BELOW_EDGE;
  const trial = clean > HOLD ? 1 + FIRST_TRIAL * TRIAL_GROWTH ** (clean - HOLD) : 1;
  // Half of what is missing each time; the last thousandth is not worth a step.
  const size = pace.size < goal * 0.999 ? pace.size + (goal - pace.size) / 2 : pace.size * trial;
  if (size >= 1) return FULL_PACE;
  return { size, wait: Math.max(1, pace.wait / 2), edge: pace.edge, clean, throttles: 0 };
}

export function isExhausted(pace: Pace): boolean {
  return pace.throttles >= PATIENCE;
}

/** Keys of the next request. */
export function requestSize(pace: Pace, batchSize: number): number {
  return Math.max(1, Math.floor(Math.min(batchSize, 1000) * pace.size));
}

/**
 * Seconds until the next request, with fractions. Once the store has throttled, a request that took only a part of what it
 * might have taken is followed by that part of the wait.
 */
export function pauseSeconds(pace: Pace, cooldownSeconds: number, share: number): number {
  return pace.edge === null ? cooldownSeconds : Math.max(cooldownSeconds, 1) * pace.wait * share;
}
