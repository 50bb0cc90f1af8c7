/** One worker of each stage with its share of a table of 100 million files, in a process with the memory that is stated for it. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { measureShare } from '#test/support/table-share.ts';

const MOST_MB = 400;

test('no worker needs more than 400 MB for its share of 100 million files', async (context) => {
  const share = await measureShare({ files: 100_000_000, candidates: 1_000_000, fullRanges: 6 });

  const { ranges, scan, list } = share.plan;
  context.diagnostic(`${scan.shards} scan shards, ${ranges.length} key ranges, ${list.shards} listing shards`);
  for (const [name, { peakMb, limitMb }] of share.seen) {
    context.diagnostic(`${name.padEnd(10)} ${String(peakMb).padStart(5)} MB of ${limitMb}`);
  }
  assert.equal(share.verdict, 'DELETE');
  assert.ok(ranges.length >= 20 && scan.shards >= 95 && list.shards >= 500);
  for (const [name, { peakMb }] of share.seen) assert.ok(peakMb > 0 && peakMb < MOST_MB, `${name}: ${peakMb} MB`);
});
