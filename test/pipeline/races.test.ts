import assert from 'node:assert/strict';
import test from 'node:test';
import { raceOnce } from '#test/support/races.ts';

test('a commit that adopts listed orphans keeps their files: 60 seeded races', async () => {
  let adopted = 0;
  for (let seed = 1; seed <= 60; seed++) adopted += (await raceOnce(seed)).adopted;
  assert.ok(adopted > 50, `only ${adopted} files were adopted: the races do not bite`);
});
