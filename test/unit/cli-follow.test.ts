import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { followExecution, waitUnlessLeaving } from '#infra/local/cli/fleet/follow-execution.ts';
import { AccessDeniedError, ServiceUnavailableError } from '#shared/errors.ts';

type Answer = { readonly status: string } | Error;

/** Follows an execution that answers as listed, the last answer again and again; no time passes. */
async function follow(answers: readonly Answer[], leaving = new AbortController().signal) {
  const waits: number[] = [];
  const said: string[] = [];
  let asked = 0;
  const execution = {
    arn: 'arn:run',
    describe: async () => {
      const answer = answers[Math.min(asked++, answers.length - 1)] as Answer;
      if (answer instanceof Error) throw answer;
      return answer;
    },
    showProgress: async () => {
      throw new Error('no progress to be had');
    },
    say: (text: string) => void said.push(text),
  };
  const end = await followExecution(execution, leaving, async (ms) => void waits.push(ms)).catch(
    (error: Error) => error,
  );
  return { end, waits, said, asked };
}

const running = { status: 'RUNNING' };
const silent = new ServiceUnavailableError('No answer.');

test('an execution is asked for every two seconds until it has ended, whatever becomes of its progress', async () => {
  const { end, waits } = await follow([running, running, { status: 'SUCCEEDED' }]);
  assert.deepEqual(end, { status: 'SUCCEEDED' });
  assert.deepEqual(waits, [2000, 2000]);
});

test('while nobody answers it is asked for less and less often, told once, and told when it answers again', async () => {
  const { end, waits, said } = await follow([silent, silent, silent, silent, silent, running, { status: 'FAILED' }]);
  assert.deepEqual(end, { status: 'FAILED' });
  assert.deepEqual(waits, [4000, 8000, 16_000, 30_000, 30_000, 2000]);
  assert.deepEqual(said, ['No answer. The run goes on; it is asked for again.', 'Step Functions answers again.']);
});

test('after more than ten minutes without an answer the run is out of sight, and is said to go on', async () => {
  const { end, waits } = await follow([running, silent]);
  assert.ok(end instanceof ServiceUnavailableError);
  assert.match(end.message, /arn:run cannot be followed.*No answer\..*goes on/);
  assert.ok(waits.reduce((sum, ms) => sum + ms, 0) > 600_000);
});

test('a denial and a fault of our own end the following at once', async () => {
  const denied = await follow([running, new AccessDeniedError('denied')]);
  assert.ok(denied.end instanceof AccessDeniedError);
  assert.match(denied.end.message, /arn:run was started and cannot be followed\. denied/);
  const bug = new TypeError('bug');
  assert.equal((await follow([bug])).end, bug);
});

test('a person who leaves is asked nothing more, and waits for nothing', async () => {
  const leaving = new AbortController();
  leaving.abort();
  const { end, asked } = await follow([running], leaving.signal);
  assert.deepEqual([end, asked], [undefined, 0]);
  await waitUnlessLeaving(3_600_000, leaving.signal);
});

test('waiting leaves nothing behind on the signal, however often it is done', async () => {
  const { signal } = new AbortController();
  for (let wait = 0; wait < 20; wait++) await waitUnlessLeaving(0, signal);
  assert.equal(getEventListeners(signal, 'abort').length, 0);
});
