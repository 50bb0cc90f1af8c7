/** Ctrl-C: the first lets the running batch finish and the record be written, the second stops at once (users' expectation of a sweeper). */
import type { Terminal } from './terminal.ts';

export const EXIT_STOPPED = 130;
/** Error name in the record of a run whose delete stage ended at a person's wish. */
export const STOPPED_BY_PERSON = 'Aborted';

export interface Interrupt {
  /** How often the person asked to stop. */
  readonly count: () => number;
  dispose(): void;
}

export interface InterruptActions {
  /** Asks the run to stop; what it is doing is finished and recorded. */
  readonly finish: () => void;
  /** Ends everything now. */
  readonly stop: () => void;
  readonly say: (text: string) => void;
}

/** Listens to SIGINT and SIGTERM until disposed. */
export function onInterrupt(actions: InterruptActions): Interrupt {
  let count = 0;
  const listener = (): void => {
    count += 1;
    if (count === 1) {
      actions.say('Stopping: the running work is finished and the record written. Once more stops at once.');
      actions.finish();
    } else {
      actions.say('Stopped. What was deleted is in the run’s outcomes; the next run finds the rest.');
      actions.stop();
    }
  };
  process.on('SIGINT', listener);
  process.on('SIGTERM', listener);
  return {
    count: () => count,
    dispose: () => {
      process.off('SIGINT', listener);
      process.off('SIGTERM', listener);
    },
  };
}

/** What a person can do after an early end, in a sentence. */
export function howToGoOn(runId: string, deletedFiles: number, terminal: Terminal): void {
  terminal.err(
    deletedFiles === 0
      ? 'Nothing was deleted. Run the same command again to start anew.\n'
      : `icesweep report ${runId} shows what was done. Run the same command again to find and delete the rest.\n`,
  );
}
