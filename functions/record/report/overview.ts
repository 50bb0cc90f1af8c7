/** The top of a report: verdict, numbers, before and after. */
import { barSvg } from '#shared/report/charts.ts';
import { humanBytes, humanCount, humanDuration, humanTime } from '#shared/report/format.ts';
import { type Html, html, name } from '#shared/report/html.ts';
import type { RunRecord } from '#shared/run/record.ts';
import { toneOf, verdictSentence } from './sentence.ts';

export function header(record: RunRecord): Html {
  const tone = toneOf(record);
  const verdict = record.verdict.replaceAll('_', ' ');
  return html`<header>
<p class="soft small">icesweep run report</p>
<h1>${name(record.table)}</h1>
<p><span class="badge ${tone}">${verdict}</span> ${verdictSentence(record)}</p>
${record.error !== undefined && html`<div class="note ${tone === 'warn' ? 'warn' : 'bad'}"><strong>${record.error}</strong>: ${record.cause ?? 'no cause was given'}</div>`}
${record.next_step !== undefined && html`<p><strong>Next:</strong> ${record.next_step}</p>`}
<p class="soft small">Run ${name(record.run_id)}, started ${humanTime(record.started_at)}, took ${humanDuration(Date.parse(record.finished_at) - Date.parse(record.started_at))}${record.comment !== undefined && html`, “<bdi>${record.comment}</bdi>”`}</p>
</header>`;
}

function tile(value: string, label: string): Html {
  return html`<li><b>${value}</b><span class="soft small">${label}</span></li>`;
}

export function tiles(record: RunRecord): Html {
  const percent = record.orphan_percent.content;
  return html`<ul class="tiles">
${tile(humanCount(record.orphan_files_count), 'orphan files')}
${tile(humanBytes(record.orphan_bytes), 'in orphan files')}
${tile(percent === null ? '–' : `${percent.toFixed(1)}%`, 'of content files orphaned')}
${tile(humanCount(record.deleted_files_count), 'files deleted')}
${tile(humanBytes(record.deleted_bytes), record.bytes_reclaimed ? 'deleted' : 'marked deleted, still stored')}
${tile(humanCount(record.remaining_files_count), 'remain')}
</ul>`;
}

interface Pair {
  readonly label: string;
  readonly before: number;
  readonly after: number;
  readonly words: (value: number) => string;
}

/** Before and after side by side; both bars of a pair share one scale. */
export function beforeAndAfter(record: RunRecord): Html {
  const { before, after } = record;
  const pairs: readonly Pair[] = [
    { label: 'Data files', before: before.data_files, after: after.data_files, words: humanCount },
    { label: 'Data size', before: before.data_bytes, after: after.data_bytes, words: humanBytes },
    { label: 'Metadata files', before: before.metadata_files, after: after.metadata_files, words: humanCount },
    { label: 'Metadata size', before: before.metadata_bytes, after: after.metadata_bytes, words: humanBytes },
  ];
  const rows = pairs.map(
    (
      pair,
    ) => html`<tr><th scope="rowgroup" rowspan="2">${pair.label}</th><td>before</td><td class="n">${pair.words(pair.before)}</td><td class="bar">${barSvg(pair.before, pair.before, 'b2')}</td></tr>
<tr><td>after</td><td class="n">${pair.words(pair.after)}</td><td class="bar">${barSvg(pair.after, pair.before)}</td></tr>`,
  );
  return html`<section id="before-after" aria-labelledby="h-before"><h2 id="h-before">Before and after</h2>
<div class="scroll"><table><caption>Files under the roots of the run, as they were listed, and after what it deleted</caption><thead><tr><th scope="col">what</th><th scope="col">when</th><th scope="col" class="n">amount</th><td></td></tr></thead><tbody>${rows}</tbody></table></div></section>`;
}
