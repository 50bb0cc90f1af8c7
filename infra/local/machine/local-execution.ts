/** One execution as its starter sees it. */
import { executionArn } from './names.ts';
import type { Execution, ExecutionEnd, MachineEvent } from './types.ts';

export class LocalExecution implements Execution {
  readonly id: string;
  readonly name: string;
  readonly startDate = new Date();
  readonly stopping = new AbortController();
  readonly #listeners = new Set<(event: MachineEvent) => void>();
  result: Promise<ExecutionEnd> = Promise.resolve({ status: 'FAILED', error: 'NotStarted', cause: '' });

  constructor(name: string) {
    this.name = name;
    this.id = executionArn(name);
  }

  onEvent(listener: (event: MachineEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  emit(event: MachineEvent): void {
    for (const listener of this.#listeners) listener(event);
  }

  stop(): void {
    this.stopping.abort();
  }
}
