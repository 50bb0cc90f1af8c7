/** `icesweep runs`: one line per run, newest first. */

import { humanBytes, humanCount, printable } from '#shared/report/format.ts';
import type { RunRecord } from '#shared/run/record.ts';
import { columns, shortened } from './layout.ts';

const WITHOUT_TABLE = 66;

/** Lines for the runs; the table's column takes what the width leaves. */
export function runsText(records: readonly RunRecord[], width: number): string {
  if (records.length === 0) return 'No runs yet. Start with: icesweep plan <table>';
  const header = ['started (UTC)', 'verdict', 'orphans', 'size', 'deleted', 'table'];
  const rows = records.map((record) => [
    record.started_at.slice(0, 16).replace('T', ' '),
    record.verdict,
    humanCount(record.orphan_files_count),
    humanBytes(record.orphan_bytes),
    humanCount(record.deleted_files_count),
    shortened(printable(record.table), Math.max(14, width - WITHOUT_TABLE)),
  ]);
  const table = columns([header, ...rows], [2, 3, 4]);
  const ids = records.map(
    (record) => `${' '.repeat(2)}${printable(record.run_id)}${record.error === undefined ? '' : `  ${record.error}`}`,
  );
  return table.flatMap((line, at) => (at === 0 ? [line] : [line, ids[at - 1] as string])).join('\n');
}
