/** One child process of a function, with Lambda's limits on memory (heap and resident) and time. */
import { type ChildProcess, fork } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { functionError } from './errors.ts';
import type { Answer, Call } from './lambda-pool.ts';
import type { LocalFunction } from './types.ts';

/** Checks before and after each call and in between: V8's limit does not see Buffers. */
const WATCH_MS = 100;
const PAGE_BYTES = 4096;
const MEBIBYTE = 1024 * 1024;

/** In a checkout the sources run as they are, in the package their compiled form. */
const CHILD = join(import.meta.dirname, import.meta.filename.endsWith('.ts') ? 'lambda-child.ts' : 'lambda-child.js');

/** Bytes of the process in memory; undefined where the system does not say. */
function residentBytes(pid: number): number | undefined {
  try {
    return Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * PAGE_BYTES;
  } catch {
    return undefined;
  }
}

interface Pending {
  readonly call: Call;
  readonly resolve: (result: string) => void;
  readonly reject: (error: Error) => void;
}

export class LambdaWorker {
  readonly #spec: LocalFunction;
  readonly #process: ChildProcess;
  #pending: Pending | undefined;
  /** Why the process was killed, if it was us. */
  #verdict: Error | undefined;
  alive = true;

  constructor(spec: LocalFunction, environment: Readonly<Record<string, string>>, log: number) {
    this.#spec = spec;
    this.#process = fork(CHILD, [pathToFileURL(join(spec.bundleDir, 'index.mjs')).href], {
      env: { ...environment },
      execArgv: ['--no-warnings', `--max-old-space-size=${Math.floor(spec.memoryMegabytes * 0.9)}`],
      stdio: ['ignore', log, log, 'ipc'],
    });
    this.#process.on('message', (answer: Answer) => this.#settle(answer));
    this.#process.on('error', (error) => this.#died(`cannot run: ${error.message}`));
    this.#process.on('exit', (code, signal) => this.#died(code === null ? `signal: ${signal}` : `exit status ${code}`));
  }

  /** Answers the result as JSON text. Rejects with a StateError as Step Functions would see it. */
  call(call: Call): Promise<string> {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    this.#pending = { call, resolve, reject };
    const watch = setInterval(() => this.#watchMemory(), WATCH_MS);
    const left = call.deadlineMs - Date.now();
    const clock = setTimeout(() => this.#ranOut(), Math.min(left, 2 ** 31 - 1));
    this.#process.send(call, (error) => {
      if (error !== null) this.#died(`cannot be reached: ${error.message}`);
    });
    return promise.finally(() => {
      clearInterval(watch);
      clearTimeout(clock);
    });
  }

  kill(): void {
    if (!this.alive) return;
    this.alive = false;
    this.#process.kill('SIGKILL');
  }

  #fail(errorType: string, text: string): void {
    const id = this.#pending?.call.id ?? '';
    this.#verdict ??= functionError(errorType, `RequestId: ${id} Error: ${text}`);
  }

  #watchMemory(): void {
    const resident = residentBytes(this.#process.pid ?? 0) ?? 0;
    if (resident <= this.#spec.memoryMegabytes * MEBIBYTE) return;
    this.#fail(
      'Runtime.OutOfMemory',
      `Runtime exited with error: signal: killed (${Math.round(resident / MEBIBYTE)} of ${this.#spec.memoryMegabytes} MB used)`,
    );
    this.kill();
  }

  #ranOut(): void {
    this.#fail('Sandbox.Timedout', `Task timed out after ${this.#spec.timeoutSeconds}.00 seconds`);
    this.kill();
  }

  #settle(answer: Answer): void {
    const pending = this.#pending;
    if (pending === undefined || pending.call.id !== answer.id) return;
    this.#pending = undefined;
    this.#watchMemory();
    if (this.#verdict !== undefined) pending.reject(this.#verdict);
    else if (answer.error === undefined) pending.resolve(answer.result ?? 'null');
    else pending.reject(functionError(answer.error.type, answer.error.message, answer.error.trace));
  }

  #died(how: string): void {
    this.alive = false;
    this.#fail('Runtime.ExitError', `Runtime exited with error: ${how}`);
    const pending = this.#pending;
    this.#pending = undefined;
    pending?.reject(this.#verdict as Error);
  }
}
