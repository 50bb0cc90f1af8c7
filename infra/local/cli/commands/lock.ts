/** `icesweep lock` and `icesweep unlock`: the table's lease, for other maintenance jobs on it. */
import { hostname, userInfo } from 'node:os';
import { humanTime } from '#shared/report/format.ts';
import { lockTable, unlockTable } from '#shared/run/lease.ts';
import { type CommandContext, operandOf, textOf } from '../context.ts';
import { openFleetItems } from '../fleet/open-fleet.ts';
import { withRuntime } from '../local-runtime.ts';
import { clock, leaseOf } from '../table-lease.ts';
import { targetOf } from '../target.ts';

/** A day: longer than any compaction should take, short enough that a forgotten lock does not stay. */
const LOCK_MS = 24 * 3_600_000;

/** A run's lease ends with its run or by time; a person with a lock has no business in judging that. */
const executions = { status: async () => 'unknown' as const };

function ownerOf(context: CommandContext): string {
  return textOf(context, 'comment') ?? `${userInfo().username}@${hostname()}`;
}

export function lock(context: CommandContext): Promise<number> {
  const target = targetOf(operandOf(context, 0), context.parsed.values);
  return withRuntime(context, target.connection, async (runtime) => {
    const id = await leaseOf(target, runtime);
    const ports = { items: openFleetItems(context) ?? runtime.items, clock, executions };
    const ticket = await lockTable(ports, id, ownerOf(context), target.input.table, LOCK_MS);
    const until = new Date(Date.now() + LOCK_MS).toISOString();
    await context.terminal.out(
      context.output === 'text'
        ? `Locked ${target.input.table} for ${ticket.owner} until ${humanTime(until)}. icesweep unlock gives it back.\n`
        : `${JSON.stringify({ ...ticket, until })}\n`,
    );
    return 0;
  });
}

export function unlock(context: CommandContext): Promise<number> {
  const target = targetOf(operandOf(context, 0), context.parsed.values);
  return withRuntime(context, target.connection, async (runtime) => {
    const released = await unlockTable(
      { items: openFleetItems(context) ?? runtime.items },
      await leaseOf(target, runtime),
    );
    await context.terminal.out(
      context.output === 'text'
        ? `${target.input.table} ${released ? 'is unlocked' : 'was not locked'}.\n`
        : `${JSON.stringify({ released })}\n`,
    );
    return 0;
  });
}
