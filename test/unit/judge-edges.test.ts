/** What the judges say beside their verdict, and numbers at the edges of what can be judged. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { type Coverage, judgeCoverage } from '#shared/run/judge-coverage.ts';
import { judgeThresholds, type ThresholdLimits, type ThresholdNumbers } from '#shared/run/judge-thresholds.ts';

const COVERED: Coverage = {
  covered: 1000,
  missing: 3,
  named: 1000,
  contentCandidates: 50,
  narrowed: false,
  maxMissingPercent: 5,
};

test('coverage tells its three numbers with their limits, whether they pass or not', () => {
  assert.deepEqual(judgeCoverage(COVERED), {
    gates: [
      { name: 'missing_percent', value: 0.3, limit: 5, passed: true },
      { name: 'missing_with_candidates', value: 3, limit: 10, passed: true },
      { name: 'files_under_roots', value: 1000, limit: null, passed: true },
    ],
    refusals: [],
  });
  const { gates, refusals } = judgeCoverage({ ...COVERED, covered: 30, missing: 11 });
  assert.deepEqual(gates, [
    { name: 'missing_percent', value: 36.667, limit: 5, passed: false },
    { name: 'missing_with_candidates', value: 11, limit: 10, passed: false },
    { name: 'files_under_roots', value: 30, limit: null, passed: true },
  ]);
  assert.deepEqual(
    refusals.map(({ error, rule }) => [error, rule]),
    [
      ['ReferencedFilesMissingError', 'coverage_missing'],
      ['ReferencedFilesMissingError', 'coverage_mixed'],
    ],
  );
});

test('a table without files under the roots misses none of them', () => {
  const { gates } = judgeCoverage({ ...COVERED, covered: 0, missing: 0 });
  assert.deepEqual(gates[0], { name: 'missing_percent', value: 0, limit: 5, passed: true });
  assert.deepEqual(gates[2], { name: 'files_under_roots', value: 0, limit: null, passed: false });
});

test('a limit of zero allows what misses nothing, and more missing than there are is never allowed', () => {
  assert.deepEqual(judgeCoverage({ ...COVERED, missing: 0, maxMissingPercent: 0 }).refusals, []);
  assert.equal(judgeCoverage({ ...COVERED, covered: 10, missing: 11, maxMissingPercent: 100 }).refusals.length, 1);
});

const some = (files: number, bytes: number) => ({ files, bytes });
const NUMBERS: ThresholdNumbers = {
  referenced: { content: some(90, 900), metadata: some(0, 0) },
  candidates: { content: some(10, 300), metadata: some(0, 0) },
  all: some(12, 320),
};
const LIMITS: ThresholdLimits = { max_orphan_percent: 25, min_files: 0 };

test('thresholds tell every ratio, also of a group without files, and no limit that is not set', () => {
  assert.deepEqual(judgeThresholds(NUMBERS, LIMITS), {
    gates: [
      { name: 'orphan_percent_content_files', value: 10, limit: 25, passed: true },
      { name: 'orphan_percent_content_bytes', value: 25, limit: 25, passed: true },
      { name: 'orphan_percent_metadata_files', value: 0, limit: 25, passed: true },
      { name: 'orphan_percent_metadata_bytes', value: 0, limit: 25, passed: true },
    ],
    refusals: [],
  });
});

test('absolute limits tell what they were compared with; what equals them passes', () => {
  const at = judgeThresholds(NUMBERS, { ...LIMITS, max_orphan_files: 12, max_orphan_bytes: 320 });
  assert.deepEqual(at.gates.slice(4), [
    { name: 'max_orphan_files', value: 12, limit: 12, passed: true },
    { name: 'max_orphan_bytes', value: 320, limit: 320, passed: true },
  ]);
  const above = judgeThresholds(NUMBERS, { ...LIMITS, max_orphan_files: 11, max_orphan_bytes: 319 });
  assert.deepEqual(
    above.gates.slice(4).map(({ passed }) => passed),
    [false, false],
  );
  assert.deepEqual(
    above.refusals.map(({ error, rule }) => [error, rule]),
    [
      ['ThresholdExceededError', 'max_orphan_files'],
      ['ThresholdExceededError', 'max_orphan_bytes'],
    ],
  );
});

test('without candidates there is nothing to tell', () => {
  assert.deepEqual(judgeThresholds({ ...NUMBERS, all: some(0, 0) }, LIMITS), { gates: [], refusals: [] });
});

test('each number that is none is named, and nothing else is judged', () => {
  const none = Number.NaN;
  const broken = some(none, none);
  const limits = { max_orphan_percent: none, min_files: none, max_orphan_files: none, max_orphan_bytes: none };
  const { gates, refusals } = judgeThresholds(
    {
      referenced: { content: broken, metadata: undefined as never },
      candidates: { content: undefined as never, metadata: broken },
      all: broken,
    },
    limits,
  );
  const names = [
    'all.files',
    'all.bytes',
    'max_orphan_percent',
    'min_files',
    'candidates.content.files',
    'candidates.content.bytes',
    'referenced.content.files',
    'referenced.content.bytes',
    'candidates.metadata.files',
    'candidates.metadata.bytes',
    'referenced.metadata.files',
    'referenced.metadata.bytes',
    'max_orphan_files',
    'max_orphan_bytes',
  ];
  assert.deepEqual(
    gates,
    names.map((name) => ({ name, value: null, limit: 0, passed: false })),
  );
  assert.deepEqual(
    refusals.map(({ rule }) => rule),
    ['numbers'],
  );
});
