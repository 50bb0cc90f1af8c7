/** A run as a person reads it at 80 columns: verdict, numbers, why, and what to do next. Plain text, colour on the verdict only. */
import type { Verdict } from '#shared/errors.ts';
import { counted, humanBytes, humanCount, humanTime, printable } from '#shared/report/format.ts';
import type { RunRecord } from '#shared/run/record.ts';
import type { OrphanSummary } from '../orphans/orphan-summary.ts';
import { columns, labelled, shortened, wrapped } from './layout.ts';

export interface TextStyle {
  readonly width: number;
  readonly colour: boolean;
}

const WIDEST = 100;
const COLOURS: Readonly<Record<Verdict, number>> = {
  NOTHING_TO_DO: 32,
  DRY_RUN: 36,
  DELETED: 32,
  PARTIAL: 33,
  SKIPPED: 33,
  REFUSED: 31,
  FAILED: 31,
  ABORTED: 31,
};

/** Bold and coloured where colour is wanted. */
export function painted(text: string, verdict: Verdict, style: TextStyle): string {
  return style.colour ? `\u001b[1;${COLOURS[verdict]}m${text}\u001b[0m` : text;
}

/** The first line: what the run came to, in one sentence. */
export function headline(record: RunRecord): string {
  const orphans = `${counted(record.orphan_files_count, 'orphan file')} (${humanBytes(record.orphan_bytes)})`;
  const deleted = `${counted(record.deleted_files_count, 'orphan file')} (${humanBytes(record.deleted_bytes)})`;
  switch (record.verdict) {
    case 'NOTHING_TO_DO':
      return 'no orphan files';
    case 'DRY_RUN':
      return `${orphans} would be deleted`;
    case 'DELETED':
      return `${deleted} deleted`;
    case 'PARTIAL':
      return `${deleted} deleted, ${humanCount(record.remaining_files_count)} remain`;
    case 'SKIPPED':
      return 'skipped before any work';
    case 'REFUSED':
      return record.orphan_files_count > 0
        ? `refused with ${orphans} found; nothing was deleted`
        : 'refused; nothing was deleted';
    case 'FAILED':
    case 'ABORTED':
      return `${record.verdict === 'FAILED' ? 'failed' : 'stopped'}; ${record.deleted_files_count > 0 ? `${deleted} had been deleted` : 'nothing was deleted'}`;
  }
}

/** How a verdict is marked: a dry run says so before anything else. */
export function badge(record: RunRecord): string {
  return record.verdict === 'DRY_RUN' || (record.dry_run && record.verdict === 'NOTHING_TO_DO')
    ? '[DRY RUN]'
    : `[${record.verdict.replaceAll('_', ' ')}]`;
}

function totals(record: RunRecord): string[] {
  const { before, after } = record;
  const changed = record.deleted_files_count > 0;
  const row = (name: string, files: number, bytes: number): string[] => [name, humanCount(files), humanBytes(bytes)];
  const header = ['', 'files', 'size'];
  const rows = [
    row('data', before.data_files, before.data_bytes),
    row('metadata', before.metadata_files, before.metadata_bytes),
  ];
  rows.push(row('orphans', record.orphan_files_count, record.orphan_bytes));
  if (changed) {
    header.push('files after', 'size after');
    rows[0]?.push(humanCount(after.data_files), humanBytes(after.data_bytes));
    rows[1]?.push(humanCount(after.metadata_files), humanBytes(after.metadata_bytes));
    rows[2]?.push(
      humanCount(Math.max(0, record.orphan_files_count - record.deleted_files_count)),
      humanBytes(Math.max(0, record.orphan_bytes - record.deleted_bytes)),
    );
  }
  return columns([header, ...rows], [1, 2, 3, 4]);
}

function kinds(summary: OrphanSummary): string[] {
  const rows = summary.kinds.map((kind) => [
    kind.name.replaceAll('_', ' '),
    humanCount(kind.files),
    humanBytes(kind.bytes),
  ]);
  return rows.length === 0 ? [] : ['', 'orphans by kind', ...columns(rows, [1, 2]).map((line) => `  ${line}`)];
}

