/** What a run ends as. The record, the execution's output and the CLI's exit code all follow from it (DESIGN section 8). */
export type Verdict =
  | 'NOTHING_TO_DO'
  | 'DRY_RUN'
  | 'DELETED'
  | 'PARTIAL'
  | 'SKIPPED'
  | 'REFUSED'
  | 'FAILED'
  | 'ABORTED';

export interface ErrorOptionsWithHint extends ErrorOptions {
  /** What the operator does next; appended to the message after a space. */
  readonly next?: string;
}

/**
 * Base of every error that icesweep throws on purpose. `name` is a literal in each class, since bundles are minified and
 * the same string is matched by the state machine, the metrics and the documentation.
 */
export abstract class IcesweepError extends Error {
  abstract override readonly name: string;
  abstract readonly verdict: 'SKIPPED' | 'REFUSED' | 'FAILED';

  constructor(message: string, options: ErrorOptionsWithHint = {}) {
    const { next, ...rest } = options;
    super(next === undefined ? message : `${message} ${next}`, rest);
  }
}

abstract class Refusal extends IcesweepError {
  readonly verdict = 'REFUSED' as const;
}

abstract class Failure extends IcesweepError {
  readonly verdict = 'FAILED' as const;
}

/** Another run holds the lease of the table, or this scheduled time was already taken. Given only before any work. */
export class RunInProgressError extends IcesweepError {
  override readonly name = 'RunInProgressError';
  readonly verdict = 'SKIPPED' as const;
}

/** The input is not understood: unknown key, wrong type, missing value. Raised before any call leaves the process. */
export class InvalidInputError extends Refusal {
  override readonly name = 'InvalidInputError';
}

/** `older_than` is below the platform's floor, or the cut-off lies in the future. */
export class OlderThanTooRecentError extends Refusal {
  override readonly name = 'OlderThanTooRecentError';
}

/** A table that icesweep must not or cannot clean: unknown format version, encrypted, S3 Tables, view, branching catalog. */
export class UnsupportedTableError extends Refusal {
  override readonly name = 'UnsupportedTableError';
}

/** `gc.enabled` is not true: files may be shared with other tables. */
export class GcDisabledError extends Refusal {
  override readonly name = 'GcDisabledError';
}

/** The table's storage is, or may be, shared with another table or another table format. */
export class LocationConflictError extends Refusal {
  override readonly name = 'LocationConflictError';
}

/** Recorded paths and listed keys cannot be told to be the same files: scheme, authority, relative or `..` paths. */
export class PrefixMismatchError extends Refusal {
  override readonly name = 'PrefixMismatchError';
}

/** Too many referenced files were not listed: names are being read wrong, or the table is damaged. */
export class ReferencedFilesMissingError extends Refusal {
  override readonly name = 'ReferencedFilesMissingError';
}

/** More files look orphaned than the limits allow. */
export class ThresholdExceededError extends Refusal {
  override readonly name = 'ThresholdExceededError';
}

/** The sealed plan is older than `max_plan_age`. */
export class PlanExpiredError extends Refusal {
  override readonly name = 'PlanExpiredError';
}

/** The sealed plan may not be deleted: its verdict forbids it, it was used, or the override does not match. */
export class PlanNotDeletableError extends Refusal {
  override readonly name = 'PlanNotDeletableError';
}

/** The catalog, or the storage, knows no such table. Never read as "nothing is referenced". */
export class TableNotFoundError extends Failure {
  override readonly name = 'TableNotFoundError';
}

/** A metadata file, manifest list or manifest cannot be read to its end. */
export class MetadataUnreadableError extends Failure {
  override readonly name = 'MetadataUnreadableError';
}

/** The table moved on during the run in a way that a new run can follow and this one cannot. */
export class TableChangedError extends Failure {
  override readonly name = 'TableChangedError';
}

/** The scan's books do not balance: planned, read and written numbers differ. */
export class ScanIncompleteError extends Failure {
  override readonly name = 'ScanIncompleteError';
}

/** A filter shard is absent, short, of another run, or its numbers differ from the receipts. */
export class FilterMismatchError extends Failure {
  override readonly name = 'FilterMismatchError';
}

/** A listing shard did not reach its end, or its pages contradict each other. */
export class ListingIncompleteError extends Failure {
  override readonly name = 'ListingIncompleteError';
}

/** A permission is missing. The message names the action and the resource. */
export class AccessDeniedError extends Failure {
  override readonly name = 'AccessDeniedError';
}

/** The lease was taken by another holder, so nothing more may be deleted under this run's token. */
export class LeaseLostError extends Failure {
  override readonly name = 'LeaseLostError';
}

/** Every key of the delete stage failed. */
export class DeletesFailedError extends Failure {
  override readonly name = 'DeletesFailedError';
}

/** A store or service did not answer in a way that a later attempt may mend. The state machine retries it by this name. */
export class ServiceUnavailableError extends Failure {
  override readonly name = 'ServiceUnavailableError';
}

/** A fault of the deployment: wrong environment, missing resource. */
export class MisconfiguredError extends Failure {
  override readonly name = 'MisconfiguredError';
}

const REFUSALS = [
  'OlderThanTooRecentError',
  'UnsupportedTableError',
  'GcDisabledError',
  'LocationConflictError',
  'PrefixMismatchError',
  'ReferencedFilesMissingError',
  'ThresholdExceededError',
  'PlanExpiredError',
  'PlanNotDeletableError',
  'InvalidInputError',
] as const;

/** The verdict that an error name stands for, also when only the name survived (a Lambda's errorType, a failure note). */
export function verdictOfError(name: string): 'SKIPPED' | 'REFUSED' | 'FAILED' {
  if (name === 'RunInProgressError') return 'SKIPPED';
  return (REFUSALS as readonly string[]).includes(name) ? 'REFUSED' : 'FAILED';
}

/** The CLI's exit code for a verdict and, where one exists, its error name (DESIGN section 8). */
export function exitCodeOf(verdict: Verdict, errorName?: string): number {
  if (errorName === 'InvalidInputError') return 64;
  switch (verdict) {
    case 'NOTHING_TO_DO':
    case 'DRY_RUN':
    case 'DELETED':
      return 0;
    case 'PARTIAL':
      return 4;
    case 'SKIPPED':
    case 'REFUSED':
      return 3;
    case 'ABORTED':
      return 130;
    case 'FAILED':
      return 1;
  }
}
