/** What the package exports: the construct that a team adds to its own stack, and the shapes of the events it sends. */

export {
  EVENT_SOURCE,
  type RunDetailType,
  type RunEndedDetail,
  type RunStartedDetail,
} from '#shared/run/run-events.ts';
export { OUTPUT_KEYS } from './constructs/cleanup-outputs.ts';
export { CleanupScope, type CleanupSettings, PrefixMismatchMode } from './constructs/cleanup-settings.ts';
export { OrphanCleanup } from './constructs/orphan-cleanup.ts';
export { CatalogType, type CleanupTableProps, type OrphanCleanupProps } from './constructs/orphan-cleanup-props.ts';
