/** `icesweep runs`: one line per run, newest first. */

import { humanBytes, humanCount, printable } from '#shared/report/format.ts';
import type { RunRecord } from '#shared/run/record.ts';
import { columns, shortened, wrapped } from './layout.ts';

/** Less says too little of a table's name to be worth a column; it then stands on a line of its own. */
const LEAST_TABLE = 14;
/** Columns that a narrow terminal still has. */
const NARROW = 4;

/** Lines for the runs; the table's column takes what the width leaves. */
export function runsText(records: readonly RunRecord[], width: number): string {
  if (records.length === 0) return 'No runs yet. Start with: icesweep plan <table>';
  const header = ['started (UTC)', 'verdict', 'orphans', 'size', 'deleted'];
  const rows = records.map((record) => [
    record.started_at.slice(0, 16).replace('T', ' '),
    record.verdict,
    humanCount(record.orphan_files_count),
    humanBytes(record.orphan_bytes),
    humanCount(record.deleted_files_count),
  ]);
  const tables = records.map((record) => printable(record.table));
  const ids = records.map(
    (record) => `  ${wrapped(`${printable(record.run_id)} ${record.error ?? ''}`, width - 2, '    ')}`,
  );
  const numbers = columns([header, ...rows], [2, 3, 4]);
  const left = width - 2 - Math.max(...numbers.map((line) => line.length));
  if (left >= LEAST_TABLE) {
    const lines = ['table', ...tables].map((table, at) => `${numbers[at]}  ${shortened(table, left)}`);
    return lines.flatMap((line, at) => (at === 0 ? [line] : [line, ids[at - 1] as string])).join('\n');
  }
  const narrow = columns(
    [header, ...rows].map((row) => row.slice(0, NARROW)),
    [2, 3],
  );
  return narrow
    .flatMap((line, at) =>
      at === 0 ? [line] : [line, `  ${shortened(tables[at - 1] as string, width - 2)}`, ids[at - 1] as string],
    )
    .join('\n');
}
