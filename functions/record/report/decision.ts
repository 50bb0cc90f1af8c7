/** The lower part of a report: why the rest was kept, how the run was judged, what it cost, and the runs before it. */
import { chartWithTable } from '#shared/report/charts.ts';
import { counted, humanBytes, humanCount, humanTime } from '#shared/report/format.ts';
import { type Html, html, name } from '#shared/report/html.ts';
import type { GateResult } from '#shared/run/plan.ts';
import type { RunRecord } from '#shared/run/record.ts';
import type { ReportView } from './report-view.ts';

const DASH = '–';

function facts(rows: readonly (readonly [string, Html | string])[]): Html {
  return html`<dl>${rows.map(([term, value]) => html`<dt>${term}</dt><dd>${value}</dd>`)}</dl>`;
}

export function keptSection(record: RunRecord): Html {
  const rows: readonly (readonly [string, number, string])[] = [
    [
      'Referenced',
      record.referenced_files_count,
      'named by metadata: data, deletes, manifests, lists, statistics, logs',
    ],
    ['Too young', record.kept.young, 'not older than the cut-off'],
    ['Waiting', record.kept.waiting, 'newer than the last data commit, so a late commit may still name them'],
    ['Protected', record.kept.protected, "Flink's pending files, hidden names, excluded by a glob"],
    ['Undated', record.kept.undated, 'the store gave no usable time'],
    [
      'Unmanaged',
      record.kept.unmanaged,
      'beside the folders of the location: counted, never touched; a warning names folders that were not listed',
    ],
    ['Rescued', record.rescued_files_count, 'a commit during the run took them over'],
    ['Changed', record.changed_files_count, 'another object by the time of the request'],
  ];
  const body = rows.map(
    ([label, files, why]) =>
      html`<tr><th scope="row">${label}</th><td class="n">${humanCount(files)}</td><td>${why}</td></tr>`,
  );
  return html`<section id="kept" aria-labelledby="h-kept"><h2 id="h-kept">What was kept, and why</h2><div class="scroll"><table><thead><tr><th scope="col">class</th><th scope="col" class="n">files</th><th scope="col">because</th></tr></thead><tbody>${body}</tbody></table></div></section>`;
}

function gateRow(gate: GateResult): Html {
  const said = (value: GateResult['value']): string =>
    value === null ? DASH : typeof value === 'number' ? String(Number(value.toFixed(4))) : String(value);
  const badge = gate.passed
    ? html`<span class="badge good">passed</span>`
    : html`<span class="badge bad">stopped the run</span>`;
  return html`<tr><th scope="row">${gate.name.replaceAll('_', ' ')}</th><td>${name(said(gate.value))}</td><td>${name(said(gate.limit))}</td><td>${badge}</td></tr>`;
}

export function decisionSection(view: ReportView): Html {
  const { record } = view;
  const percent = (value: number | null): string => (value === null ? DASH : `${value.toFixed(2)}%`);
  const gates =
    record.gates.length === 0
      ? html`<p>The run ended before its first gate.</p>`
      : html`<div class="scroll"><table><caption>Every gate with what it found and what it allows</caption><thead><tr><th scope="col">gate</th><th scope="col">found</th><th scope="col">limit</th><th scope="col">result</th></tr></thead><tbody>${record.gates.map(gateRow)}</tbody></table></div>`;
  return html`<section id="decision" class="long" aria-labelledby="h-decision"><h2 id="h-decision">How it was decided</h2>
${facts([
  ['Cut-off', record.cutoff === null ? DASH : `${humanTime(record.cutoff)}; files must be strictly older`],
  ['Metadata', record.metadata_location === null ? DASH : name(record.metadata_location)],
  ['Snapshot', record.snapshot_id ?? DASH],
  ['Table uuid', record.table_uuid ?? DASH],
  [
    'Read',
    `${counted(record.processed_manifests_count, 'manifest')}, ${counted(record.referenced_files_count, 'referenced file')}, ${humanCount(record.outside_roots_count)} of them outside the roots`,
  ],
  [
    'Coverage',
    `${counted(record.missing_files_count, 'referenced file')} not found among ${counted(record.scanned_files_count, 'listed file')}`,
  ],
  [
    'Orphaned',
    `content ${percent(record.orphan_percent.content)}, metadata ${percent(record.orphan_percent.metadata)}`,
  ],
  [
    'Filters',
    `${counted(record.filters.shards, 'shard')}, ${counted(record.filters.entries, 'entry').replace(/entrys$/, 'entries')}, expected false positives ${(record.filters.expected_fpp * 100).toPrecision(2)}%: so many orphans may hide until the next run`,
  ],
  [
    'Neighbours',
    record.tables_compared === null
      ? 'the catalog cannot list tables'
      : `${counted(record.tables_compared, 'table')} compared`,
  ],
  ['Plan digest', record.plan_digest === null ? DASH : name(record.plan_digest)],
  ...(record.override === undefined ? [] : ([['Override', name(record.override)]] as const)),
  ...view.settings.map((setting) => [setting.name, name(setting.value)] as const),
])}
<h3>Gates</h3>${gates}
${record.warnings.length > 0 && html`<h3>Warnings</h3><ul class="plain">${record.warnings.map((warning) => html`<li>${warning}</li>`)}</ul>`}</section>`;
}

export function historySection(view: ReportView): Html {
  if (view.history.length < 2) return html``;
  const points = view.history.map((run) => ({
    label: run.started_at.slice(0, 10),
    value: run.orphan_bytes,
    second: run.deleted_bytes,
  }));
  return html`<section id="history" aria-labelledby="h-history"><h2 id="h-history">Runs of this table</h2>
<p class="soft small">Orphan bytes that each run found, and in the other shade what it deleted.</p>
${chartWithTable('Orphan bytes over time', ['run', 'found', 'deleted'], points, humanBytes)}</section>`;
}

export function costSection(record: RunRecord): Html {
  const { requests } = record;
  const links = Object.entries(record.links ?? {}).filter(([, href]) => href.startsWith('https://'));
  return html`<section id="cost" aria-labelledby="h-cost"><h2 id="h-cost">Requests and cost</h2>
${facts([
  ['Reads', humanCount(requests.get)],
  ['Listings', humanCount(requests.list)],
  ['Writes', humanCount(requests.put)],
  ['Deletes', humanCount(requests.delete)],
  ['Estimated', `$${record.estimated_cost_usd.toFixed(record.estimated_cost_usd < 0.01 ? 6 : 2)}`],
  ...(record.delete_rate === undefined
    ? []
    : ([
        [
          'Delete rate',
          `${humanCount(record.delete_rate.keys_per_second)} keys/s, ${counted(record.delete_rate.throttles, 'throttled reply').replace(/replys$/, 'replies')}`,
        ],
      ] as const)),
  ['Artefacts', name(record.artefacts)],
])}
${links.length > 0 && html`<p>${links.map(([label, href], at) => html`${at > 0 && ', '}<a href="${href}" rel="noreferrer">${label}</a>`)}</p>`}</section>`;
}
