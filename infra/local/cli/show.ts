/** Prints a run in the format that was asked for. Data on standard output, words on standard error. */
import { exitCodeOf } from '#shared/errors.ts';
import { printable } from '#shared/report/format.ts';
import type { RunRecord } from '#shared/run/record.ts';
import { type CommandContext, isOn, styleOf } from './context.ts';
import { isRecorded, type Unrecorded } from './execute.ts';
import { EXIT_STOPPED, STOPPED_BY_PERSON } from './interrupt.ts';
import { planArtefacts, readRunSeal, sealedOrphans } from './orphans/orphan-reader.ts';
import { OrphanCounter, type OrphanSummary } from './orphans/orphan-summary.ts';
import type { ListReader } from './runtime.ts';
import { recordText } from './text/record-text.ts';

const ORPHANS_FOUND = 2;
const LINES_AT_ONCE = 1000;

/** Exit code of section 8; with `--detailed-exitcode` a success that found orphans is 2. */
export function exitCodeOfRun(run: RunRecord | Unrecorded, context: CommandContext): number {
  // A run that its person stopped may have ended by itself first; it was stopped all the same.
  const code = run.error === STOPPED_BY_PERSON ? EXIT_STOPPED : exitCodeOf(run.verdict, run.error);
  const found = isRecorded(run) && run.orphan_files_count > 0;
  return code === 0 && found && isOn(context, 'detailed-exitcode') ? ORPHANS_FOUND : code;
}

/** Counts what the run's seal lists. Undefined where it never came to a seal, or where no lists can be read. */
export async function summaryOf(run: RunRecord, history: ListReader): Promise<OrphanSummary | undefined> {
  if (run.orphan_files_count === 0 || history.withoutLists === true) return undefined;
  const artefacts = planArtefacts(run, history);
  const seal = await readRunSeal(run, history);
  if (seal === undefined) return undefined;
  const counter = new OrphanCounter();
  for await (const orphan of sealedOrphans(artefacts, seal)) counter.add(orphan);
  return counter.summary();
}

/** One line per candidate. A refused run has none to show: what it found is evidence, not a list to act on. */
async function printCandidates(run: RunRecord, history: ListReader, context: CommandContext): Promise<void> {
  if (run.orphan_files_count === 0 || !['DRY_RUN', 'DELETED', 'PARTIAL'].includes(run.verdict)) return;
  const artefacts = planArtefacts(run, history);
  const seal = await readRunSeal(run, history);
  if (seal === undefined) return;
  let lines: string[] = [];
  const flush = async (): Promise<void> => {
    if (lines.length > 0) await context.terminal.out(`${lines.join('\n')}\n`);
    lines = [];
  };
  for await (const orphan of sealedOrphans(artefacts, seal)) {
    if (lines.push(JSON.stringify(orphan)) >= LINES_AT_ONCE) await flush();
  }
  await flush();
}

/** `Name: cause` on standard error, as every error is said. */
export function sayError(
  run: { readonly error?: string; readonly cause?: string },
  context: Pick<CommandContext, 'terminal'>,
): void {
  if (run.error !== undefined) context.terminal.err(`${run.error}: ${printable(run.cause ?? '')}\n`);
}

async function printText(run: RunRecord | Unrecorded, history: ListReader, context: CommandContext): Promise<void> {
  if (!isRecorded(run)) return sayError(run, context);
  await context.terminal.out(`${recordText(run, styleOf(context.terminal), await summaryOf(run, history))}\n`);
  // In a pipe or a log the two streams part ways, and each must tell.
  if (!context.terminal.outIsRead) sayError(run, context);
}

/** Prints the run and answers the exit code. */
export async function showRun(
  run: RunRecord | Unrecorded,
  history: ListReader,
  context: CommandContext,
): Promise<number> {
  if (context.output === 'json') {
    await context.terminal.out(`${JSON.stringify(run, undefined, 2)}\n`);
    sayError(run, context);
  } else if (context.output === 'jsonl') {
    if (isRecorded(run)) await printCandidates(run, history, context);
    sayError(run, context);
  } else {
    await printText(run, history, context);
  }
  return exitCodeOfRun(run, context);
}
