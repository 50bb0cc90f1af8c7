/** `icesweep runs --html`: the tables of the fleet by waste, each with its last verdict and its trend. */

import { barSvg, columnChart } from '#shared/report/charts.ts';
import { counted, humanBytes, humanCount, humanTime, printable } from '#shared/report/format.ts';
import { type Html, html, name } from '#shared/report/html.ts';
import { renderPage } from '#shared/report/page.ts';
import type { RunRecord } from '#shared/run/record.ts';

/** Runs of a table that its trend shows. */
const TREND_RUNS = 12;

interface TableLine {
  readonly table: string;
  /** Oldest first. */
  readonly runs: readonly RunRecord[];
  readonly last: RunRecord;
  /** Orphan bytes that the last run which looked left behind. */
  readonly wasteFiles: number;
  readonly wasteBytes: number;
}

const TONES: Readonly<Record<RunRecord['verdict'], string>> = {
  NOTHING_TO_DO: 'good',
  DRY_RUN: 'good',
  DELETED: 'good',
  PARTIAL: 'warn',
  SKIPPED: 'warn',
  REFUSED: 'bad',
  FAILED: 'bad',
  ABORTED: 'bad',
};

function lineOf(table: string, runs: readonly RunRecord[]): TableLine {
  const ordered = [...runs].sort((a, b) => (a.started_at < b.started_at ? -1 : 1));
  // A run that ended before its listing knows nothing of waste.
  const seen = ordered.filter((run) => run.scanned_files_count > 0).at(-1);
  return {
    table,
    runs: ordered,
    last: ordered.at(-1) as RunRecord,
    wasteFiles: seen === undefined ? 0 : Math.max(0, seen.orphan_files_count - seen.deleted_files_count),
    wasteBytes: seen === undefined ? 0 : Math.max(0, seen.orphan_bytes - seen.deleted_bytes),
  };
}

/** Tables by the waste that is left, most first. */
export function tablesByWaste(records: readonly RunRecord[]): readonly TableLine[] {
  const groups = Map.groupBy(records, (record) => record.table);
  return [...groups]
    .map(([table, runs]) => lineOf(table, runs))
    .sort((a, b) => b.wasteBytes - a.wasteBytes || b.wasteFiles - a.wasteFiles || (a.table < b.table ? -1 : 1));
}

function trend(line: TableLine): Html {
  const runs = line.runs.filter((run) => run.scanned_files_count > 0).slice(-TREND_RUNS);
  if (runs.length < 2) return html`<p class="soft small">One run so far.</p>`;
  const points = runs.map((run) => ({
    label: run.started_at.slice(5, 10),
    value: run.orphan_bytes,
    second: run.deleted_bytes,
  }));
  const rows = runs.map(
    (run) =>
      html`<tr><th scope="row">${humanTime(run.started_at)}</th><td class="n">${humanBytes(run.orphan_bytes)}</td><td class="n">${humanBytes(run.deleted_bytes)}</td><td>${run.verdict}</td></tr>`,
  );
  return html`<p class="soft small">Orphan bytes that each run found, and in the other shade what it deleted.</p>
<div class="scroll" tabindex="0" role="group" aria-label="Trend of ${printable(line.table)}, chart">${columnChart(points, humanBytes)}</div><table><thead><tr><th scope="col">run</th><th scope="col" class="n">found</th><th scope="col" class="n">deleted</th><th scope="col">verdict</th></tr></thead><tbody>${rows}</tbody></table>`;
}

function group(line: TableLine, most: number): Html {
  const { last } = line;
  return html`<tbody class="group"><tr><th scope="row">${name(line.table)}</th>
<td class="n">${humanCount(line.wasteFiles)}</td><td class="n">${humanBytes(line.wasteBytes)}</td><td class="bar">${barSvg(line.wasteBytes, most)}</td>
<td><span class="badge ${TONES[last.verdict]}">${last.verdict.replaceAll('_', ' ')}</span>${last.error !== undefined && html`<br><span class="small">${last.error}</span>`}</td><td class="n small">${humanTime(last.started_at)}</td></tr>
<tr><td colspan="6" class="more"><details><summary class="small" aria-label="Trend of ${printable(line.table)}">Trend</summary>${trend(line)}</details></td></tr></tbody>`;
}

/** The page as text; empty fleets have one too. */
export function renderFleetPage(records: readonly RunRecord[]): string {
  const lines = tablesByWaste(records);
  const waste = lines.reduce((sum, line) => sum + line.wasteBytes, 0);
  const deleted = records.reduce((sum, record) => sum + record.deleted_bytes, 0);
  const ended = lines.filter((line) => TONES[line.last.verdict] === 'bad').length;
  const most = Math.max(0, ...lines.map((line) => line.wasteBytes));
  const tile = (value: string, label: string): Html =>
    html`<li><b>${value}</b><span class="soft small">${label}</span></li>`;
  return renderPage({
    title: 'icesweep: tables by waste',
    body: html`<header><p class="soft small">icesweep fleet report</p><h1>Tables by waste</h1><p>${counted(records.length, 'run')} of ${counted(lines.length, 'table')}</p></header>
<main id="main" tabindex="-1"><ul class="tiles">${tile(humanBytes(waste), 'orphan bytes left')}${tile(humanBytes(deleted), 'deleted in these runs')}${tile(humanCount(lines.length), 'tables')}${tile(humanCount(ended), 'tables whose last run was refused or failed')}</ul>
<section class="long" aria-labelledby="h-tables"><h2 id="h-tables">Tables</h2>
<div class="search" hidden><label for="search">Search tables</label><input id="search" type="search" data-search="tables" data-status="found" autocomplete="off"><span id="found" class="soft small" role="status"></span></div>
<div class="scroll" tabindex="0" role="region" aria-labelledby="h-tables"><table id="tables" class="wide groups"><thead><tr><th scope="col">table</th><th scope="col" class="n">orphans left</th><th scope="col" class="n">size</th><td class="bar"></td><th scope="col">last verdict</th><th scope="col" class="n">last run</th></tr></thead>${lines.map((line) => group(line, most))}</table></div>
${lines.length === 0 && html`<p>No runs yet.</p>`}</section></main>
<footer><p>Made by icesweep from its run records. Nothing on this page is loaded from elsewhere.</p></footer>`,
  });
}
