/** What a stage gets from its surroundings. Stages see these ports only, so that tests and both runtimes can supply them. */
import type { DeploymentSettings } from '#shared/run/deployment.ts';
import type { ItemTable, ItemValue } from '#shared/run/item-table.ts';
import type { ObjectStore } from '#shared/storage/object-store.ts';

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  sleep(ms: number): Promise<void>;
}

/** The time that this invocation has left, from its context, never from a constant. */
export interface Budget {
  remainingMs(): number;
}

export type LogFields = Readonly<Record<string, unknown>>;

/** One JSON line per fact: the message is a constant, values are fields, lists of paths are counts and keys instead. */
export interface StageLog {
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

export type MetricName =
  | 'ManifestsScanned'
  | 'ReferencedFiles'
  | 'ObjectsListed'
  | 'YoungObjectsSkipped'
  | 'OrphanFiles'
  | 'OrphanBytes'
  | 'OrphanPercent'
  | 'DeletedFiles'
  | 'DeletedBytes'
  | 'DeleteFailures'
  | 'DeleteThrottles'
  | 'RunDuration'
  | 'RunsSucceeded'
  | 'RunsPartial'
  | 'RunsSkipped'
  | 'RunsRefused'
  | 'RunsFailed'
  | 'RunsAborted'
  | 'DaysSinceSuccess'
  | 'ShardFillRatio';

/** Values are counts, bytes, percent or milliseconds, as the metric's unit says. */
export interface StageMetrics {
  /** `table`: for a metric of a table that the invocation itself is not about. */
  add(name: MetricName, value: number, table?: string): void;
}

/** What became of an execution. `unknown`: nobody could tell, so the holder counts as running until its lease expires. */
export type ExecutionStatus = 'running' | 'ended' | 'unknown';

export interface ExecutionDirectory {
  /** `id` is `$$.Execution.Id`. An execution that does not exist has ended. */
  status(id: string): Promise<ExecutionStatus>;
}

export type RunEventType = 'Started' | 'Succeeded' | 'Partial' | 'Skipped' | 'Refused' | 'Failed' | 'Aborted';

/** Tells the outside that a run began or ended. Best effort: a lost event never changes a run. */
export interface RunEvents {
  publish(type: RunEventType, detail: Readonly<Record<string, ItemValue>>): Promise<void>;
}

/** Secrets by name, for catalogs. */
export interface Secrets {
  read(name: string): Promise<string>;
}

export interface StagePorts {
  /** The tables' storage. */
  readonly tables: ObjectStore;
  /** The store that holds the work bucket. */
  readonly work: ObjectStore;
  readonly workBucket: string;
  readonly items: ItemTable;
  readonly deployment: DeploymentSettings;
  readonly clock: Clock;
  readonly budget: Budget;
  readonly log: StageLog;
  readonly metrics: StageMetrics;
  readonly executions: ExecutionDirectory;
  readonly events: RunEvents;
  readonly secrets: Secrets;
  /**
   * The tables' storage with the right to delete narrowed to these prefixes, by a session policy where the deployment has
   * one. The delete stage deletes through nothing else.
   */
  deletingStore(prefixes: readonly { readonly bucket: string; readonly prefix: string }[]): Promise<ObjectStore>;
}
