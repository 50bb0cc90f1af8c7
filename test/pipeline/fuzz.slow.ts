import assert from 'node:assert/strict';
import test from 'node:test';
import { fuzzReaders } from '#test/support/table-writer-fuzz.ts';

test('20,000 mutated files: read whole or refused, within bounds of time and memory', async (context) => {
  const before = process.memoryUsage().rss;
  const tally = await fuzzReaders(10_000, 20_000);
  const grownBytes = process.memoryUsage().rss - before;
  context.diagnostic(JSON.stringify({ ...tally, grownMiB: Math.round(grownBytes / 2 ** 20) }));
  assert.ok(tally.failedCleanly > 5000);
  assert.ok(tally.slowestMs < 10_000);
  assert.ok(grownBytes < 1024 ** 3);
});
