import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { renderPageOfRun } from '#functions/record/report/render-report.ts';
import { renderFleetPage } from '#infra/local/cli/fleet-page.ts';
import { Browser, findChromium, type Visit } from '#test/support/browser.ts';
import { reportView } from '#test/support/report-view.ts';
import { runRecord } from '#test/support/run-record.ts';

const chromium = findChromium();
const skip = chromium === undefined ? 'needs chromium (apt-get install chromium)' : false;

describe('the report in a browser', { skip }, () => {
  let browser: Browser;
  let folder = '';
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'icesweep-report-'));
    browser = new Browser(chromium as string);
  });
  after(async () => {
    await browser?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function open(page: string, width?: number): Promise<Visit> {
    const file = join(folder, 'report.html');
    writeFileSync(file, page);
    return await browser.open(file, width);
  }

  function assertQuiet(visit: Visit): void {
    assert.deepEqual(visit.console, []);
    assert.deepEqual(
      visit.requests.filter((url) => !/^(file|data):/.test(url)),
      [],
    );
  }

  test('a run with 200,000 orphans opens quickly, quietly and without leaving the page', async () => {
    const visit = await open(renderPageOfRun(reportView(200_000)));

    assertQuiet(visit);
    assert.ok(visit.loadMs < 5000, `took ${visit.loadMs} ms`);
    assert.match(await visit.evaluate('document.title'), /^DRY_RUN s3:/);
    assert.equal(await visit.evaluate('document.querySelectorAll("img, iframe, object, script[src]").length'), 0);
  });

  test('hostile names stay text in the table', async () => {
    const visit = await open(renderPageOfRun(reportView(50)));

    const cells = await visit.evaluate<string>('document.querySelector("#sample").textContent');
    assert.ok(cells.includes('<img src=x onerror="document.title=1">'));
    assert.equal(
      await visit.evaluate('document.querySelectorAll("#sample svg, #sample img, #sample script").length'),
      0,
    );
    assertQuiet(visit);
  });

  test('the search hides what does not match and says how many are left', async () => {
    const visit = await open(renderPageOfRun(reportView(100)));

    const status = await visit.evaluate<string>(`(() => {
      const box = document.querySelector('#search');
      box.value = 'DAY=3/ part-31';
      box.dispatchEvent(new Event('input'));
      return document.querySelector('#found').textContent;
    })()`);
    assert.equal(status, '1 of 100 shown');
    assertQuiet(visit);
  });

  for (const [what, record] of [
    ['an empty', runRecord({ verdict: 'NOTHING_TO_DO', orphan_files_count: 0 })],
    [
      'a refused',
      runRecord({ verdict: 'REFUSED', error: 'LocationConflictError', cause: 'x', scanned_files_count: 0, gates: [] }),
    ],
    ['a partial', runRecord({ verdict: 'PARTIAL', deleted_files_count: 5, failed_deletions_count: 1 })],
  ] as const) {
    test(`${what} run fits a phone without sideways scrolling`, async () => {
      const visit = await open(renderPageOfRun(reportView(record.orphan_files_count === 0 ? 0 : 30, { record })), 390);

      assertQuiet(visit);
      assert.ok((await visit.evaluate<number>('document.documentElement.scrollWidth')) <= 390);
    });
  }

  const fleet = renderFleetPage(
    ['analytics.orders', 's3://lake/a/location/of/a/table/that/no/catalog/knows'].flatMap((table) =>
      ['01', '02', '03'].map((day) => runRecord({ table, started_at: `2026-11-${day}T03:00:00Z` })),
    ),
  );

  test('the search of the fleet hides a table together with its trend', async () => {
    const visit = await open(fleet);

    const shown = await visit.evaluate<string>(`(() => {
      const box = document.querySelector('#search');
      box.value = 'catalog';
      box.dispatchEvent(new Event('input'));
      const seen = [...document.querySelectorAll('#tables > tbody > tr')].filter((row) => row.offsetParent !== null);
      return seen.length + ' rows, ' + document.querySelector('#found').textContent;
    })()`);
    assert.equal(shown, '2 rows, 1 of 2 shown');
    assertQuiet(visit);
  });

  for (const [what, page] of [
    ['report', renderPageOfRun(reportView(100))],
    ['fleet', fleet],
  ] as const) {
    test(`on a phone the ${what} fits, and what scrolls sideways is reached with the keyboard`, async () => {
      const visit = await open(page.replaceAll('<details>', '<details open>'), 390);

      assert.ok((await visit.evaluate<number>('document.documentElement.scrollWidth')) <= 390);
      const unreachable = await visit.evaluate<string>(
        `[...document.querySelectorAll('.scroll')].filter((box) => box.scrollWidth > box.clientWidth && box.tabIndex < 0)
          .map((box) => box.textContent.slice(0, 60)).join('; ')`,
      );
      assert.equal(unreachable, '');
    });
  }

  test('on paper nothing is cut, and the sample stays short', async () => {
    const visit = await open(renderPageOfRun(reportView(1000)), 720);
    await visit.media('print');

    assert.equal(
      await visit.evaluate<number>(
        `[...document.querySelectorAll('.scroll')].filter((box) => box.scrollWidth > box.clientWidth).length`,
      ),
      0,
    );
    assert.equal(
      await visit.evaluate<number>(
        `[...document.querySelectorAll('#sample tbody tr')].filter((row) => row.offsetParent !== null).length`,
      ),
      50,
    );
  });

  test('every control has a name and every table header a scope', async () => {
    const visit = await open(renderPageOfRun(reportView(30)));

    assert.equal(await visit.evaluate('document.querySelectorAll("th:not([scope])").length'), 0);
    assert.equal(
      await visit.evaluate(
        '[...document.querySelectorAll("input")].filter((input) => input.labels.length === 0).length',
      ),
      0,
    );
    assert.equal(await visit.evaluate('document.querySelectorAll("html[lang], main, h1, nav[aria-label]").length'), 4);
  });

  test('the check for silence hears a page that does ask the network', async () => {
    const page = renderPageOfRun(reportView(1)).replace('<main', '<img src="http://127.0.0.1:9/x.png"><main');
    const visit = await open(page);

    assert.notDeepEqual(visit.console, []);
  });
});
