import assert from 'node:assert/strict';
import test from 'node:test';
import type { JsonObject, StateJson, StateMachineJson } from '#infra/local/machine/types.ts';
import { scriptedMachineFile } from './scripted-machine.ts';

const { definition, functions } = await scriptedMachineFile();

/** Every state with the states that enclose it, maps' children too. */
function statesOf(machine: StateMachineJson, inside = ''): { name: string; inside: string; state: StateJson }[] {
  return Object.entries(machine.States).flatMap(([name, state]) => [
    { name, inside, state },
    ...(state.Type === 'Map' ? statesOf(state['ItemProcessor'] as StateMachineJson, name) : []),
  ]);
}

const states = statesOf(definition);
const ofType = (type: string) => states.filter(({ state }) => state.Type === type);
const MARKING = ['ScanManifests', 'BuildFilters', 'ListStorage'];

test('OR-12: every Lambda task tries throttling and outages again, with jitter and growing pauses', () => {
  assert.ok(ofType('Task').length >= 10);
  for (const { name, state } of ofType('Task')) {
    const retries = state['Retry'] as {
      ErrorEquals: string[];
      MaxAttempts: number;
      JitterStrategy: string;
      BackoffRate: number;
    }[];
    for (const error of [
      'Lambda.TooManyRequestsException',
      'Lambda.ServiceException',
      'Lambda.AWSLambdaException',
      'Lambda.SdkClientException',
      'ServiceUnavailableError',
    ]) {
      const retry = retries.find(({ ErrorEquals }) => ErrorEquals.includes(error));
      assert.ok(retry !== undefined && retry.MaxAttempts >= 3 && retry.BackoffRate > 1, `${name}: ${error}`);
      assert.equal(retry.JitterStrategy, 'FULL', name);
    }
    const died = retries.find(({ ErrorEquals }) => ErrorEquals.includes('Runtime.ExitError'));
    assert.equal(died?.MaxAttempts, 2, name);
    assert.ok(
      !retries.some(({ ErrorEquals }) => ErrorEquals.some((error) => /States\.(ALL|TaskFailed)/.test(error))),
      name,
    );
  }
});

test('OR-12: every map says how many children run at once', () => {
  assert.equal(ofType('Map').length, 4);
  for (const { name, state } of ofType('Map')) {
    assert.match(String(state['MaxConcurrencyPath']), /^\$\.run\.max_concurrent_/, name);
    assert.equal(state['MaxConcurrency'], undefined, name);
  }
});

test('OR-03: every map writes its results to S3 and drops its output', () => {
  for (const { name, state } of ofType('Map')) {
    const writer = state['ResultWriter'] as JsonObject;
    assert.equal(writer?.['Resource'], 'arn:aws:states:::s3:putObject', name);
    assert.deepEqual((writer['Parameters'] as JsonObject)['Prefix.$'], '$.run.results_prefix');
    assert.equal(state['ResultPath'], null);
  }
});

test('OR-01: lists travel as keys: every map reads its items from S3, and children get run, item and step', () => {
  for (const { name, state } of ofType('Map')) {
    const reader = state['ItemReader'] as JsonObject;
    assert.deepEqual(reader['ReaderConfig'], { InputType: 'JSONL' }, name);
    assert.deepEqual(Object.keys(state['ItemSelector'] as object), ['run.$', 'item.$', 'step']);
    assert.equal(state['ItemsPath'], undefined);
  }
});

/** Events that a state adds to its execution's history where nothing is retried. */
const EVENTS: Readonly<Record<string, number>> = { Task: 5, Map: 6, Choice: 2, Pass: 2, Wait: 2, Succeed: 2, Fail: 1 };
/** A retried attempt is scheduled, started and failed; so many of a round are far more than ever were. */
const RETRIED = 3 * 3;
/** A batch has 1,000 keys; its worst case deletes one of them per call. */
const MOST_ROUNDS = 1000;

function following(state: StateJson): string[] {
  const choices = (state['Choices'] ?? []) as { Next: string }[];
  return [state['Next'], state['Default'], ...choices.map(({ Next }) => Next)].filter(
    (next) => next !== undefined,
  ) as string[];
}

/** The states of a machine that lie on a way from one of them back to itself. */
function onLoops(machine: StateMachineJson): string[] {
  const reaches = (from: string, to: string, seen = new Set<string>()): boolean =>
    following(machine.States[from] as StateJson).some((next) => {
      if (next === to) return true;
      if (seen.has(next)) return false;
      seen.add(next);
      return reaches(next, to, seen);
    });
  return Object.keys(machine.States).filter((name) => reaches(name, name));
}

