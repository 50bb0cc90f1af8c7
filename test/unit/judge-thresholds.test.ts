import assert from 'node:assert/strict';
import test from 'node:test';
import { judgeThresholds, type ThresholdLimits, type ThresholdNumbers } from '#shared/run/judge-thresholds.ts';

const LIMITS: ThresholdLimits = { max_orphan_percent: 20, min_files: 100 };
const NONE = { files: 0, bytes: 0 };

function numbers(orphans: number, referenced: number, bytesEach = 1): ThresholdNumbers {
  const candidates = { files: orphans, bytes: orphans * bytesEach };
  return {
    candidates: { content: candidates, metadata: NONE },
    referenced: { content: { files: referenced, bytes: referenced }, metadata: NONE },
    all: candidates,
  };
}

function refusedBy(given: ThresholdNumbers, limits: ThresholdLimits = LIMITS): string[] {
  return judgeThresholds(given, limits).refusals.map((refusal) => refusal.rule);
}

test('exactly the limit passes, the next file refuses', () => {
  assert.deepEqual(refusedBy(numbers(20, 80)), []);
  assert.ok(refusedBy(numbers(21, 80)).includes('orphan_percent_content_files'));
});

test('bytes refuse alone, where the number of files would pass', () => {
  assert.deepEqual(refusedBy(numbers(10, 90, 10)), ['orphan_percent_content_bytes']);
});

test('metadata is judged apart: a few bad content files do not hide behind many metadata files', () => {
  const given: ThresholdNumbers = {
    candidates: { content: NONE, metadata: { files: 60, bytes: 60 } },
    referenced: { content: { files: 10_000, bytes: 10_000 }, metadata: { files: 60, bytes: 60 } },
    all: { files: 60, bytes: 60 },
  };
  assert.deepEqual(refusedBy(given), ['orphan_percent_metadata_files', 'orphan_percent_metadata_bytes']);
});

test('below min_files the ratio is not judged, at it it is', () => {
  assert.deepEqual(refusedBy(numbers(99, 0)), []);
  assert.ok(refusedBy(numbers(100, 0)).length > 0);
});

test('CS-01 each absolute limit refuses alone, also below min_files', () => {
  assert.deepEqual(refusedBy(numbers(6, 5), { ...LIMITS, max_orphan_files: 5 }), ['max_orphan_files']);
  assert.deepEqual(refusedBy(numbers(6, 5, 10), { ...LIMITS, max_orphan_bytes: 59 }), ['max_orphan_bytes']);
  assert.deepEqual(refusedBy(numbers(5, 5), { ...LIMITS, max_orphan_files: 5, max_orphan_bytes: 5 }), []);
});

test('CS-01 a loss confined to one prefix is judged over the whole table, and passes below the limit', () => {
  assert.deepEqual(refusedBy(numbers(40_000, 960_000)), []);
});

test('without candidates nothing refuses, whatever the numbers', () => {
  assert.deepEqual(refusedBy({ ...numbers(0, Number.NaN), all: NONE }), []);
});

test('a missing, negative or non-finite number refuses before min_files is looked at', () => {
  for (const broken of [Number.NaN, Number.POSITIVE_INFINITY, -1, undefined as unknown as number]) {
    const few = numbers(1, 5);
    for (const given of [
      { ...few, referenced: { ...few.referenced, content: { files: broken, bytes: 5 } } },
      { ...few, candidates: { ...few.candidates, metadata: { files: 0, bytes: broken } } },
      { ...few, all: { files: 1, bytes: broken } },
    ]) {
      assert.deepEqual(refusedBy(given), ['numbers'], String(broken));
    }
    assert.deepEqual(refusedBy(few, { ...LIMITS, max_orphan_percent: broken }), ['numbers']);
    assert.deepEqual(refusedBy(few, { ...LIMITS, min_files: broken }), ['numbers']);
  }
});

test('every gate says its value, its limit and whether it passed', () => {
  const { gates } = judgeThresholds(numbers(30, 70), LIMITS);
  const gate = gates.find((candidate) => candidate.name === 'orphan_percent_content_files');
  assert.deepEqual(gate, { name: 'orphan_percent_content_files', value: 30, limit: 20, passed: false });
});