function keptLine(record: RunRecord): string {
  const words: readonly (readonly [number, string])[] = [
    [record.kept.young, 'too young'],
    [record.kept.waiting, 'waiting for a late commit'],
    [record.kept.protected, 'protected by a rule'],
    [record.kept.undated, 'without a usable time'],
    [record.kept.unmanaged, 'outside the roots'],
    [record.rescued_files_count, 'taken over by a new commit'],
    [record.changed_files_count, 'changed meanwhile'],
  ];
  const said = words.filter(([count]) => count > 0).map(([count, why]) => `${humanCount(count)} ${why}`);
  return said.length === 0 ? '' : `kept: ${said.join(', ')}`;
}

function facts(record: RunRecord): string[][] {
  const percent = (value: number | null): string => (value === null ? '–' : `${value.toFixed(1)}%`);
  const rows: string[][] = [['run', printable(record.run_id)]];
  // The next step asks for it: `icesweep delete RUN --override DIGEST`.
  if (record.error === 'ThresholdExceededError' && record.plan_digest !== null)
    rows.push(['digest', printable(record.plan_digest)]);
  if (record.cutoff !== null) rows.push(['cut-off', `${humanTime(record.cutoff)}; newer files are kept`]);
  if (record.metadata_location !== null) rows.push(['metadata', printable(record.metadata_location)]);
  if (record.scanned_files_count > 0) {
    rows.push([
      'read',
      `${counted(record.processed_manifests_count, 'manifest')}, ${counted(record.referenced_files_count, 'referenced file')}, ${counted(record.scanned_files_count, 'listed file')}`,
    ]);
    rows.push([
      'orphaned',
      `content ${percent(record.orphan_percent.content)}, metadata ${percent(record.orphan_percent.metadata)}`,
    ]);
  }
  if (record.failed_deletions_count > 0) rows.push(['failed', counted(record.failed_deletions_count, 'deletion')]);
  if (!record.bytes_reclaimed && record.deleted_files_count > 0) {
    rows.push([
      'versions',
      `markers were written; bytes stay until old versions expire; icesweep restore ${printable(record.run_id)} undoes it`,
    ]);
  }
  return rows;
}

function sampleLines(summary: OrphanSummary | undefined, record: RunRecord, width: number): string[] {
  const paths = summary?.sample ?? record.sample.slice(0, 3);
  if (paths.length === 0 || record.orphan_files_count === 0) return [];
  const more = record.orphan_files_count - paths.length;
  return [
    '',
    'for example',
    ...paths.map((path) => `  ${shortened(printable(path), width - 2)}`),
    ...(more > 0 ? [`  … and ${humanCount(more)} more`] : []),
  ];
}

function failedGates(record: RunRecord, width: number): string[] {
  const failed = record.gates.filter((gate) => !gate.passed);
  return failed.map((gate) =>
    wrapped(
      `did not pass: ${printable(gate.name)} is ${printable(String(gate.value))}, limit ${printable(String(gate.limit))}`,
      width,
      '  ',
    ),
  );
}

/**
 * The whole page for one run, without a final newline.
 *
 * @param summary what the sealed list holds; absent where the run made none
 */
export function recordText(record: RunRecord, style: TextStyle, summary?: OrphanSummary): string {
  const width = Math.min(style.width, WIDEST);
  const [mark, ...rest] = wrapped(
    `${badge(record)} ${printable(record.table)}: ${headline(record)}`,
    width,
    '  ',
  ).split('\n');
  const first = (mark ?? '').replace(badge(record), painted(badge(record), record.verdict, style));
  const lines = [first, ...rest];
  if (record.error !== undefined)
    lines.push(
      '',
      wrapped(`${record.error}: ${printable(record.cause ?? '')}`, width, '  '),
      ...failedGates(record, width),
    );
  if (record.scanned_files_count > 0) lines.push('', ...totals(record));
  if (summary !== undefined) lines.push(...kinds(summary));
  const kept = keptLine(record);
  if (kept !== '') lines.push('', wrapped(kept, width, '  '));
  lines.push(...sampleLines(summary, record, width), '');
  const rows = facts(record);
  const label = Math.max(...rows.map(([name]) => (name as string).length)) + 2;
  for (const [name, value] of rows) lines.push(labelled(name as string, value as string, label, width));
  for (const warning of record.warnings) lines.push(wrapped(`warning: ${printable(warning)}`, width, '  '));
  if (record.next_step !== undefined) lines.push('', wrapped(`next: ${printable(record.next_step)}`, width, '  '));
  return lines.join('\n');
}
