/** Proves that a rule is pinned: its suite passes as the product is, and a test of it fails once the rule is taken out. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import type { SafetyRule } from './rules.ts';

const TOP = resolve(import.meta.dirname, '../..');
const HOOK = './test/rules/without-rule.ts';
const LIMIT_MS = 120_000;
/** Signs that the source without the rule is broken, so that its failing tests prove nothing. */
const BROKEN = /HARNESS:|SyntaxError|ReferenceError|ERR_[A-Z_]*MODULE|ERR_[A-Z_]*TYPESCRIPT|ERR_INVALID_ARG/;

interface Outcome {
  readonly code: number | string | null;
  readonly output: string;
  /** Names of the tests that failed. */
  readonly failed: readonly string[];
  readonly passed: number;
}

function runSuite(suite: readonly string[], rule?: string): Promise<Outcome> {
  const hook = rule === undefined ? [] : ['--import', HOOK];
  const args = [...hook, '--test', '--test-isolation=none', '--test-reporter=tap', ...suite];
  // A child of the test runner would otherwise speak the runner's own language.
  const { NODE_TEST_CONTEXT: _, ...inherited } = process.env;
  const env = rule === undefined ? inherited : { ...inherited, WITHOUT_RULE: rule };
  return new Promise((done) => {
    const options = { cwd: TOP, env, timeout: LIMIT_MS, maxBuffer: 64 * 1024 * 1024 };
    execFile(process.execPath, args, options, (error, stdout, stderr) => {
      const failed = [...stdout.matchAll(/^not ok \d+ - (.*)$/gm)].map(([, name]) => name as string);
      const passed = [...stdout.matchAll(/^ok \d+ - /gm)].length;
      done({
        code: error === null ? 0 : (error.code ?? error.signal ?? null),
        output: stdout + stderr,
        failed,
        passed,
      });
    });
  });
}

const whole = new Map<string, Promise<Outcome>>();

/** Suites are shared by many rules: each runs once as the product is. */
function runWhole(suite: readonly string[]): Promise<Outcome> {
  const name = suite.join(' ');
  const known = whole.get(name) ?? runSuite(suite);
  whole.set(name, known);
  return known;
}

/** Answers the names of the tests that noticed. */
export async function proveRule(rule: SafetyRule): Promise<readonly string[]> {
  const before = await runWhole(rule.suite);
  assert.equal(before.code, 0, `the suite fails with the rule in place:\n${before.output.slice(-3000)}`);
  assert.ok(before.passed > 0, 'the suite holds no test');
  const after = await runSuite(rule.suite, rule.name);
  const tail = after.output.slice(-3000);
  assert.doesNotMatch(after.output, BROKEN, `the source without the rule is broken:\n${tail}`);
  assert.match(after.output, /^WITHOUT: /m, `the suite never loads ${rule.file}`);
  assert.equal(after.code, 1, `nobody misses the rule: the suite ends with ${after.code}\n${tail}`);
  const known = before.output;
  const noticed = after.failed.filter((name) => known.includes(`- ${name}\n`));
  assert.ok(noticed.length > 0, `no test failed, but the suite did:\n${tail}`);
  return noticed;
}
