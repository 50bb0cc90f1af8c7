/** The small objects by which the batches of one delete stage know of each other: stop marker and store habits. */
import { IcesweepError, verdictOfError } from '#shared/errors.ts';
import { artefact } from './artefacts.ts';
import type { RunArtefacts } from './run-artefacts.ts';

/** Why nothing more may be deleted. The first one written stays. */
export interface StopMarker {
  readonly error: string;
  readonly message: string;
  readonly at: string;
}

export function readStopMarker(artefacts: RunArtefacts): Promise<StopMarker | undefined> {
  return artefacts.readJson<StopMarker>(artefact.stopMarker);
}

/** Ends the delete stage for every batch. */
export function stopDeleting(artefacts: RunArtefacts, error: unknown, nowMs: number): Promise<StopMarker> {
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  return artefacts.writeOnce<StopMarker>(artefact.stopMarker, {
    error: name,
    message,
    at: new Date(nowMs).toISOString(),
  });
}

/** Thrown by a batch that finds the marker of another: the error's name is that of the cause. */
export class StageStoppedError extends IcesweepError {
  override readonly name: string;
  readonly verdict: 'REFUSED' | 'FAILED';

  constructor(marker: StopMarker) {
    super(marker.message);
    this.name = marker.error;
    this.verdict = verdictOfError(marker.error) === 'REFUSED' ? 'REFUSED' : 'FAILED';
  }
}

/** What the probe learnt of a bucket. */
export interface BucketHabits {
  readonly versioning: 'Enabled' | 'Suspended' | 'Unversioned';
  /** The store honours `If-Match` on deletes, so that a changed object is never deleted. */
  readonly conditionalDeletes: boolean;
}

export type StoreHabits = Readonly<Record<string, BucketHabits>>;

export function readHabits(artefacts: RunArtefacts): Promise<StoreHabits | undefined> {
  return artefacts.readJson<StoreHabits>(artefact.storeHabits);
}

export function writeHabits(artefacts: RunArtefacts, habits: StoreHabits): Promise<StoreHabits> {
  return artefacts.writeOnce(artefact.storeHabits, habits);
}
