/** What a bus gets about runs, for rules and their targets: source, detail types and details. */
import type { RunEventType } from '#shared/runtime/stage-ports.ts';
import type { RunRecord } from './record.ts';

export const EVENT_SOURCE = 'iceberg.orphan-cleanup';

/** `detail-type` of an event. */
export type RunDetailType = `Orphan Cleanup Run ${RunEventType}`;

/** Detail of `Orphan Cleanup Run Started`. */
export interface RunStartedDetail {
  readonly version: '1';
  readonly run_id: string;
  readonly table: string;
  /** ARN of the execution. */
  readonly execution: string;
  /** ISO 8601. */
  readonly started_at: string;
  /** Whether the run deletes what it finds, unless something refuses. */
  readonly deleting: boolean;
}

/** Detail of all others: the run's record. One over EventBridge's size comes without its sample and warnings. */
export type RunEndedDetail = Omit<RunRecord, 'version'> & { readonly version: '1' };
