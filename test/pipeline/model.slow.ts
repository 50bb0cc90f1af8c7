import assert from 'node:assert/strict';
import test from 'node:test';
import { modelStory } from '#test/support/model.ts';

const SEEDS = 2500;

test(`nothing live is ever lost and every old orphan goes: ${SEEDS} random stories`, async (context) => {
  const total = { deleted: 0, hidden: 0, commits: 0, faults: 0 };
  const verdicts = new Map<string, number>();
  for (let seed = 101; seed <= 100 + SEEDS; seed++) {
    const story = await modelStory(seed);
    total.deleted += story.deleted;
    total.hidden += story.hidden;
    total.commits += story.commitsDuringRuns;
    total.faults += story.faults;
    for (const verdict of story.verdicts) verdicts.set(verdict, (verdicts.get(verdict) ?? 0) + 1);
  }
  context.diagnostic(`${JSON.stringify(total)} ${JSON.stringify(Object.fromEntries(verdicts))}`);
  // One orphan in ten thousand hides behind a filter.
  assert.ok(total.hidden <= 1 + total.deleted / 1000, `${total.hidden} orphans hid behind the filters`);
});
