import { Duration } from 'aws-cdk-lib';
import type { FunctionName } from '#shared/runtime/env.ts';

export interface FunctionSettings {
  readonly memoryMegabytes: number;
  readonly timeout: Duration;
  readonly description: string;
}

/**
 * What each function needs for its largest piece of work: a scan worker about a million entries, a build worker ten million
 * fingerprints and their filter, a lister two filter shards and one page.
 */
export const FUNCTION_SETTINGS: Readonly<Record<FunctionName, FunctionSettings>> = {
  plan: {
    memoryMegabytes: 3008,
    timeout: Duration.minutes(15),
    description: 'Pins an Iceberg table, checks the gates and plans a run.',
  },
  scan: {
    memoryMegabytes: 2048,
    timeout: Duration.minutes(15),
    description: 'Reads the manifests of one scan shard.',
  },
  build: {
    memoryMegabytes: 2048,
    timeout: Duration.minutes(15),
    description: 'Builds the filter shard of one key range.',
  },
  list: {
    memoryMegabytes: 1769,
    timeout: Duration.minutes(15),
    description: 'Lists one interval of a table’s storage.',
  },
  evaluate: {
    memoryMegabytes: 3008,
    timeout: Duration.minutes(15),
    description: 'Balances the books, judges what was found and seals the plan.',
  },
  recheck: {
    memoryMegabytes: 2048,
    timeout: Duration.minutes(15),
    description: 'Takes off the list what the table references by now.',
  },
  delete: {
    memoryMegabytes: 1024,
    timeout: Duration.minutes(5),
    description: 'Deletes one sealed batch; the only function that may delete from tables.',
  },
  record: {
    memoryMegabytes: 2048,
    timeout: Duration.minutes(5),
    description: 'Writes the record, report, event and metrics of a run.',
  },
  watch: {
    memoryMegabytes: 512,
    timeout: Duration.minutes(5),
    description: 'Tells daily how long ago each table was last cleaned.',
  },
};
