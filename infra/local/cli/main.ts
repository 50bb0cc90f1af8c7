/** The command line: parses, dispatches, and turns every error into one line with its name and the exit code of section 8. */
import { exitCodeOf, IcesweepError } from '#shared/errors.ts';
import { printable } from '#shared/report/format.ts';
import { shapeError } from '#shared/runtime/shape-error.ts';
import type { CommandName } from './arguments/commands.ts';
import { parseCommand } from './arguments/parse-command.ts';
import { type CommandContext, contextOf } from './context.ts';
import { processTerminal, type Terminal } from './terminal.ts';
import { commandHelp, generalHelp, versionLine } from './text/help-text.ts';

type Command = (context: CommandContext) => Promise<number>;

/** Loaded when used, so that each command starts as quickly as it can. */
const COMMANDS: Readonly<Record<CommandName, () => Promise<Command>>> = {
  plan: async () => (await import('./commands/plan.ts')).plan,
  run: async () => (await import('./commands/run.ts')).run,
  delete: async () => (await import('./commands/delete.ts')).deleteRun,
  report: async () => (await import('./commands/report.ts')).report,
  runs: async () => (await import('./commands/report.ts')).runs,
  explain: async () => (await import('./commands/explain.ts')).explain,
  restore: async () => (await import('./commands/restore.ts')).restore,
  start: async () => (await import('./commands/start.ts')).start,
  lock: async () => (await import('./commands/lock.ts')).lock,
  unlock: async () => (await import('./commands/lock.ts')).unlock,
};

const UNEXPECTED = 1;

/** `Name: message`, the message harmless to look at. Faults of ours show where they come from when asked to. */
function sayFault(known: Error, terminal: Terminal): void {
  terminal.err(`${printable(known.name)}: ${printable(known.message)}\n`);
  const cause = known.cause instanceof Error ? known.cause.message : undefined;
  if (cause !== undefined && !known.message.includes(cause)) terminal.err(`  because: ${printable(cause)}\n`);
  if (!(known instanceof IcesweepError) && process.env['ICESWEEP_DEBUG'] !== undefined)
    terminal.err(`${known.stack}\n`);
}

/** With `--output json` standard output gets its one document in every case. */
async function printFault(error: unknown, argv: readonly string[], terminal: Terminal): Promise<number> {
  const known = shapeError(error);
  const verdict = known instanceof IcesweepError ? known.verdict : 'FAILED';
  const wantsJson = argv.some(
    (word, at) => word === '--output=json' || (word === '--output' && argv[at + 1] === 'json'),
  );
  if (wantsJson)
    await terminal.out(`${JSON.stringify({ verdict, error: known.name, cause: known.message }, undefined, 2)}\n`);
  sayFault(known, terminal);
  return known instanceof IcesweepError ? exitCodeOf(verdict, known.name) : UNEXPECTED;
}

async function dispatch(argv: readonly string[], terminal: Terminal): Promise<number> {
  const [wanted, topic] = argv.filter((word) => !word.startsWith('-'));
  if (wanted === undefined && argv.includes('--version')) {
    await terminal.out(versionLine());
    return 0;
  }
  if (wanted === undefined || (wanted === 'help' && topic === undefined)) {
    const asked = argv.some((word) => ['--help', '-h', 'help'].includes(word));
    if (asked) await terminal.out(generalHelp());
    else terminal.err(generalHelp());
    return asked ? 0 : 64;
  }
  const parsed = parseCommand(wanted === 'help' && topic !== undefined ? [topic, '--help'] : argv);
  if (parsed.values.get('help') === true) {
    await terminal.out(commandHelp(parsed.command));
    return 0;
  }
  const command = await COMMANDS[parsed.command.name]();
  return command(contextOf(parsed, terminal));
}

/** Runs one command line and answers the exit code. Never throws. */
export async function main(argv: readonly string[], terminal: Terminal = processTerminal()): Promise<number> {
  try {
    return await dispatch(argv, terminal);
  } catch (error) {
    return printFault(error, argv, terminal);
  }
}
