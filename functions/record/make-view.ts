/** What the report shows of a run: its record, its orphans by several measures, its table's history, its settings. */
import { recordedPath } from '#shared/identity/references.ts';
import type { RunRecord } from '#shared/run/record.ts';
import type { Gathered } from './gather.ts';
import type { OrphanLists } from './orphan-lists.ts';
import type { HistoryPoint, NamedTally, ReportView } from './report/report-view.ts';

export function makeView(
  record: RunRecord,
  gathered: Gathered,
  orphans: OrphanLists,
  earlier: readonly RunRecord[],
): ReportView {
  const past = earlier.filter((run) => run.run_id !== record.run_id).map(pointOf);
  return {
    record,
    kinds: merge(gathered, 'candidate_kinds', (name) => name),
    prefixes: merge(gathered, 'candidate_prefixes', (name, bucket) =>
      name === '' || gathered.plan === undefined ? name : recordedPath(bucket, name, gathered.plan.identity),
    ),
    ages: orphans.ages,
    sizes: orphans.sizes,
    origins: orphans.origins,
    sample: orphans.sample,
    history: [...past, pointOf(record)].sort((left, right) => (left.started_at < right.started_at ? -1 : 1)),
    settings: settingsOf(gathered),
    lists: orphans.lists,
  };
}

function merge(
  { lists }: Gathered,
  field: 'candidate_kinds' | 'candidate_prefixes',
  show: (name: string, bucket: string) => string,
): NamedTally[] {
  const merged = new Map<string, { files: number; bytes: number }>();
  for (const receipt of lists) {
    for (const [name, tally] of Object.entries(receipt[field])) {
      const shown = show(name, receipt.bucket);
      const entry = merged.get(shown) ?? { files: 0, bytes: 0 };
      merged.set(shown, { files: entry.files + tally.files, bytes: entry.bytes + tally.bytes });
    }
  }
  return [...merged].map(([name, tally]) => ({ name, ...tally })).sort((left, right) => right.bytes - left.bytes);
}

function pointOf(record: RunRecord): HistoryPoint {
  return {
    run_id: record.run_id,
    started_at: record.started_at,
    verdict: record.verdict,
    orphan_files: record.orphan_files_count,
    orphan_bytes: record.orphan_bytes,
    deleted_bytes: record.deleted_bytes,
  };
}

function settingsOf({ plan }: Gathered): { readonly name: string; readonly value: string }[] {
  if (plan === undefined) return [];
  const shown = Object.entries(plan.input).filter(([name, value]) => value !== undefined && name !== 'warnings');
  return shown.map(([name, value]) => ({ name, value: typeof value === 'string' ? value : JSON.stringify(value) }));
}
