/** `icesweep start`: starts a deployed state machine and follows it until it ends. */
import {
  DescribeExecutionCommand,
  type DescribeExecutionCommandOutput,
  DescribeMapRunCommand,
  GetExecutionHistoryCommand,
  ListMapRunsCommand,
  SFNClient,
  StartExecutionCommand,
} from '@aws-sdk/client-sfn';
import { exitCodeOf, InvalidInputError, verdictOfError } from '#shared/errors.ts';
import { parseInput } from '#shared/run/input.ts';
import type { RunRecord } from '#shared/run/record.ts';
import { catalogOf, flagInputs } from '../arguments/run-input.ts';
import { type CommandContext, operandOf, styleOf, textOf } from '../context.ts';
import { sentenceOf } from '../execute.ts';
import { onInterrupt } from '../interrupt.ts';
import { Progress } from '../progress.ts';
import { newRunName } from '../run-name.ts';
import { exitCodeOfRun, sayError } from '../show.ts';
import { recordText } from '../text/record-text.ts';

const POLL_MS = 2000;
const STOPPED_FOLLOWING = 130;

function inputOf(context: CommandContext): Record<string, unknown> {
  const { values } = context.parsed;
  for (const name of ['mount', 'endpoint-url', 'path-style']) {
    if (values.has(name))
      throw new InvalidInputError(
        `--${name} is of no use with icesweep start: the deployed run reaches its own storage.`,
      );
  }
  const catalog = catalogOf(values);
  const input = { table: operandOf(context, 0), ...(catalog === undefined ? {} : { catalog }), ...flagInputs(values) };
  parseInput(input);
  return input;
}

/** The state entered last, and the counts of the map that runs. */
async function showProgress(client: SFNClient, executionArn: string, progress: Progress): Promise<void> {
  const history = await client.send(
    new GetExecutionHistoryCommand({ executionArn, reverseOrder: true, maxResults: 20 }),
  );
  const entered = history.events?.find((event) => event.stateEnteredEventDetails !== undefined)
    ?.stateEnteredEventDetails?.name;
  if (entered === undefined) return;
  progress.enter(entered);
  const { mapRuns } = await client.send(new ListMapRunsCommand({ executionArn, maxResults: 10 }));
  const open = mapRuns?.find((run) => run.stopDate === undefined && run.mapRunArn?.includes(entered));
  if (open?.mapRunArn === undefined) return;
  const { itemCounts } = await client.send(new DescribeMapRunCommand({ mapRunArn: open.mapRunArn }));
  if (itemCounts === undefined) return;
  const done = (itemCounts.succeeded ?? 0) + (itemCounts.failed ?? 0) + (itemCounts.aborted ?? 0);
  progress.count(entered, done, itemCounts.total ?? 0, itemCounts.failed ?? 0);
}

async function follow(
  client: SFNClient,
  executionArn: string,
  context: CommandContext,
): Promise<DescribeExecutionCommandOutput | undefined> {
  const progress = new Progress(context.terminal, { quiet: context.quiet });
  let left: (() => void) | undefined;
  const leaving = new Promise<void>((resolve) => {
    left = resolve;
  });
  const interrupt = onInterrupt({ finish: () => left?.(), stop: () => process.exit(STOPPED_FOLLOWING), say: () => {} });
  try {
    while (interrupt.count() === 0) {
      const described = await client.send(new DescribeExecutionCommand({ executionArn }));
      if (described.status !== 'RUNNING') return described;
      // What is shown is a courtesy: a role that may not read the history can still follow the status.
      await showProgress(client, executionArn, progress).catch(() => {});
      await Promise.race([leaving, new Promise((resolve) => setTimeout(resolve, POLL_MS))]);
    }
    return undefined;
  } finally {
    progress.close();
    interrupt.dispose();
  }
}

async function showEnd(end: DescribeExecutionCommandOutput, context: CommandContext): Promise<number> {
  if (end.status === 'SUCCEEDED') {
    const record = JSON.parse(end.output ?? '{}') as RunRecord;
    await context.terminal.out(
      context.output === 'text'
        ? `${recordText(record, styleOf(context.terminal))}\n`
        : `${JSON.stringify(record, undefined, context.output === 'json' ? 2 : undefined)}\n`,
    );
    return exitCodeOfRun(record, context);
  }
  const stopped = end.status === 'ABORTED' || end.status === 'TIMED_OUT';
  const error = end.error ?? (stopped ? 'Aborted' : 'UnknownError');
  const verdict = stopped ? 'ABORTED' : verdictOfError(error);
  const cause = sentenceOf(end.cause);
  if (context.output !== 'text')
    await context.terminal.out(`${JSON.stringify({ run_id: end.name, verdict, error, cause })}\n`);
  sayError({ error, cause }, context);
  return exitCodeOf(verdict, error);
}

export async function start(context: CommandContext): Promise<number> {
  const stateMachineArn = textOf(context, 'state-machine');
  if (stateMachineArn === undefined) {
    throw new InvalidInputError('icesweep start needs --state-machine ARN.', {
      next: 'The deployment prints it as an output; icesweep run sweeps on this machine.',
    });
  }
  const input = inputOf(context);
  const [region, profile] = [textOf(context, 'region') ?? stateMachineArn.split(':')[3], textOf(context, 'profile')];
  const client = new SFNClient({ ...(region ? { region } : {}), ...(profile === undefined ? {} : { profile }) });
  const name = newRunName('start', input['table'] as string);
  const { executionArn } = await client.send(
    new StartExecutionCommand({ stateMachineArn, name, input: JSON.stringify(input) }),
  );
  if (!context.quiet) context.terminal.err(`Started ${executionArn}\n`);
  const end = await follow(client, executionArn as string, context);
  if (end !== undefined) return showEnd(end, context);
  context.terminal.err(
    `The run goes on. Stop it with: aws stepfunctions stop-execution --execution-arn ${executionArn}\n`,
  );
  return STOPPED_FOLLOWING;
}
