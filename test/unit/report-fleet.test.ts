import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { renderFleetPage, tablesByWaste } from '#infra/local/cli/fleet-page.ts';
import { HOSTILE_NAMES } from '#test/support/report-view.ts';
import { runRecord } from '#test/support/run-record.ts';

const run = (table: string, day: string, orphanBytes: number, changes = {}) =>
  runRecord({ table, started_at: `2026-11-${day}T00:00:00Z`, orphan_bytes: orphanBytes, ...changes });

describe('the page of the fleet', () => {
  test('orders tables by the waste that their last look left behind', () => {
    const lines = tablesByWaste([
      run('a', '01', 900),
      run('a', '02', 900, { deleted_bytes: 900, deleted_files_count: 9, verdict: 'DELETED' }),
      run('b', '01', 50),
      // Ended before it listed anything, so it says nothing of waste.
      run('b', '03', 0, { verdict: 'FAILED', scanned_files_count: 0, error: 'AccessDeniedError' }),
    ]);

    assert.deepEqual(
      lines.map((line) => [line.table, line.wasteBytes, line.last.verdict]),
      [
        ['b', 50, 'FAILED'],
        ['a', 0, 'DELETED'],
      ],
    );
  });

  test('holds no hostile table name as markup, and an empty fleet has a page too', () => {
    const page = renderFleetPage(HOSTILE_NAMES.map((name) => run(name, '01', 5)));

    assert.doesNotMatch(page, /<img|<svg onload|<script>document|<style>body\{display/);
    assert.match(renderFleetPage([]), /No runs yet/);
  });
});
