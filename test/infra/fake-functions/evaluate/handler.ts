import type { EvaluateEvent, EvaluationState } from '#shared/run/messages.ts';
import { play, putWork } from '../script.ts';
import type { ScriptedRun } from '../worker.ts';

export async function handler(event: EvaluateEvent): Promise<EvaluationState> {
  const { script } = event.run as ScriptedRun;
  await play(script, 'evaluate');
  const round = Number(event.step.next || 0) + 1;
  const done = round >= (script.rounds ?? 1);
  const key = `${event.run.prefix}/evaluate/batches.jsonl`;
  const items = Array.from({ length: script.items ?? 2 }, (_, batch) => JSON.stringify({ batch }));
  await putWork(key, items.join('\n'));
  const refused = script.verdict === 'REFUSED';
  return {
    done,
    next: String(round),
    wait_seconds: 0,
    verdict: done ? ((script.verdict ?? 'DRY_RUN') as EvaluationState['verdict']) : 'MORE',
    error: refused ? 'ThresholdExceededError' : '',
    cause: refused ? 'Too many.' : '',
    batches_key: key,
    plan_digest: 'digest',
  };
}
