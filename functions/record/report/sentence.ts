/** The verdict and its reason in a sentence, and how it looks. */
import { counted, humanBytes, humanCount, humanTime } from '#shared/report/format.ts';
import type { RunRecord } from '#shared/run/record.ts';

export type Tone = 'good' | 'warn' | 'bad';

export function toneOf(record: RunRecord): Tone {
  switch (record.verdict) {
    case 'NOTHING_TO_DO':
    case 'DELETED':
    case 'DRY_RUN':
      return 'good';
    case 'PARTIAL':
    case 'SKIPPED':
      return 'warn';
    case 'REFUSED':
    case 'FAILED':
    case 'ABORTED':
      return 'bad';
  }
}

/** What a reader must know before anything else. */
export function verdictSentence(record: RunRecord): string {
  const orphans = `${counted(record.orphan_files_count, 'orphan file')} (${humanBytes(record.orphan_bytes)})`;
  const deleted = `${counted(record.deleted_files_count, 'orphan file')} (${humanBytes(record.deleted_bytes)})`;
  const listed = counted(record.scanned_files_count, 'listed file');
  switch (record.verdict) {
    case 'NOTHING_TO_DO':
      return `Every one of ${listed} is named by the table's metadata or kept by a rule.`;
    case 'DRY_RUN':
      return `${orphans} of ${listed} would be deleted: no metadata names them and all are older than ${humanTime(record.cutoff)}. Nothing was deleted.`;
    case 'DELETED':
      return `${deleted} deleted: no metadata named them, and it was read again before each request.`;
    case 'PARTIAL':
      return `${deleted} deleted; ${humanCount(record.remaining_files_count)} remain and ${humanCount(record.failed_deletions_count)} could not be deleted. The next run goes on.`;
    case 'SKIPPED':
      return 'Another run holds the table. Nothing was read or deleted.';
    case 'REFUSED':
      return record.orphan_files_count > 0
        ? `Refused, with ${orphans} found. Nothing was deleted.`
        : 'Refused. Nothing was deleted.';
    case 'FAILED':
      return record.deleted_files_count > 0
        ? `Failed after ${deleted} had been deleted.`
        : 'Failed. Nothing was deleted.';
    case 'ABORTED':
      return record.deleted_files_count > 0
        ? `Stopped after ${deleted} had been deleted.`
        : 'Stopped. Nothing was deleted.';
  }
}
