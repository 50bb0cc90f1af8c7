/** Names that a deployment and the one-machine runtime share; imports nothing, since the latter starts without CDK. */

/** The sparse index of recent runs, also where the table is brought along. */
export const STATUS_INDEX = 'by-status';
