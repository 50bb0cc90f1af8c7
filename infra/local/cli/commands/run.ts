/** `icesweep run`: plans, shows, asks, and deletes that sealed plan, so that what is deleted is what was shown. */
import type { RunRecord } from '#shared/run/record.ts';
import { type CommandContext, isOn, operandOf, styleOf } from '../context.ts';
import { execute, isRecorded, type Unrecorded } from '../execute.ts';
import { withRuntime } from '../local-runtime.ts';
import { newRunName } from '../run-name.ts';
import { showRun, summaryOf } from '../show.ts';
import { assertDeletable } from '../table-lease.ts';
import { targetOf } from '../target.ts';
import { recordText } from '../text/record-text.ts';
import { deletePlanned, NOT_CONFIRMED } from './delete.ts';

/** With nothing to delete the plan is the whole run: to a reader it was none that would not have deleted. */
function asDeleting(planned: RunRecord | Unrecorded, context: CommandContext): RunRecord | Unrecorded {
  return isRecorded(planned) && context.output === 'text' ? { ...planned, dry_run: false } : planned;
}

export function run(context: CommandContext): Promise<number> {
  const target = targetOf(operandOf(context, 0), context.parsed.values, {
    dry_run: true,
    override: undefined,
    plan: undefined,
  });
  const { input, connection } = target;
  return withRuntime(context, connection, async (runtime) => {
    if (!isOn(context, 'dry-run')) await assertDeletable(target, runtime);
    const planned = await execute(runtime, { input, connection, name: newRunName('run', input.table) }, context);
    const deletable = isRecorded(planned) && planned.verdict === 'DRY_RUN' && planned.orphan_files_count > 0;
    if (isOn(context, 'dry-run')) return showRun(planned, runtime, context);
    if (!deletable) return showRun(asDeleting(planned, context), runtime, context);
    // What is about to be deleted is words on the way; the data of this command is what became of it.
    const style = { ...styleOf(context.terminal), width: context.terminal.columns() };
    if (!context.quiet) context.terminal.err(`${recordText(planned, style, await summaryOf(planned, runtime))}\n`);
    return (await deletePlanned(planned, runtime, connection, context)) ?? NOT_CONFIRMED;
  });
}
