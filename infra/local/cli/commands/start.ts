/** `icesweep start`: starts a deployed state machine and follows it until it ends. */
import type { DescribeExecutionCommandOutput } from '@aws-sdk/client-sfn';
import { InvalidInputError, MisconfiguredError } from '#shared/errors.ts';
import { parseInput } from '#shared/run/input.ts';
import type { RunRecord } from '#shared/run/record.ts';
import { findRecord } from '#shared/run/run-store.ts';
import { catalogOf, flagInputs } from '../arguments/run-input.ts';
import { type CommandContext, operandOf, textOf } from '../context.ts';
import { isRecorded, type Unrecorded, unrecorded } from '../execute.ts';
import { followExecution } from '../fleet/follow-execution.ts';
import { namingStoreFaults, openFleetItems, openFleetLists } from '../fleet/open-fleet.ts';
import { StateMachine } from '../fleet/step-functions.ts';
import { EXIT_STOPPED, onInterrupt } from '../interrupt.ts';
import { Progress } from '../progress.ts';
import { newRunName } from '../run-name.ts';
import { showRun } from '../show.ts';

/** The deployed run has its own storage and secrets; what this machine has is not there. */
const OF_THIS_MACHINE: Readonly<Record<string, string>> = {
  mount: 'the deployed run reaches its own storage',
  'token-env': 'the deployed run reads its token from Secrets Manager, as its deployment says',
};

function inputOf(context: CommandContext): Record<string, unknown> & { table: string } {
  const { values } = context.parsed;
  for (const [name, reason] of Object.entries(OF_THIS_MACHINE)) {
    if (values.has(name)) throw new InvalidInputError(`--${name} is of no use with icesweep start: ${reason}.`);
  }
  const catalog = catalogOf(values);
  const input = { table: operandOf(context, 0), ...(catalog === undefined ? {} : { catalog }), ...flagInputs(values) };
  parseInput(input);
  return input;
}

function stateMachineOf(context: CommandContext): StateMachine {
  const arn = textOf(context, 'state-machine');
  if (arn === undefined) {
    throw new InvalidInputError('icesweep start needs --state-machine ARN.', {
      next: 'The deployment prints it as an output; icesweep run sweeps on this machine.',
    });
  }
  if (context.output === 'jsonl' && textOf(context, 'work-bucket') === undefined) {
    throw new InvalidInputError('--output jsonl lists the orphans, which lie in the work bucket.', {
      next: 'Add --work-bucket NAME; the deployment prints it as an output.',
    });
  }
  const profile = textOf(context, 'profile');
  return new StateMachine(arn, profile === undefined ? {} : { profile });
}

/** The record that the execution's output is; a failed execution has its error and cause only, and its record in the run table. */
async function recordOf(
  end: DescribeExecutionCommandOutput,
  table: string,
  region: string,
  context: CommandContext,
): Promise<RunRecord | Unrecorded> {
  const name = end.name as string;
  const status = end.status as 'SUCCEEDED' | 'FAILED' | 'ABORTED' | 'TIMED_OUT';
  if (status === 'SUCCEEDED') {
    const output = JSON.parse(end.output ?? 'null') as RunRecord | null;
    if (output !== null && isRecorded(output)) return output;
    throw new MisconfiguredError(`The execution ${name} succeeded without a record of a run.`, {
      next: 'Check that --state-machine is one of icesweep.',
    });
  }
  const items = openFleetItems(context, region);
  const known = items === undefined ? undefined : await findRecord(items, name);
  const { error, cause } = end;
  return (
    known ??
    unrecorded({ status, ...(error ? { error } : {}), ...(cause ? { cause } : {}) }, { name, input: { table } })
  );
}

export async function start(context: CommandContext): Promise<number> {
  const machine = stateMachineOf(context);
  const input = inputOf(context);
  const { terminal, quiet } = context;
  const name = newRunName('start', input.table);
  const leaving = new AbortController();
  const interrupt = onInterrupt({
    finish: () => leaving.abort(),
    stop: () => process.exit(EXIT_STOPPED),
    say: () => {},
  });
  const progress = new Progress(terminal, { quiet });
  try {
    const arn = await machine.start(name, JSON.stringify(input));
    if (!quiet) progress.say(`Started ${arn}`);
    const end = await followExecution(
      {
        arn,
        describe: (signal) => machine.describe(arn, signal),
        showProgress: (signal) => machine.showProgress(arn, progress, signal),
        say: (text) => progress.say(text),
      },
      leaving.signal,
    );
    progress.close();
    if (end === undefined) {
      terminal.err(`The run goes on. Stop it with: aws stepfunctions stop-execution --execution-arn ${arn}\n`);
      return EXIT_STOPPED;
    }
    const run = await recordOf(end, input.table, machine.region, context);
    return await namingStoreFaults(showRun(run, openFleetLists(context, machine.region), context));
  } finally {
    progress.close();
    interrupt.dispose();
  }
}
