import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, test } from 'node:test';
import { renderPageOfRun } from '#functions/record/report/render-report.ts';
import { html, name } from '#shared/report/html.ts';
import { HOSTILE_NAMES, reportView } from '#test/support/report-view.ts';
import { runRecord } from '#test/support/run-record.ts';

const LONE_SURROGATE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;

describe('the html template', () => {
  test('escapes values, in attributes too, and takes only its own output as markup', () => {
    const inner = html`<b>${'<i>'}</b>`;

    assert.equal(
      html`<p title="${'"x"'}">${inner}${['&', 1, null, false]}</p>`.text,
      '<p title="&quot;x&quot;"><b>&lt;i&gt;</b>&amp;1</p>',
    );
  });

  test('shows characters that would turn or hide text as escapes', () => {
    assert.equal(name('a\u202eb\u0000').text, '<bdi class="name">a\\u202eb\\u0000</bdi>');
  });
});

describe('the report of a run', () => {
  test('carries a policy with the hashes of exactly its own style and script', () => {
    const page = renderPageOfRun(reportView(10));
    const policy = /Content-Security-Policy" content="([^"]+)"/.exec(page)?.[1] ?? '';
    const hash = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
    const [styles, scripts] = ['style', 'script'].map((tag) => [
      ...page.matchAll(new RegExp(`<${tag}>([\\s\\S]*?)</${tag}>`, 'g')),
    ]);

    assert.match(policy, /^default-src 'none'/);
    assert.deepEqual([styles?.length, scripts?.length], [1, 1]);
    assert.ok(policy.includes(`style-src ${hash(styles?.[0]?.[1] ?? '')}`));
    assert.ok(policy.includes(`script-src ${hash(scripts?.[0]?.[1] ?? '')}`));
    assert.doesNotMatch(page, / style="| on[a-z]+="/);
  });

  test('holds no hostile name as markup, no control character and no lone surrogate', () => {
    const record = runRecord({
      table: HOSTILE_NAMES[0] as string,
      cause: HOSTILE_NAMES[2] as string,
      error: 'TableChangedError',
      warnings: HOSTILE_NAMES,
    });
    const page = renderPageOfRun(reportView(20, { record }));

    assert.doesNotMatch(page, /<img|<svg onload|<script>document|<style>body\{display/);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this looks for
    assert.doesNotMatch(page, /[\u0000-\u0009\u000b-\u001f\u202a-\u202e\u2066-\u2069]/);
    assert.doesNotMatch(page, LONE_SURROGATE);
  });

  test('links the full list and shows at most a thousand of the files', () => {
    const page = renderPageOfRun(reportView(5000));

    assert.match(page, /1,000 files of 5,000/);
    assert.match(page, /href="orphans_jsonl\/part-00000\.jsonl\.gz"/);
    assert.ok(page.length < 600_000, `${page.length} bytes`);
  });

  test('says so when nothing was found', () => {
    const page = renderPageOfRun(reportView(0));

    assert.match(page, /No orphan files were found/);
    assert.doesNotMatch(page, /id="files"|id="origins"/);
  });

  test('names the error, the gate and the next step of a refused run', () => {
    const record = runRecord({
      verdict: 'REFUSED',
      error: 'ThresholdExceededError',
      cause: '31.2% of the content files look orphaned.',
      next_step: 'Read the report.',
      gates: [{ name: 'max_orphan_percent_content', value: 31.2, limit: 20, passed: false }],
    });
    const page = renderPageOfRun(reportView(10, { record }));

    for (const said of [
      /REFUSED/,
      /ThresholdExceededError/,
      /31\.2% of the content/,
      /Read the report\./,
      /stopped the run/,
    ])
      assert.match(page, said);
  });

  test('says what remains after a partial run, and what became of each file', () => {
    const record = runRecord({
      verdict: 'PARTIAL',
      deleted_files_count: 7,
      remaining_files_count: 3,
      failed_deletions_count: 2,
    });
    const [first] = reportView(1).sample;
    const page = renderPageOfRun(
      reportView(10, {
        record,
        sample: [{ ...(first as NonNullable<typeof first>), outcome: 'failed (AccessDenied)' }],
      }),
    );

    assert.match(page, /3 remain and 2 could not be deleted/);
    assert.match(page, /failed \(AccessDenied\)/);
  });

  test('takes only https links from the record', () => {
    const record = runRecord({ links: { Execution: 'https://console.aws.amazon.com/x', Bad: 'javascript:alert(1)' } });
    const page = renderPageOfRun(reportView(1, { record }));

    assert.match(page, /href="https:\/\/console/);
    assert.doesNotMatch(page, /javascript:/);
  });
});
