/** The help pages. Examples first: they are what a person looks for. */
import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { COMMANDS, type CommandShape, flagsOf } from '../arguments/commands.ts';
import type { Flag, FlagGroup } from '../arguments/flags.ts';
import { labelled, wrapped } from './layout.ts';

const WIDTH = 80;
const LABEL = 33;

const HEADINGS: Readonly<Record<FlagGroup, string>> = {
  common: 'Everywhere',
  what: 'What to judge',
  table: 'Which table',
  catalog: 'Catalog',
  store: 'Storage',
  limits: 'What stops a run',
  paths: 'Recorded paths',
  pace: 'Pace',
  delete: 'Deleting',
  sealed: 'Deleting a plan',
  machine: 'Which state machine',
  fleet: 'Deployed fleet',
  html: 'Pages',
};

function flagLine(flag: Flag): string {
  const label = `  --${flag.name}${flag.value === undefined ? '' : ` ${flag.value}`}`;
  if (label.length < LABEL - 1) return labelled(label, flag.help, LABEL, WIDTH);
  return `${label}\n${labelled('', flag.help, LABEL, WIDTH)}`;
}

function usage(command: CommandShape): string {
  const operands = command.operands.map((operand) => (operand.optional ? `[<${operand.name}>]` : `<${operand.name}>`));
  return ['icesweep', command.name, ...operands].join(' ');
}

/** The page of one command. */
export function commandHelp(command: CommandShape): string {
  const flags = flagsOf(command);
  const groups = [...new Set(flags.map((flag) => flag.group))];
  const sections = groups.map((group) =>
    [`${HEADINGS[group]}:`, ...flags.filter((flag) => flag.group === group).map(flagLine)].join('\n'),
  );
  return [...command.examples, '', `${usage(command)} [flags]`, command.does, '', sections.join('\n\n'), ''].join('\n');
}

/** The page of `icesweep --help`. */
export function generalHelp(): string {
  const examples = COMMANDS.slice(0, 2).map((command) => command.examples[0] as string);
  const width = Math.max(...COMMANDS.map((command) => usage(command).length)) + 2;
  return [
    ...examples,
    '',
    'icesweep removes orphan files from Apache Iceberg tables.',
    '',
    ...COMMANDS.map((command) => labelled(`  ${usage(command)}`, command.does, width + 2, WIDTH)),
    '',
    wrapped(
      '<table>: db.table with --catalog, a table location, a metadata file, or a directory of this machine.',
      WIDTH,
    ),
    'icesweep <command> --help lists the flags of a command; icesweep --version',
    'tells which one this is.',
    '',
    'Exit codes: 0 done, 2 orphans found (with --detailed-exitcode), 3 refused or',
    'skipped, 4 partly deleted, 64 wrong input, 1 failed, 130 stopped.',
    '',
  ].join('\n');
}

/** Name and version as the package.json above this file says them: a checkout's, or the published package's. */
export function versionLine(): string {
  const { name, version } = JSON.parse(readFileSync(findPackageJSON(import.meta.url) as string, 'utf8'));
  return `${name} ${version}\n`;
}
