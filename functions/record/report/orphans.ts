/** The middle of a report: what the orphans are, where they lie, how old and large they are, and who left them. */
import { chartWithTable, sliceTable } from '#shared/report/charts.ts';
import { counted, humanBytes, humanCount, humanTime } from '#shared/report/format.ts';
import { type Html, html, name } from '#shared/report/html.ts';
import { prefixTree } from './prefix-tree.ts';
import type { NamedTally, OriginTally, ReportView } from './report-view.ts';

/** Rows of the searchable sample: enough to look around in, few enough to open at once. */
export const SAMPLE_ROWS = 1000;
/** Of these the style prints so many. */
const PAPER_ROWS = 50;
/** The largest: behind them come mostly operations that left a single file. */
const ORIGIN_ROWS = 12;

function slices(tallies: readonly NamedTally[]) {
  return tallies.map((tally) => ({ label: tally.name.replaceAll('_', ' '), files: tally.files, bytes: tally.bytes }));
}

function histogram(title: string, heading: string, tallies: readonly NamedTally[]): Html {
  const points = tallies.map((tally) => ({ label: tally.name, value: tally.files }));
  return html`<div><h3>${title}</h3>${chartWithTable(title, [heading, 'files'], points, humanCount)}</div>`;
}

export function orphanSection(view: ReportView): Html {
  if (view.record.orphan_files_count === 0) {
    return html`<section id="orphans" aria-labelledby="h-orphans"><h2 id="h-orphans">Orphans</h2><p>No orphan files were found.</p></section>`;
  }
  return html`<section id="orphans" class="long" aria-labelledby="h-orphans"><h2 id="h-orphans">Orphans</h2>
${sliceTable('By kind, as the names suggest; the kind never decides', 'kind', slices(view.kinds))}
<h3>By folder</h3>${prefixTree(view.prefixes)}
<div class="columns">${view.ages.length > 0 && histogram('Orphan files by age', 'age', view.ages)}${view.sizes.length > 0 && histogram('Orphan files by size', 'size', view.sizes)}</div></section>`;
}

function span({ first, last }: OriginTally): Html {
  const [from, to] = [humanTime(first), humanTime(last)];
  return from === to ? html`${from}` : html`${from}<br>${to}`;
}

/** Who leaks: orphans that share the id of a write in their names. */
export function originSection(view: ReportView): Html {
  if (view.origins.length === 0) return html``;
  const shown = view.origins.slice(0, ORIGIN_ROWS);
  const rows = shown.map(
    (origin) =>
      html`<tr><th scope="row">${name(origin.name)}<br><span class="soft small">${origin.writer}</span></th><td class="n">${humanCount(origin.files)}</td><td class="n">${humanBytes(origin.bytes)}</td><td class="n small">${span(origin)}</td><td class="small">${name(origin.example)}</td></tr>`,
  );
  const rest = view.origins.length - shown.length;
  return html`<section id="origins" class="long" aria-labelledby="h-origins"><h2 id="h-origins">Where they come from</h2>
<p class="soft small">Grouped by the write operation whose id stands in the file names: a job that failed, a compaction that lost its commit. The times tell when it wrote.</p>
<div class="scroll" tabindex="0" role="group" aria-labelledby="h-origins"><table class="wide"><thead><tr><th scope="col">operation</th><th scope="col" class="n">files</th><th scope="col" class="n">size</th><th scope="col" class="n">first and last file</th><th scope="col">for example</th></tr></thead><tbody>${rows}</tbody></table></div>
${rest > 0 && html`<p class="soft small">and ${counted(rest, 'smaller operation')}</p>`}</section>`;
}

export function sampleSection(view: ReportView): Html {
  if (view.sample.length === 0) return html``;
  const sample = view.sample.slice(0, SAMPLE_ROWS);
  const withOutcome = sample.some((file) => file.outcome !== undefined);
  const rows = sample.map(
    (file) =>
      html`<tr><td>${name(file.path)}</td><td class="n">${humanBytes(file.bytes)}</td><td class="n">${humanTime(file.last_modified)}</td><td>${file.kind.replaceAll('_', ' ')}</td>${withOutcome && html`<td>${file.outcome ?? ''}</td>`}</tr>`,
  );
  const links = view.lists.map((list, at) => html`${at > 0 && ', '}<a href="${list.href}">${list.label}</a>`);
  return html`<section id="files" class="long" aria-labelledby="h-files"><h2 id="h-files">Files</h2>
<p>${counted(sample.length, 'file')} of ${humanCount(view.record.orphan_files_count)}${view.lists.length > 0 && html`; the full list: ${links}`}</p>
<div class="search" hidden><label for="search">Search these files</label><input id="search" type="search" data-search="sample" data-status="found" autocomplete="off"><span id="found" class="soft small" role="status"></span></div>
${sample.length > PAPER_ROWS && html`<p class="paper soft small">On paper the first ${humanCount(PAPER_ROWS)} of them.</p>`}
<div class="tall scroll" tabindex="0" role="region" aria-labelledby="h-files"><table id="sample"><thead><tr><th scope="col">path</th><th scope="col" class="n">size</th><th scope="col" class="n">last modified</th><th scope="col">kind</th>${withOutcome && html`<th scope="col">outcome</th>`}</tr></thead><tbody>${rows}</tbody></table></div></section>`;
}
