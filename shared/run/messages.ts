/**
 * What travels through the state machine: ids, counts and keys only, never lists (DESIGN section 2; under 32 KB).
 * The same shapes are read by the handlers and by the CDK definition's JSONPaths.
 */
import type { BuildItem, ListItem, ScanItem } from './plan.ts';

/** Passed to PlanRun and to both record tasks from `$$.Execution`. */
export interface ExecutionContext {
  readonly id: string;
  readonly name: string;
  /** ISO 8601. */
  readonly start_time: string;
  readonly state_machine: string;
}

/** `$.run` after PlanRun. Every key is always present, since JSONPath fails on an absent one. */
export interface RunState {
  readonly run_id: string;
  readonly table: string;
  readonly prefix: string;
  readonly outcome: 'MORE' | 'SKIPPED' | 'PLANNED' | 'SEALED_PLAN';
  /** Key (relative) of the plan's progress object while outcome is MORE, else ''. */
  readonly next: string;
  /** True for a run that may delete: probe before the scan, lease taken. */
  readonly deleting: boolean;
  readonly plan_hash: string;
  readonly fencing_token: number;
  /** Absolute keys in the work bucket. */
  readonly scan_items_key: string;
  readonly build_items_key: string;
  readonly list_items_key: string;
  /** Absolute prefix for ResultWriter objects. */
  readonly results_prefix: string;
  readonly max_concurrent_scans: number;
  readonly max_concurrent_builds: number;
  readonly max_concurrent_lists: number;
  readonly max_concurrent_deletes: number;
  /** Set for SEALED_PLAN at once, else '' until EvaluateRun. */
  readonly batches_key: string;
  /** The run whose seal is deleted: itself, or an earlier dry run (its prefix and the digest). */
  readonly seal_prefix: string;
  readonly plan_digest: string;
}

/** Payload of PlanRun. */
export interface PlanEvent {
  /** `$$.Execution.Input`, untouched. */
  readonly input: unknown;
  /** `$`: the input at first, later `{run: RunState}`. */
  readonly state: { readonly run?: RunState };
  readonly execution: ExecutionContext;
}

/** Payload of a map's worker; `state` is the worker's own last answer, absent on the first call. */
export interface WorkerEvent<Item> {
  readonly run: RunState;
  readonly item: Item;
  readonly step: WorkerStep;
}

/** A worker's answer. `next` is an artefact key relative to the run's prefix, '' where there is none. */
export interface WorkerStep {
  readonly done: boolean;
  readonly next: string;
  /** DeleteBatch only: seconds that CoolDown waits. 0 for the others. */
  readonly wait_seconds: number;
}

export type ScanEvent = WorkerEvent<ScanItem>;
export type BuildEvent = WorkerEvent<BuildItem>;
export type ListEvent = WorkerEvent<ListItem>;
export type DeleteEvent = WorkerEvent<{ readonly batch: number }>;

export interface ProbeEvent {
  readonly run: RunState;
  readonly probe: true;
}

/** Payload of EvaluateRun. */
export interface EvaluateEvent {
  readonly run: RunState;
  readonly step: WorkerStep;
}

/** `$.evaluation` after EvaluateRun. */
export interface EvaluationState extends WorkerStep {
  /** MORE until done. */
  readonly verdict: 'MORE' | 'NOTHING_TO_DO' | 'DRY_RUN' | 'REFUSED' | 'DELETE';
  readonly error: string;
  readonly cause: string;
  readonly batches_key: string;
  readonly plan_digest: string;
}

/** Payload of RecheckTable; `$.run.seal_prefix` and the digest name the seal. */
export interface RecheckEvent {
  readonly run: RunState;
  readonly evaluation: { readonly plan_digest: string };
}

/** Payload of RecordRun and RecordFailure. */
export interface RecordEvent {
  readonly input: unknown;
  readonly execution: ExecutionContext;
  /** `$` of the machine: `{run?, evaluation?, error?: {Error, Cause}}`. */
  readonly state: {
    readonly run?: RunState;
    readonly evaluation?: EvaluationState;
    readonly error?: { readonly Error: string; readonly Cause: string };
  };
  /** `run` for RecordRun, `failure` for RecordFailure, `ended` for an execution that is over and may have recorded nothing. */
  readonly record: 'run' | 'failure' | 'ended';
}

/** `$.failure` after RecordFailure: what the Fail state says. */
export interface FailureState {
  readonly verdict: 'REFUSED' | 'FAILED' | 'ABORTED';
  readonly error: string;
  /** Begins with a sentence; under 32 KB. */
  readonly cause: string;
}
