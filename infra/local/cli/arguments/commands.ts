/** The commands: their operands, the groups of flags each knows, and the first lines of their help. */
import { FLAGS, type Flag, type FlagGroup } from './flags.ts';

export type CommandName =
  | 'plan'
  | 'run'
  | 'delete'
  | 'report'
  | 'runs'
  | 'explain'
  | 'restore'
  | 'start'
  | 'lock'
  | 'unlock';

export interface CommandShape {
  readonly name: CommandName;
  readonly operands: readonly { readonly name: string; readonly optional?: true }[];
  readonly groups: readonly FlagGroup[];
  /** Flags of other groups that this command knows too. */
  readonly extra?: readonly string[];
  readonly does: string;
  /** What is true of the help's first lines is tested: every example parses. */
  readonly examples: readonly string[];
}

const A_TABLE: readonly FlagGroup[] = ['common', 'table', 'catalog', 'store'];
const A_RUN: readonly FlagGroup[] = [...A_TABLE, 'what', 'limits', 'paths', 'pace'];
const table = { name: 'table' } as const;
const run = { name: 'run' } as const;

export const COMMANDS: readonly CommandShape[] = [
  {
    name: 'plan',
    operands: [table],
    groups: A_RUN,
    does: 'Lists, judges and reports. Deletes nothing.',
    examples: [
      'icesweep plan ./warehouse/db/orders --older-than 3d',
      'icesweep plan hdfs://nn/wh/orders --mount hdfs://nn/wh=. --output jsonl',
      'icesweep plan analytics.orders --catalog glue --output json',
    ],
  },
  {
    name: 'run',
    operands: [table],
    groups: [...A_RUN, 'delete'],
    does: 'Plans, asks (or --yes), and deletes exactly what was shown.',
    examples: [
      'icesweep run ./warehouse/db/orders',
      'icesweep run s3://lake/db/orders --endpoint-url http://localhost:9000 --yes',
    ],
  },
  {
    name: 'delete',
    operands: [run],
    groups: ['common', 'store', 'pace', 'delete'],
    extra: ['comment', 'override'],
    does: 'Deletes exactly what that plan lists.',
    examples: ['icesweep delete plan-orders-20261130T051600-4f2a', 'icesweep delete RUN --override DIGEST --yes'],
  },
  {
    name: 'report',
    operands: [run],
    groups: ['common', 'store', 'fleet', 'html'],
    does: 'Shows what a run found and did.',
    examples: [
      'icesweep report RUN',
      'icesweep report RUN --html report.html',
      'icesweep report RUN --run-table NAME --work-bucket NAME',
    ],
  },
  {
    name: 'runs',
    operands: [{ name: 'table', optional: true }],
    groups: ['common', 'store', 'fleet', 'html', 'catalog'],
    does: 'Lists the runs, newest first; with --html a page of all tables.',
    examples: ['icesweep runs', 'icesweep runs analytics.orders --output json', 'icesweep runs --html fleet.html'],
  },
  {
    name: 'explain',
    operands: [run, { name: 'path' }],
    groups: ['common', 'store', 'fleet'],
    does: 'Says why a file was kept, or why it is an orphan.',
    examples: [
      'icesweep explain RUN s3://lake/db/orders/data/part-0.parquet',
      'icesweep explain RUN data/part-0.parquet',
    ],
  },
  {
    name: 'restore',
    operands: [run],
    groups: ['common', 'store', 'fleet'],
    extra: ['yes'],
    does: 'On a versioned bucket, removes the delete markers of that run again.',
    examples: ['icesweep restore RUN'],
  },
  {
    name: 'start',
    operands: [table],
    groups: [...A_RUN, 'machine', 'fleet', 'sealed'],
    does: 'Starts a deployed state machine and follows it.',
    examples: [
      'icesweep start analytics.orders --state-machine ARN',
      'icesweep start analytics.orders --state-machine ARN --dry-run',
    ],
  },
  {
    name: 'lock',
    operands: [table],
    groups: A_TABLE,
    extra: ['comment', 'run-table'],
    does: 'Takes the table’s lease for another maintenance job.',
    examples: ['icesweep lock ./warehouse/db/orders --comment compaction'],
  },
  {
    name: 'unlock',
    operands: [table],
    groups: A_TABLE,
    extra: ['run-table'],
    does: 'Gives the lease back.',
    examples: ['icesweep unlock ./warehouse/db/orders'],
  },
];

/** The flags that a command knows, in the order of the help. */
export function flagsOf(command: CommandShape): readonly Flag[] {
  return FLAGS.filter((flag) => command.groups.includes(flag.group) || (command.extra?.includes(flag.name) ?? false));
}
