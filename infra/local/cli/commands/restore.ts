/** `icesweep restore`: undoes a run on a versioned bucket by removing exactly the delete markers that it made. */
import { InvalidInputError } from '#shared/errors.ts';
import { counted, humanCount, printable } from '#shared/report/format.ts';
import { restoreRun } from '#shared/run/restore.ts';
import { type CommandContext, isOn, operandOf } from '../context.ts';
import { withRunReader } from '../local-runtime.ts';
import { readRunSeal } from '../orphans/orphan-reader.ts';
import { NOT_CONFIRMED } from './delete.ts';

async function agreed(runId: string, files: number, context: CommandContext): Promise<boolean> {
  if (isOn(context, 'yes')) return true;
  if (!context.terminal.canAsk) {
    throw new InvalidInputError('There is no terminal to ask for a confirmation on; nothing was restored.', {
      next: 'Add --yes to restore without being asked.',
    });
  }
  const answer = await context.terminal.ask(
    `Bring back ${counted(files, 'file')} that ${printable(runId)} deleted? Type yes to go on: `,
  );
  return answer?.trim() === 'yes';
}

export function restore(context: CommandContext): Promise<number> {
  const runId = operandOf(context, 0);
  return withRunReader(runId, context, async (runtime) => {
    const run = await runtime.find(runId);
    const seal = run === undefined ? undefined : await readRunSeal(run, runtime);
    if (run === undefined || seal === undefined || run.deleted_files_count === 0) {
      throw new InvalidInputError(`The run ${runId} deleted nothing that could be restored.`);
    }
    if (!(await agreed(runId, run.deleted_files_count, context))) return NOT_CONFIRMED;
    const counts = await restoreRun(runtime.tables, runtime.artefacts(run.artefacts), seal.batches.length);
    const text = [
      `${counted(counts.restored, 'file')} restored`,
      ...(counts.alreadyGone > 0 ? [`${humanCount(counts.alreadyGone)} had been restored or expired before`] : []),
      ...(counts.covered > 0 ? [`${humanCount(counts.covered)} are covered by a newer version`] : []),
      ...(counts.unversioned > 0 ? [`${humanCount(counts.unversioned)} were deleted without a version`] : []),
    ].join(', ');
    await context.terminal.out(
      context.output === 'text' ? `${text}\n` : `${JSON.stringify({ run_id: runId, ...counts })}\n`,
    );
    return 0;
  });
}
