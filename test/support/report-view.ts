/** What a report shows, at a chosen size, with names that try to break out of it. */
import type { ReportView } from '#functions/record/report/report-view.ts';
import { runRecord } from './run-record.ts';

/** Markup, quotes, script ends, control characters, right-to-left override and letters, a lone surrogate. */
export const HOSTILE_NAMES: readonly string[] = [
  '"><img src=x onerror="document.title=1">',
  '\'"></bdi><svg onload=document.title=1>',
  '</script><script>document.title=1</script>',
  '</style><style>body{display:none}</style>',
  '`{{document.title=1}}--><!--',
  'gpj\u202eexe.\u2066x\u2069',
  'tab\tline\nnull\u0000escape\u001b[31m',
  'lone\ud800surrogate',
  'שלום/عالم.parquet',
];

const BASE = 's3://lake/analytics/orders/data';

function sample(count: number): ReportView['sample'] {
  return Array.from({ length: count }, (_, at) => ({
    path: `${BASE}/day=${at % 28}/${at < HOSTILE_NAMES.length ? HOSTILE_NAMES[at] : `part-${at}.parquet`}`,
    bytes: at * 1000,
    last_modified: '2025-03-01T10:00:00.000Z',
    kind: 'data',
  }));
}

export function reportView(orphans: number, changes: Partial<ReportView> = {}): ReportView {
  const some = orphans > 0;
  const tally = (name: string) => ({ name, files: orphans, bytes: orphans * 1000 });
  return {
    record: runRecord(
      some ? { orphan_files_count: orphans } : { verdict: 'NOTHING_TO_DO', orphan_files_count: 0, orphan_bytes: 0 },
    ),
    kinds: some ? [tally('data')] : [],
    prefixes: some ? HOSTILE_NAMES.map((name, at) => ({ ...tally(`${BASE}/${name}/`), bytes: at })) : [],
    ages: some ? [tally('1–3 months')] : [],
    sizes: some ? [tally('below 1 MiB')] : [],
    origins: some
      ? HOSTILE_NAMES.map((name) => ({
          ...tally(name),
          writer: 'write operation',
          first: null,
          last: null,
          example: name,
        }))
      : [],
    sample: sample(orphans),
    history: [],
    settings: [],
    lists: some ? [{ href: 'orphans_jsonl/part-00000.jsonl.gz', label: 'JSONL, gzip' }] : [],
    ...changes,
  };
}
