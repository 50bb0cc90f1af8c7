/**
 * `report.html` of a run: pure rendering, no store and no clock. What comes in was counted before, so that the page of a run
 * with 200,000 orphans is as small as any other.
 */
import { html } from '#shared/report/html.ts';
import { renderPage } from '#shared/report/page.ts';
import { costSection, decisionSection, historySection, keptSection } from './decision.ts';
import { originSection, orphanSection, sampleSection } from './orphans.ts';
import { beforeAndAfter, header, tiles } from './overview.ts';
import type { ReportView } from './report-view.ts';

/** The page as UTF-8 text. Everything in `view` is untrusted and is escaped. */
export function renderPageOfRun(view: ReportView): string {
  const { record } = view;
  const sections: readonly (readonly [string, string, boolean])[] = [
    ['before-after', 'Before and after', record.scanned_files_count > 0],
    ['orphans', 'Orphans', true],
    ['origins', 'Origins', view.origins.length > 0],
    ['files', 'Files', view.sample.length > 0],
    ['kept', 'Kept', true],
    ['decision', 'Decision', true],
    ['history', 'History', view.history.length > 1],
    ['cost', 'Cost', true],
  ];
  const links = sections
    .filter(([, , there]) => there)
    .map(([id, label]) => html`<li><a href="#${id}">${label}</a></li>`);
  return renderPage({
    title: `${record.verdict} ${record.table}`,
    body: html`${header(record)}
<nav aria-label="Sections"><ul>${links}</ul></nav>
<main id="main" tabindex="-1">
${tiles(record)}
${record.scanned_files_count > 0 && beforeAndAfter(record)}
${orphanSection(view)}
${originSection(view)}
${sampleSection(view)}
${keptSection(record)}
${decisionSection(view)}
${historySection(view)}
${costSection(record)}
</main>
<footer><p>Made by icesweep from the run's own record. Nothing on this page is loaded from elsewhere.</p></footer>`,
  });
}
