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

/** The records and artefacts of a state folder. */
export interface RunHistory {
  readonly items: ItemTable;
  readonly artefacts: (prefix: string) => RunArtefacts;
  readonly find: (runId: string) => Promise<RunRecord | undefined>;
  /** Newest first. */
  readonly list: (table: string | undefined, limit: number) => Promise<readonly RunRecord[]>;
  close(): Promise<void>;
}

/** A history whose table storage is reachable, and a state machine over both. */
export interface Runtime extends RunHistory {
  readonly tables: ObjectStore;
  start(input: Record<string, unknown>, name: string, observer: ExecutionObserver): Promise<RunningExecution>;
}
