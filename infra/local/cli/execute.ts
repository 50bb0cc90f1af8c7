/** Starts an execution, follows it on standard error, and comes back with its record. */
import { type Verdict, verdictOfError } from '#shared/errors.ts';
import type { RunRecord } from '#shared/run/record.ts';
import { ENDED_ERRORS } from '#shared/runtime/execution-ended-event.ts';
import { type Connection, saveConnection } from '../state/connections.ts';
import type { CommandContext } from './context.ts';
import { howToGoOn, onInterrupt } from './interrupt.ts';
import { Progress } from './progress.ts';
import type { ExecutionEnd, Runtime } from './runtime.ts';

/** A run without a record (its recording failed, or it was cut off) as far as it is known. */
export interface Unrecorded {
  readonly run_id: string;
  readonly table: string;
  readonly verdict: Verdict;
  readonly error: string;
  readonly cause: string;
}

export interface Execution {
  readonly input: Record<string, unknown> & { readonly table: string };
  readonly name: string;
  readonly connection: Connection;
  /** Of a sealed plan: how many files each of its batches holds. */
  readonly batchFiles?: readonly number[];
}

export function isRecorded(run: RunRecord | Unrecorded): run is RunRecord {
  return 'started_at' in run;
}

/** A Lambda's cause is JSON with the sentence in it; a Fail state's is the sentence itself. */
export function sentenceOf(cause: string | undefined): string {
  if (cause === undefined || cause === '') return 'no cause was given';
  try {
    const parsed = JSON.parse(cause) as { errorMessage?: unknown; message?: unknown };
    const sentence = parsed.message ?? parsed.errorMessage;
    return typeof sentence === 'string' ? sentence : cause;
  } catch {
    return cause;
  }
}

const UNRECORDED = {
  ABORTED: 'The run was stopped before it could write its record.',
  TIMED_OUT: 'The run ran out of time before it could write its record.',
} as const;

/** What is known of a run without a record. */
export function unrecorded(end: ExecutionEnd, execution: Pick<Execution, 'name' | 'input'>): Unrecorded {
  const known = { run_id: execution.name, table: execution.input.table };
  if (end.status === 'ABORTED' || end.status === 'TIMED_OUT') {
    return { ...known, verdict: 'ABORTED', error: ENDED_ERRORS[end.status], cause: UNRECORDED[end.status] };
  }
  const error = end.error ?? 'UnknownError';
  return { ...known, verdict: verdictOfError(error), error, cause: sentenceOf(end.cause) };
}

/** Runs to the end. Ctrl-C once stops the execution and still comes back with the record; twice ends the process. */
export async function execute(
  runtime: Runtime,
  execution: Execution,
  context: CommandContext,
): Promise<RunRecord | Unrecorded> {
  const { terminal, quiet, stateFolder } = context;
  const { batchFiles } = execution;
  saveConnection(stateFolder, execution.name, execution.connection);
  const progress = new Progress(terminal, { quiet });
  const running = await runtime.start(execution.input, execution.name, {
    entered: (state) => progress.enter(state),
    left: (state) => progress.leave(state),
    counted: (state, done, total, failed) =>
      state === 'DeleteOrphans' && batchFiles !== undefined
        ? progress.countFiles(batchFiles, done, failed)
        : progress.count(state, done, total, failed),
  });
  const interrupt = onInterrupt({
    finish: () => running.stop(),
    stop: () => process.exit(130),
    say: (text) => progress.say(text),
  });
  try {
    const end = await running.end;
    progress.close();
    const record = await runtime.find(execution.name);
    if (interrupt.count() > 0) howToGoOn(execution.name, record?.deleted_files_count ?? 0, terminal);
    return record ?? unrecorded(end, execution);
  } finally {
    progress.close();
    interrupt.dispose();
  }
}
