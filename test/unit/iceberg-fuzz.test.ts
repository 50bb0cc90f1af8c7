import assert from 'node:assert/strict';
import test from 'node:test';
import { fuzzReaders } from '#test/support/table-writer-fuzz.ts';

test('600 mutated files: read whole or refused, never fewer references without an error', async (context) => {
  const tally = await fuzzReaders(1, 600);
  context.diagnostic(JSON.stringify(tally));
  assert.ok(tally.failedCleanly > 100, 'the mutations reach the readers');
  assert.ok(tally.slowestMs < 5000);
});
