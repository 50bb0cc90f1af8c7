/** What the commands need of the one-machine runtime and of its records; `local-runtime.ts` opens the real ones. */
import type { ItemTable } from '#shared/run/item-table.ts';
import type { RunRecord } from '#shared/run/record.ts';
import type { RunArtefacts } from '#shared/run/run-artefacts.ts';
import type { ObjectStore } from '#shared/storage/object-store.ts';

export interface ExecutionEnd {
  readonly status: 'SUCCEEDED' | 'FAILED' | 'ABORTED' | 'TIMED_OUT';
  readonly error?: string;
  readonly cause?: string;
}

/** Follows an execution's progress. */
export interface ExecutionObserver {
  entered(state: string): void;
  left(state: string): void;
  counted(state: string, done: number, total: number, failed: number): void;
}

export interface RunningExecution {
  readonly end: Promise<ExecutionEnd>;
  /** Ends it after what its workers are doing now; the record says ABORTED. */
  stop(): void;
}

/** What runs left beside their records: plans, lists of orphans, pages. */
export interface ListReader {
  readonly artefacts: (prefix: string) => RunArtefacts;
  /** No work bucket was named: what can be shown without lists is. */
  readonly withoutLists?: boolean;
}

/** The records and artefacts of a state folder or a deployed fleet. */
export interface RunHistory extends ListReader {
  readonly items: ItemTable;
  readonly find: (runId: string) => Promise<RunRecord | undefined>;
  /** Newest first. */
  readonly list: (table: string | undefined, limit: number) => Promise<readonly RunRecord[]>;
  close(): Promise<void>;
}

/** A history whose tables' storage is reachable. */
export interface RunReader extends RunHistory {
  readonly tables: ObjectStore;
}

/** And a state machine over both. */
export interface Runtime extends RunReader {
  start(input: Record<string, unknown>, name: string, observer: ExecutionObserver): Promise<RunningExecution>;
}
