/** A sample of the proof that each safety rule earns its place; the slow suite goes through all of them. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import test, { suite } from 'node:test';
import { proveRule } from './prove-rule.ts';
import { rules } from './rules.ts';

const SAMPLE = [
  'threshold',
  'foreign uuid in the plan',
  'strictly before the cut-off',
  'fold of references',
  'recheck: set difference',
  'seal: chunk digest',
];

test('every rule stands exactly once in its file, and every suite is there', () => {
  const top = resolve(import.meta.dirname, '../..');
  for (const { name, file, line, suite: files } of rules) {
    const pieces = readFileSync(resolve(top, file), 'utf8').split(line).length;
    assert.equal(pieces, 2, `${name}: ${file} has its line ${pieces - 1} times`);
    for (const path of files) assert.ok(readFileSync(resolve(top, path), 'utf8').includes('test('), path);
  }
});

suite('without the rule its suite fails', { concurrency: 2 }, () => {
  for (const name of SAMPLE) {
    test(name, async () => {
      const rule = rules.find((candidate) => candidate.name === name);
      assert.ok(rule, `${name} is no rule`);
      await proveRule(rule);
    });
  }
});
