import assert from 'node:assert/strict';
import test, { suite } from 'node:test';
import { proveRule } from './prove-rule.ts';
import { rules } from './rules.ts';

/** `RULE=text` proves the rules alone whose name holds the text. */
const only = process.env['RULE'] ?? '';

test('every rule has a name of its own', () => {
  assert.equal(new Set(rules.map(({ name }) => name)).size, rules.length);
});

suite('without the rule its suite fails', { concurrency: 2 }, () => {
  for (const rule of rules.filter(({ name }) => name.includes(only))) {
    test(rule.name, async (context) => {
      const noticed = await proveRule(rule);
      context.diagnostic(`noticed by: ${noticed.join('; ')}`);
    });
  }
});