test('OR-02: no history comes near 25,000 events: loops are short, and wide work is in children of maps', () => {
  for (const { name, state } of ofType('Map')) {
    const processor = state['ItemProcessor'] as JsonObject;
    assert.deepEqual(processor['ProcessorConfig'], { Mode: 'DISTRIBUTED', ExecutionType: 'STANDARD' }, name);
  }
  const children = ofType('Map').map(({ state }) => state['ItemProcessor'] as unknown as StateMachineJson);
  const loops = [definition, ...children].map((machine) => onLoops(machine).map((name) => machine.States[name]));
  const rounds = loops.map((loop) => loop.reduce((sum, state) => sum + (EVENTS[state?.Type ?? ''] ?? 100), 0));

  // PlanRun and EvaluateRun with their questions; the delete worker with pause and question; the others with a question.
  assert.deepEqual(
    loops.map(({ length }) => length),
    [4, 3, 2, 2, 2],
  );
  for (const events of rounds) assert.ok((events + RETRIED) * MOST_ROUNDS < 24_000, `${events} events in a round`);
});

test('OR-08: the children of maps are standard executions, which run once', () => {
  for (const { state } of ofType('Map')) {
    assert.equal(
      ((state['ItemProcessor'] as JsonObject)['ProcessorConfig'] as JsonObject)['ExecutionType'],
      'STANDARD',
    );
  }
});

test('the stages that mark files tolerate no failed item; only the delete stage does', () => {
  for (const { name, state } of ofType('Map')) {
    const percentage = state['ToleratedFailurePercentage'] ?? 0;
    assert.equal(percentage, MARKING.includes(name) ? 0 : 100, name);
    assert.equal(state['ToleratedFailureCount'], undefined);
  }
});

test('every error leads to RecordFailure, of every task and map that is not part of it', () => {
  const outer = states.filter(
    ({ inside, state, name }) => inside === '' && /Task|Map/.test(state.Type) && name !== 'RecordFailure',
  );
  assert.ok(outer.length >= 9);
  for (const { name, state } of outer) {
    assert.deepEqual(
      state['Catch'],
      [{ ErrorEquals: ['States.ALL'], ResultPath: '$.error', Next: 'RecordFailure' }],
      name,
    );
  }
});

test('every choice is a question, and none falls through to the delete stage', () => {
  for (const { name, state } of ofType('Choice')) {
    assert.match(name, /^[A-Z]\w*\?$/);
    assert.ok(state['Default'] !== undefined, `${name} knows what to do with the unexpected`);
  }
  assert.equal(definition.States['WhatIsTheVerdict?']?.['Default'], 'RecordFailure');
  assert.equal(definition.States['WhatDidThePlanFind?']?.['Default'], 'RecordFailure');
  assert.equal(definition.States['IsThePlanSealed?']?.['Default'], 'RecordFailure');
});

test('DeleteOrphans is reached through RecheckTable only', () => {
  const leading = states
    .filter(({ state }) => JSON.stringify(state).includes('"Next":"DeleteOrphans"'))
    .map(({ name }) => name);

  assert.deepEqual(leading, ['RecheckTable']);
});

test('every state has a comment of one sentence, for the console', () => {
  for (const { name, state } of states) {
    assert.match(String(state['Comment']), /^[A-Z].*\.$/, name);
    assert.ok(!/\. [A-Z]/.test(String(state['Comment'])), `${name} has more than one sentence`);
  }
  assert.ok(definition['Comment']);
});

test('names are unique over all levels, and labels name the maps', () => {
  const names = states.map(({ name }) => name);
  assert.equal(new Set(names).size, names.length);
  for (const { name, state } of ofType('Map')) assert.equal(state['Label'], name);
});

test('a task waits longer than its function may run, so that the function’s own answer is what counts', () => {
  for (const { name, state } of ofType('Task')) {
    const lambda = functions[state['Resource'] as string];
    assert.ok(lambda !== undefined && (state['TimeoutSeconds'] as number) > lambda.timeoutSeconds, name);
  }
});

test('the Fail states say the error and cause that the record found', () => {
  for (const { state } of ofType('Fail')) {
    assert.equal(state['ErrorPath'], '$.failure.error');
    assert.equal(state['CausePath'], '$.failure.cause');
  }
});
