/** The documents, the errors and the next steps agree: nothing that a run may end with is without an answer. */
import assert from 'node:assert/strict';
import test from 'node:test';
import * as errors from '#shared/errors.ts';
import { nextStepOf } from '#shared/run/next-steps.ts';
import { readDocument } from '#test/support/readme.ts';

/** How an execution that was ended from outside is called; no code throws these. */
const FROM_OUTSIDE = ['ExecutionAborted', 'ExecutionTimedOut'];

type ErrorClass = new (message: string) => errors.IcesweepError;

function errorNames(): string[] {
  const all: unknown[] = Object.values(errors);
  const isError = (one: unknown): one is ErrorClass =>
    typeof one === 'function' && one.prototype instanceof errors.IcesweepError;
  return [...all.filter(isError).map((one) => new one('').name), ...FROM_OUTSIDE].sort();
}

/** First cell and last cell of each row of the error table. */
function tableRows(): { names: string[]; next: string }[] {
  const section = readDocument('README.md').split('## What stops a run')[1]?.split('\n## ')[0] ?? '';
  const rows = section.split('\n').filter((line) => line.startsWith('| `'));
  return rows.map((row) => {
    const cells = row.split(/(?<!\\)\|/).map((cell) => cell.trim());
    return {
      names: [...(cells[1] as string).matchAll(/`(\w+)`/g)].map(([, name]) => name as string),
      next: cells[3] ?? '',
    };
  });
}

test('the error table names every error that a run may end with, once, and no other', () => {
  const named = tableRows().flatMap(({ names }) => names);

  assert.deepEqual(named.sort(), errorNames());
});

test('each row says what to do next', () => {
  for (const { names, next } of tableRows()) assert.match(next, /\w{3}/, names.join());
});

test('each error has a next step of its own in records and Causes', () => {
  const general = nextStepOf('SomethingElse');

  for (const name of errorNames()) assert.notEqual(nextStepOf(name), general, name);
});
