import assert from 'node:assert/strict';
import test from 'node:test';
import { writerTime } from '#functions/plan/pin-table.ts';
import type { TableMetadata } from '#shared/iceberg/types.ts';

const DAY_MS = 86_400_000;

/** Snapshots at 10, 20, … days. */
function writerDay(...summaries: Readonly<Record<string, string>>[]): number | null {
  const snapshots = summaries.map((summary, index) => ({ summary, timestampMs: (index + 1) * 10 * DAY_MS }));
  const time = writerTime({ snapshots } as unknown as TableMetadata);
  return time === null ? null : Date.parse(time) / DAY_MS;
}

const append = { operation: 'append', 'added-data-files': '2' };

test('the newest snapshot that added data files, less a day', () => {
  assert.equal(writerDay(append, append), 19);
  assert.equal(writerDay(append, { operation: 'delete', 'deleted-data-files': '1' }), 9);
  assert.equal(writerDay(append, { operation: 'overwrite', 'added-data-files': '1' }), 19);
  assert.equal(writerDay(append, { operation: 'append', 'added-data-files': '0' }), 9);
});

test('a compaction adds files and no data, whatever it counts', () => {
  assert.equal(writerDay(append, { operation: 'replace', 'added-data-files': '3' }), 9);
});

test('without a count only an append is known to add', () => {
  assert.equal(writerDay(append, { operation: 'append' }), 19);
  assert.equal(writerDay(append, { operation: 'overwrite' }), 9);
});

test('where none added, the oldest retained one; null without any', () => {
  assert.equal(writerDay({ operation: 'delete' }, { operation: 'replace' }), 9);
  assert.equal(writerDay(), null);
});
