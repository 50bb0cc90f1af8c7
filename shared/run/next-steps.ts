/** What the operator does after each error: one sentence, in the record, the report and the Cause. */
const STEPS: Readonly<Record<string, string>> = {
  InvalidInputError: 'Correct the input and start again.',
  OlderThanTooRecentError: 'Use a longer older_than.',
  GcDisabledError: 'Clean the table that owns the files, or set gc.enabled once nobody shares them.',
  UnsupportedTableError: 'This table cannot be cleaned by icesweep.',
  LocationConflictError: 'Separate the tables, or name known cases in overlaps_allowed or former_table_uuids.',
  PrefixMismatchError: 'Map the recorded prefixes with equal_schemes, equal_authorities or path_aliases.',
  ReferencedFilesMissingError: 'Find out why referenced files are missing before anything is deleted.',
  ThresholdExceededError: 'Read the report; delete this plan once with its digest as override, or raise the limit.',
  PlanExpiredError: 'Plan again.',
  PlanNotDeletableError: 'Plan again.',
  RunInProgressError: 'Nothing: the next run goes on.',
  TableNotFoundError: 'Check the name of the table and the catalog.',
  MetadataUnreadableError: "Repair the table's metadata.",
  TableChangedError: 'Start a new run.',
  ScanIncompleteError: 'Start a new run.',
  FilterMismatchError: 'Start a new run.',
  ListingIncompleteError: 'Start a new run.',
  AccessDeniedError: 'Grant the permission that the cause names, then start a new run.',
  LeaseLostError: 'Start a new run; see who holds the lease.',
  DeletesFailedError: 'Read the failure codes; then start a new run.',
  ServiceUnavailableError: 'Start a new run.',
  MisconfiguredError: 'Mend what the cause names, deploy, then start a new run.',
  ExecutionAborted: 'Start a new run; it finds what is left.',
  ExecutionTimedOut: 'Start a new run; it finds what is left.',
};

export function nextStepOf(errorName: string): string {
  return STEPS[errorName] ?? 'Start a new run; if it fails again, report it with this record.';
}
