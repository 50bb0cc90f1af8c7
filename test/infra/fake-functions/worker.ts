import type { RunState, WorkerEvent, WorkerStep } from '#shared/run/messages.ts';
import { play, type Script } from './script.ts';

export type ScriptedRun = RunState & { readonly script: Script };

/** A worker that needs as many calls as the script has rounds. */
export function worker(stage: string) {
  return async (event: WorkerEvent<Record<string, number>>): Promise<WorkerStep> => {
    const { script } = event.run as ScriptedRun;
    const [item] = Object.values(event.item);
    if (script.eat === 'heap' && stage === 'scan') {
      const hoard: object[] = [];
      for (;;) hoard.push({ a: [hoard.length] });
    }
    if (script.eat === 'buffers' && stage === 'scan') {
      const hoard: Buffer[] = [];
      for (let i = 0; i < 40; i++) {
        hoard.push(Buffer.alloc(100 * 1024 * 1024, i + 1));
        await new Promise((wake) => setTimeout(wake, 10));
      }
    }
    await play(script, stage, item);
    const round = Number(event.step.next || 0) + 1;
    return { done: round >= (script.rounds ?? 1), next: String(round), wait_seconds: script.waitSeconds ?? 0 };
  };
}
