/** What every command gets: its words, where to write, where runs are kept. */
import { resolve } from 'node:path';
import { InvalidInputError } from '#shared/errors.ts';
import type { FlagValue, ParsedCommand } from './arguments/parse-command.ts';
import type { Terminal } from './terminal.ts';
import type { TextStyle } from './text/record-text.ts';

export type OutputFormat = 'text' | 'json' | 'jsonl';

export interface CommandContext {
  readonly parsed: ParsedCommand;
  readonly terminal: Terminal;
  readonly stateFolder: string;
  readonly output: OutputFormat;
  readonly quiet: boolean;
  /** Shown to whoever finds the state folder taken. */
  readonly commandLine: string;
}

export const STATE_FOLDER = '.icesweep';

/** `--output`, before anything else is looked at: errors are printed in that format too. */
export function outputOf(values: ReadonlyMap<string, FlagValue>): OutputFormat {
  const output = (values.get('output') as string | undefined) ?? 'text';
  if (output !== 'text' && output !== 'json' && output !== 'jsonl') {
    throw new InvalidInputError(`--output is text, json or jsonl, not ${JSON.stringify(output)}.`);
  }
  return output;
}

/** A blank name would be the working directory itself (`--state "$UNSET"`), strewn with our files. */
function stateFolderOf(values: ReadonlyMap<string, FlagValue>): string {
  const folder = (values.get('state') as string | undefined) ?? STATE_FOLDER;
  if (folder.trim() === '') throw new InvalidInputError('--state names no folder; it was given a blank.');
  return resolve(folder);
}

export function contextOf(parsed: ParsedCommand, terminal: Terminal): CommandContext {
  const { values, command, operands } = parsed;
  return {
    parsed,
    terminal,
    stateFolder: stateFolderOf(values),
    output: outputOf(values),
    quiet: values.get('quiet') === true,
    commandLine: ['icesweep', command.name, ...operands].join(' '),
  };
}

export function textOf(context: CommandContext, flag: string): string | undefined {
  return context.parsed.values.get(flag) as string | undefined;
}

export function isOn(context: CommandContext, flag: string): boolean {
  return context.parsed.values.get(flag) === true;
}

export function operandOf(context: CommandContext, at: number): string {
  return context.parsed.operands[at] as string;
}

export function styleOf(terminal: Terminal): TextStyle {
  return { width: terminal.outColumns(), colour: terminal.colour };
}
