/** Lambda on one machine: warm child processes per function, reused one call at a time, at most so many at once. */
import { randomUUID } from 'node:crypto';
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { functionError, StateError } from './errors.ts';
import { LambdaWorker } from './lambda-worker.ts';
import type { LocalFunction } from './types.ts';

export interface Call {
  readonly id: string;
  /** JSON text, as Lambda gets it. */
  readonly event: string;
  readonly deadlineMs: number;
}

export interface Answer {
  readonly id: string;
  /** JSON text. */
  readonly result?: string;
  readonly error?: { readonly type: string; readonly message: string; readonly trace: readonly string[] };
}

/** Lambda's limit for a synchronous request or response. */
const PAYLOAD_LIMIT_BYTES = 6 * 1024 * 1024;
/** A process that has had nothing to do for this long gives its memory back. */
const IDLE_MS = 5000;

export interface LambdaPoolOptions {
  readonly functions: Readonly<Record<string, LocalFunction>>;
  /** What handlers see of the world, besides their function's own variables. */
  readonly environment: Readonly<Record<string, string>>;
  readonly logDir: string;
  readonly processesPerFunction: number;
}

interface Slot {
  readonly idle: Map<LambdaWorker, NodeJS.Timeout>;
  readonly waiting: (() => void)[];
  readonly workers: Set<LambdaWorker>;
  busy: number;
  readonly log: number;
}

export class LambdaPool {
  readonly #options: LambdaPoolOptions;
  readonly #slots = new Map<string, Slot>();
  #closed = false;

  constructor(options: LambdaPoolOptions) {
    this.#options = options;
    mkdirSync(options.logDir, { recursive: true });
  }

  /** Starts a process ahead of its first call. */
  warm(arn: string): void {
    const slot = this.#slot(arn);
    if (this.#closed || slot.workers.size > 0) return;
    this.#rest(slot, this.#spawn(arn, slot));
  }

  /** Rejects with a StateError. An abort kills the process that works on the call. */
  async invoke(arn: string, payload: unknown, signal?: AbortSignal): Promise<unknown> {
    const event = JSON.stringify(payload);
    if (Buffer.byteLength(event) > PAYLOAD_LIMIT_BYTES) {
      throw new StateError(
        'Lambda.RequestTooLargeException',
        `The request is larger than ${PAYLOAD_LIMIT_BYTES} bytes`,
      );
    }
    const slot = this.#slot(arn);
    await this.#enter(slot);
    try {
      return await this.#callOn(arn, slot, event, signal);
    } finally {
      slot.busy -= 1;
      slot.waiting.shift()?.();
    }
  }

  async #callOn(arn: string, slot: Slot, event: string, signal?: AbortSignal): Promise<unknown> {
    if (this.#closed || signal?.aborted) throw new StateError('ExecutionAborted', 'The execution was stopped.');
    const spec = this.#spec(arn);
    const worker = this.#take(slot) ?? this.#spawn(arn, slot);
    const abort = (): void => worker.kill();
    signal?.addEventListener('abort', abort, { once: true });
    try {
      const id = randomUUID();
      const result = await worker.call({ id, event, deadlineMs: Date.now() + spec.timeoutSeconds * 1000 });
      if (Buffer.byteLength(result) > PAYLOAD_LIMIT_BYTES) {
        throw functionError(
          'Function.ResponseSizeTooLarge',
          `Response payload size exceeded ${PAYLOAD_LIMIT_BYTES} bytes.`,
        );
      }
      return JSON.parse(result);
    } finally {
      signal?.removeEventListener('abort', abort);
      if (worker.alive && !this.#closed) this.#rest(slot, worker);
      else slot.workers.delete(worker);
    }
  }

  /** Kills every process at once. */
  close(): void {
    this.#closed = true;
    for (const slot of this.#slots.values()) {
      for (const timer of slot.idle.values()) clearTimeout(timer);
      for (const worker of slot.workers) worker.kill();
      for (const wake of slot.waiting.splice(0)) wake();
      closeSync(slot.log);
    }
    this.#slots.clear();
  }

  #spec(arn: string): LocalFunction {
    const spec = this.#options.functions[arn];
    if (spec === undefined) throw new StateError('Lambda.ResourceNotFoundException', `Function not found: ${arn}`);
    return spec;
  }

  #slot(arn: string): Slot {
    const known = this.#slots.get(arn);
    if (known !== undefined) return known;
    const log = openSync(join(this.#options.logDir, `${this.#spec(arn).name}.log`), 'a');
    const slot: Slot = { idle: new Map(), waiting: [], workers: new Set(), busy: 0, log };
    this.#slots.set(arn, slot);
    return slot;
  }

  async #enter(slot: Slot): Promise<void> {
    while (slot.busy >= this.#options.processesPerFunction) {
      await new Promise<void>((wake) => slot.waiting.push(wake));
    }
    slot.busy += 1;
  }

  #take(slot: Slot): LambdaWorker | undefined {
    for (const [worker, timer] of slot.idle) {
      clearTimeout(timer);
      slot.idle.delete(worker);
      if (worker.alive) return worker;
      slot.workers.delete(worker);
    }
    return undefined;
  }

  #rest(slot: Slot, worker: LambdaWorker): void {
    const retire = setTimeout(() => {
      slot.idle.delete(worker);
      slot.workers.delete(worker);
      worker.kill();
    }, IDLE_MS);
    retire.unref();
    slot.idle.set(worker, retire);
  }

  #spawn(arn: string, slot: Slot): LambdaWorker {
    const spec = this.#spec(arn);
    const environment = {
      ...this.#options.environment,
      ...spec.environment,
      AWS_LAMBDA_FUNCTION_NAME: spec.name,
      AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(spec.memoryMegabytes),
    };
    const worker = new LambdaWorker(spec, environment, slot.log);
    slot.workers.add(worker);
    return worker;
  }
}
