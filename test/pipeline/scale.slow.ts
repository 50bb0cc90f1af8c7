import assert from 'node:assert/strict';
import test from 'node:test';
import { type ScaleOptions, sweepMadeUp } from '../support/scale.ts';

const MILLION = 1_000_000;
const everyTwentieth = (index: number) => index % 20 === 7;

const TABLES: Readonly<Record<string, ScaleOptions>> = {
  'a hashed object-store layout': { files: MILLION, layout: 'hashed', isOrphan: everyTwentieth },
  'a hive layout': { files: MILLION, layout: 'hive', isOrphan: everyTwentieth },
  // The plan could not cut it: one listing shard, which the worker itself must cut.
  'one flat prefix with 2M keys': {
    files: 2 * MILLION,
    layout: 'flat',
    isOrphan: everyTwentieth,
    keysPerShard: 2 * MILLION,
  },
  'orphans in one partition only': {
    files: MILLION,
    layout: 'hive',
    isOrphan: (index) => index >= MILLION / 2 && index < MILLION / 2 + MILLION / 400,
  },
  'ten million files in a hashed layout': { files: 10 * MILLION, layout: 'hashed', isOrphan: everyTwentieth },
  'ten million files in a hive layout': { files: 10 * MILLION, layout: 'hive', isOrphan: everyTwentieth },
  'ten million files with orphans in one partition only': {
    files: 10 * MILLION,
    layout: 'hive',
    isOrphan: (index) => index >= 5 * MILLION && index < 5 * MILLION + MILLION / 40,
  },
  'three key ranges': { files: MILLION, layout: 'hashed', isOrphan: everyTwentieth, ranges: 3 },
};

for (const [what, options] of Object.entries(TABLES)) {
  test(`orphans found are those planted, less the filter's false positives: ${what}`, async () => {
    const result = await sweepMadeUp(options);

    assert.equal(result.listed, options.files);
    assert.deepEqual([result.wrong, result.lost], [0, 0]);
    assert.equal(result.found + result.falsePositives, result.planted);
    // 0.01 % of the planted, with room for chance.
    assert.ok(result.falsePositives <= result.planted / 2500 + 5, `${result.falsePositives} of ${result.planted}`);
    assert.equal(result.covered, options.files - result.planted);
  });
}
