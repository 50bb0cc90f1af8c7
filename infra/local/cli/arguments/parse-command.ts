/** From the words of a command line to a command with typed values. Everything that is not understood is refused by name. */
import { parseArgs } from 'node:util';
import { InvalidInputError } from '#shared/errors.ts';
import { suggestName } from '#shared/run/input-suggestions.ts';
import { COMMANDS, type CommandShape, flagsOf } from './commands.ts';
import { FLAGS, type Flag } from './flags.ts';

export type FlagValue = string | number | boolean | readonly string[] | Readonly<Record<string, string>>;

export interface ParsedCommand {
  readonly command: CommandShape;
  readonly operands: readonly string[];
  /** By flag name; flags that were not given are absent. */
  readonly values: ReadonlyMap<string, FlagValue>;
}

/** The known word that was probably meant; names of other systems lead to ours. */
function closest(word: string, known: readonly string[]): string | undefined {
  const meant = suggestName(word, known)?.replaceAll('_', '-');
  return meant !== undefined && known.includes(meant) ? meant : undefined;
}

function findCommand(word: string): CommandShape {
  const found = COMMANDS.find((command) => command.name === word);
  if (found !== undefined) return found;
  const meant = closest(
    word,
    COMMANDS.map((command) => command.name),
  );
  throw new InvalidInputError(`There is no command ${JSON.stringify(word)}.`, {
    next: meant === undefined ? 'icesweep --help lists them.' : `Did you mean icesweep ${meant}?`,
  });
}

function unknownFlag(name: string, command: CommandShape): InvalidInputError {
  const known = flagsOf(command).map((flag) => flag.name);
  const meant = closest(name, known);
  if (FLAGS.some((flag) => flag.name === name)) {
    return new InvalidInputError(`icesweep ${command.name} has no --${name}.`, {
      next: `icesweep ${command.name} --help lists its flags.`,
    });
  }
  return new InvalidInputError(`--${name} is not known.`, {
    next: meant === undefined ? `icesweep ${command.name} --help lists the flags.` : `Did you mean --${meant}?`,
  });
}

function number(flag: Flag, text: string): number {
  if (!/^\d+(\.\d+)?$/.test(text)) {
    throw new InvalidInputError(`--${flag.name} takes a number, not ${JSON.stringify(text)}.`);
  }
  return Number(text);
}

/** `A,B=C`: split at the last `=`, since recorded prefixes may hold one (`dt=1`). */
function map(flag: Flag, pairs: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.lastIndexOf('=');
      if (at < 0) throw new InvalidInputError(`--${flag.name} takes ${flag.value}, not ${JSON.stringify(pair)}.`);
      return [pair.slice(0, at), pair.slice(at + 1)];
    }),
  );
}

function typed(flag: Flag, given: readonly string[]): FlagValue {
  if (flag.kind === 'texts') return given;
  if (flag.kind === 'map') return map(flag, given);
  if (given.length > 1) throw new InvalidInputError(`--${flag.name} was given ${given.length} times.`);
  const text = given[0] as string;
  return flag.kind === 'number' ? number(flag, text) : text;
}

interface Token {
  readonly kind: 'option' | 'positional' | 'option-terminator';
  readonly name?: string;
  readonly rawName?: string;
  readonly value?: string | undefined;
}

/** Reads the tokens of `parseArgs`; `--no-x` and `--x=false` switch a switch off, so that a script can say either. */
function readFlags(tokens: readonly Token[], command: CommandShape): Map<string, FlagValue> {
  const known = flagsOf(command);
  const texts = new Map<Flag, string[]>();
  const values = new Map<string, FlagValue>();
  for (const token of tokens) {
    if (token.kind !== 'option') continue;
    const name = token.name === 'y' ? 'yes' : token.name === 'h' ? 'help' : (token.name as string);
    const negated = name.startsWith('no-') ? name.slice(3) : undefined;
    const flag = known.find((one) => one.name === name || (one.kind === 'switch' && one.name === negated));
    if (flag === undefined) throw unknownFlag(name, command);
    if (flag.kind === 'switch') {
      if (token.value !== undefined && !/^(true|false)$/.test(token.value)) {
        throw new InvalidInputError(
          `--${flag.name} takes no value, but true or false; it was given ${JSON.stringify(token.value)}.`,
        );
      }
      values.set(flag.name, (token.value !== 'false') !== (flag.name === negated));
    } else if (token.value === undefined) {
      throw new InvalidInputError(`--${flag.name} needs a value: --${flag.name} ${flag.value}.`);
    } else {
      texts.set(flag, [...(texts.get(flag) ?? []), token.value]);
    }
  }
  for (const [flag, given] of texts) values.set(flag.name, typed(flag, given));
  return values;
}

function checkOperands(command: CommandShape, operands: readonly string[]): void {
  const needed = command.operands.filter((operand) => operand.optional !== true).length;
  const usage = command.operands
    .map((operand) => (operand.optional ? `[<${operand.name}>]` : `<${operand.name}>`))
    .join(' ');
  if (operands.length < needed) {
    throw new InvalidInputError(`icesweep ${command.name} needs ${usage}.`, {
      next: `Such as: ${command.examples[0]}`,
    });
  }
  if (operands.length > command.operands.length) {
    const extra = operands.slice(command.operands.length).map((word) => JSON.stringify(word));
    throw new InvalidInputError(`icesweep ${command.name} takes ${usage} only; ${extra.join(', ')} is too much.`);
  }
  if (operands.some((operand) => operand.trim() === '')) {
    throw new InvalidInputError(`icesweep ${command.name} needs ${usage}; an empty word was given.`);
  }
}

/**
 * Parses the words behind `icesweep`. With `--help` anywhere the operands are not checked.
 *
 * @throws InvalidInputError an unknown command or flag (with the one that was probably meant), a missing or bad value
 */
export function parseCommand(argv: readonly string[]): ParsedCommand {
  const at = argv.findIndex((word) => !word.startsWith('-'));
  const command = findCommand(argv[at] ?? '');
  const words = [...argv.slice(0, at), ...argv.slice(at + 1)];
  const takesValue = flagsOf(command).filter((flag) => flag.kind !== 'switch');
  const { tokens } = parseArgs({
    args: words,
    strict: false,
    allowPositionals: true,
    tokens: true,
    options: Object.fromEntries(takesValue.map((flag) => [flag.name, { type: 'string' as const, multiple: true }])),
  });
  const values = readFlags(tokens as readonly Token[], command);
  const operands = tokens.flatMap((token) => (token.kind === 'positional' ? [token.value] : []));
  if (values.get('help') !== true) checkOperands(command, operands);
  return { command, operands, values };
}
