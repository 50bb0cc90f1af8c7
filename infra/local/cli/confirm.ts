/** Asks before deleting: shows what would go, and takes only the table's name for a yes. */
import { InvalidInputError } from '#shared/errors.ts';
import { counted, humanBytes, humanTime, printable } from '#shared/report/format.ts';
import type { OrphanSummary } from './orphans/orphan-summary.ts';
import type { Terminal } from './terminal.ts';
import { shortened, wrapped } from './text/layout.ts';

/** What is typed: the last part of a location, the whole of a short name. */
export function nameToType(table: string): string {
  if (!table.includes('/')) return table;
  const parts = table.split('/').filter((part) => part !== '');
  return parts.at(-1) ?? table;
}

/** The lines above the question, and the question. */
export function confirmationText(table: string, summary: OrphanSummary, width: number): string {
  const lines = [
    '',
    `  oldest  ${humanTime(summary.oldest)}`,
    `  newest  ${humanTime(summary.newest)}`,
    ...summary.sample.map((path) => `  ${shortened(printable(path), width - 2)}`),
    ...(summary.files > summary.sample.length ? ['  …'] : []),
    '',
    wrapped(
      `Delete ${counted(summary.files, 'orphan file')} (${humanBytes(summary.bytes)}) from ${printable(table)}?`,
      width,
      '  ',
    ),
    `Type the table's name, ${printable(nameToType(table))}, to go on: `,
  ];
  return lines.join('\n');
}

/**
 * True when the person typed the table's name. Anything else is a no.
 *
 * @throws InvalidInputError when nobody can be asked
 */
export async function confirmDeletion(table: string, summary: OrphanSummary, terminal: Terminal): Promise<boolean> {
  if (!terminal.canAsk) {
    throw new InvalidInputError('There is no terminal to ask for a confirmation on; nothing was deleted.', {
      next: 'Add --yes to delete without being asked.',
    });
  }
  const answer = await terminal.ask(confirmationText(table, summary, terminal.columns()));
  const agreed = answer !== undefined && [table, nameToType(table)].includes(answer.trim());
  if (!agreed) terminal.err(`${answer === undefined ? '\n' : ''}Not confirmed; nothing was deleted.\n`);
  return agreed;
}
