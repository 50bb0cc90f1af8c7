/** Where metrics are found; shared with the alarms and the dashboard, so it imports nothing. */
export const METRIC_NAMESPACE = 'IcebergOrphanCleanup';

/** Value of the dimension `service`, unless the deployment names its own. */
export const DEFAULT_SERVICE = 'icesweep';
