import assert from 'node:assert/strict';
import test from 'node:test';
import { modelStory } from '#test/support/model.ts';

test('nothing live is ever lost and every old orphan goes: 100 random stories', async (context) => {
  const only = process.env['SEED'];
  const seeds = only === undefined ? Array.from({ length: 100 }, (_, index) => index + 1) : [Number(only)];
  const total = { deleted: 0, hidden: 0, commits: 0, faults: 0 };
  const verdicts = new Map<string, number>();
  for (const seed of seeds) {
    const story = await modelStory(seed);
    total.deleted += story.deleted;
    total.hidden += story.hidden;
    total.commits += story.commitsDuringRuns;
    total.faults += story.faults;
    for (const verdict of story.verdicts) verdicts.set(verdict, (verdicts.get(verdict) ?? 0) + 1);
  }
  context.diagnostic(`${JSON.stringify(total)} ${JSON.stringify(Object.fromEntries(verdicts))}`);
  if (only === undefined) {
    assert.ok(
      total.deleted > 200 && total.commits > 100 && total.faults > 50,
      'the stories are too quiet to prove anything',
    );
    assert.ok(total.hidden <= 2, `${total.hidden} orphans hid behind the filters`);
  }
});
