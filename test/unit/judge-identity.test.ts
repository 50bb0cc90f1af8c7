import assert from 'node:assert/strict';
import test from 'node:test';
import type { CompleteReceipts } from '#shared/run/judge-books.ts';
import { judgeForeigners, judgeIdentity } from '#shared/run/judge-identity.ts';
import { planOf } from '#test/support/mark-world.ts';

const mismatch = (count: number) => ({
  fault: 'prefix_mismatch',
  evidence: 's3://x against s3://b',
  count,
  sample: ['s3://x/wh/t/data/f'],
});
const dots = { fault: 'dot_dot_segment', evidence: 's3://b/a/../b', count: 2, sample: ['s3://b/a/../b'] };

function scanned(...scans: { faults?: readonly unknown[]; spellings?: readonly string[] }[]): CompleteReceipts {
  return {
    scans: scans.map(({ faults = [], spellings = [] }) => ({ faults, unlisted_spellings: spellings })),
    builds: [],
    lists: [],
  } as unknown as CompleteReceipts;
}

function listed(...lists: { foreign?: readonly unknown[]; foreign_count?: number; formats?: readonly string[] }[]) {
  return {
    scans: [],
    builds: [],
    lists: lists.map(({ foreign = [], foreign_count = foreign.length, formats = [] }) => ({
      foreign,
      foreign_count,
      other_formats: formats,
      other_formats_count: formats.length,
    })),
  } as unknown as CompleteReceipts;
}

test('names that can be told apart pass, and the gates say so', () => {
  assert.deepEqual(judgeIdentity(planOf(), scanned({}, {})), {
    gates: [
      { name: 'prefix_mismatches', value: 0, limit: 0, passed: true },
      { name: 'unlisted_spellings', value: 0, limit: 0, passed: true },
    ],
    refusals: [],
  });
});

test('faults of all shards together refuse, with the first as evidence', () => {
  const { gates, refusals } = judgeIdentity(planOf(), scanned({ faults: [mismatch(3)] }, { faults: [dots] }));

  assert.deepEqual(gates[0], { name: 'prefix_mismatches', value: 5, limit: 0, passed: false });
  assert.deepEqual(gates[1]?.passed, true);
  assert.deepEqual(
    refusals.map(({ error, rule }) => [error, rule]),
    [['PrefixMismatchError', 'identity']],
  );
  assert.match(
    refusals[0]?.message ?? '',
    /^5 recorded paths .*\(prefix_mismatch: s3:\/\/x against s3:\/\/b; for example s3:\/\/x\/wh\/t\/data\/f\)\. Map them/,
  );
});

test('IGNORE passes over prefix mismatches and over nothing else', () => {
  const plan = planOf({ input: { prefix_mismatch_mode: 'IGNORE' } });

  assert.deepEqual(judgeIdentity(plan, scanned({ faults: [mismatch(3)] })).refusals, []);
  const both = judgeIdentity(plan, scanned({ faults: [mismatch(3), dots] }));
  assert.equal(both.gates[0]?.value, 2);
  assert.match(both.refusals[0]?.message ?? '', /dot_dot_segment/);
});

test('spellings that nobody listed are named, each once, three at most', () => {
  const spellings = ['s3://b/t//data/', 's3://b/t///data/', 's3://b/t/%64ata/', 's3://b/t/d%61ta/'];
  const { gates, refusals } = judgeIdentity(planOf(), scanned({ spellings }, { spellings }));

  assert.deepEqual(gates[1], { name: 'unlisted_spellings', value: 4, limit: 0, passed: false });
  assert.deepEqual([refusals[0]?.error, refusals[0]?.rule], ['ListingIncompleteError', 'spellings']);
  assert.match(
    refusals[0]?.message ?? '',
    /not listed: s3:\/\/b\/t\/\/data\/, s3:\/\/b\/t\/\/\/data\/, s3:\/\/b\/t\/%64ata\/\.$/,
  );
});

test('nobody else under the roots passes', () => {
  assert.deepEqual(judgeForeigners(listed({}, {})), {
    gates: [
      { name: 'foreign_metadata_files', value: 0, limit: 0, passed: true },
      { name: 'other_table_formats', value: 0, limit: 0, passed: true },
    ],
    refusals: [],
  });
});

test('foreign metadata files of any shard refuse, counted beyond those that are named', () => {
  const file = { key: 'wh/t/data/x.metadata.json', found: 'foreign_uuid', table_uuid: 'u' };
  const { gates, refusals } = judgeForeigners(listed({}, { foreign: [file], foreign_count: 30 }, { foreign: [file] }));

  assert.deepEqual(gates[0], { name: 'foreign_metadata_files', value: 31, limit: 0, passed: false });
  assert.deepEqual(
    refusals.map(({ error, rule }) => [error, rule]),
    [['LocationConflictError', 'foreign_metadata']],
  );
  assert.match(
    refusals[0]?.message ?? '',
    /^31 metadata files .*\(foreign_uuid: wh\/t\/data\/x\.metadata\.json\)\. .*former_table_uuids\.$/,
  );
});

test('files of other formats of any shard refuse', () => {
  const { gates, refusals } = judgeForeigners(listed({}, { formats: ['a/_delta_log/0.json', 'b/.hoodie/x'] }));

  assert.deepEqual(gates[1], { name: 'other_table_formats', value: 2, limit: 0, passed: false });
  assert.deepEqual(
    refusals.map(({ error, rule }) => [error, rule]),
    [['LocationConflictError', 'other_formats']],
  );
  assert.match(refusals[0]?.message ?? '', /^2 files .*, for example a\/_delta_log\/0\.json\.$/);
});
