/** `icesweep plan`: a dry run, shown. */
import { type CommandContext, operandOf } from '../context.ts';
import { execute } from '../execute.ts';
import { withRuntime } from '../local-runtime.ts';
import { newRunName } from '../run-name.ts';
import { showRun } from '../show.ts';
import { targetOf } from '../target.ts';

export function plan(context: CommandContext): Promise<number> {
  const { input, connection } = targetOf(operandOf(context, 0), context.parsed.values, { dry_run: true });
  return withRuntime(context, connection, async (runtime) => {
    const run = await execute(runtime, { input, connection, name: newRunName('plan', input.table) }, context);
    return showRun(run, runtime, context);
  });
}
