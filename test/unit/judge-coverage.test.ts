import assert from 'node:assert/strict';
import test from 'node:test';
import { type Coverage, judgeCoverage } from '#shared/run/judge-coverage.ts';

const FULL: Coverage = {
  covered: 1000,
  missing: 0,
  named: 1000,
  contentCandidates: 50,
  narrowed: false,
  maxMissingPercent: 5,
};

function refusedBy(change: Partial<Coverage>): string[] {
  return judgeCoverage({ ...FULL, ...change }).refusals.map((refusal) => refusal.rule);
}

test('nothing missing passes', () => {
  assert.deepEqual(refusedBy({}), []);
});

test('DA-14 more than max_missing_percent refuses, exactly it does not', () => {
  assert.deepEqual(refusedBy({ missing: 50, contentCandidates: 0 }), []);
  assert.deepEqual(refusedBy({ missing: 51, contentCandidates: 0 }), ['coverage_missing']);
});

test('ten missing files that are a tenth of the candidates refuse, nine or fewer do not', () => {
  assert.deepEqual(refusedBy({ missing: 10, contentCandidates: 100 }), ['coverage_mixed']);
  assert.deepEqual(refusedBy({ missing: 10, contentCandidates: 101 }), []);
  assert.deepEqual(refusedBy({ missing: 9, contentCandidates: 10 }), []);
  assert.deepEqual(refusedBy({ missing: 10, contentCandidates: 0 }), []);
});

test('files named, none of them under the roots, and files there that nobody names refuse', () => {
  assert.deepEqual(refusedBy({ covered: 0, named: 5, contentCandidates: 1 }), ['coverage_elsewhere']);
  assert.deepEqual(refusedBy({ covered: 0, named: 5, contentCandidates: 0 }), []);
  assert.deepEqual(refusedBy({ covered: 0, named: 0, contentCandidates: 5 }), []);
  assert.deepEqual(refusedBy({ covered: 0, named: 5, contentCandidates: 5, narrowed: true }), []);
});

test('100 percent switches the first two rules off and leaves the third', () => {
  assert.deepEqual(refusedBy({ missing: 1000, maxMissingPercent: 100 }), []);
  assert.deepEqual(refusedBy({ covered: 0, missing: 0, maxMissingPercent: 100 }), ['coverage_elsewhere']);
});

test('numbers that cannot be are too many missing', () => {
  for (const change of [
    { missing: Number.NaN },
    { covered: Number.NaN },
    { missing: 2000 },
    { missing: -1 },
    { maxMissingPercent: Number.NaN },
  ]) {
    assert.ok(refusedBy(change).includes('coverage_missing'), JSON.stringify(change));
  }
});
