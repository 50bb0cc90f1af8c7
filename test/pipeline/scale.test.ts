import assert from 'node:assert/strict';
import test from 'node:test';
import { type ScaleOptions, sweepMadeUp } from '../support/scale.ts';

const FILES = 20_000;
const SAMPLE = { files: FILES, entriesPerManifest: 1500, keysPerShard: 3000, manifestsPerShard: 4, ranges: 3 };
const everyTwentieth = (index: number) => index % 20 === 7;

const TABLES: Readonly<Record<string, ScaleOptions>> = {
  'a hashed object-store layout': { ...SAMPLE, layout: 'hashed', isOrphan: everyTwentieth },
  'a hive layout': { ...SAMPLE, layout: 'hive', isOrphan: everyTwentieth },
  'one flat prefix': { ...SAMPLE, layout: 'flat', isOrphan: everyTwentieth },
  'orphans in one partition only': {
    ...SAMPLE,
    layout: 'hive',
    // The 200th of 400 days, all of it.
    isOrphan: (index) => index >= FILES / 2 && index < FILES / 2 + FILES / 400,
  },
  'no orphans': { ...SAMPLE, layout: 'hashed', isOrphan: () => false },
  'nothing but orphans': { ...SAMPLE, layout: 'flat', isOrphan: () => true },
};

for (const [what, options] of Object.entries(TABLES)) {
  test(`orphans found are those planted, less the filter's false positives: ${what}`, async () => {
    const result = await sweepMadeUp(options);

    assert.equal(result.listed, FILES);
    assert.equal(result.wrong, 0);
    assert.equal(result.lost, 0);
    assert.equal(result.found + result.falsePositives, result.planted);
    assert.ok(result.falsePositives <= 3, `${result.falsePositives} false positives`);
    assert.equal(result.covered, FILES - result.planted);
  });
}
