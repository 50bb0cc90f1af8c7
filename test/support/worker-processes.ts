/**
 * Stages called one by one in processes of their own, as bundled and with the limits that the stack states, over buckets of
 * the test's: what one worker needs for one piece of work, measured.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ExecutionRegister, serveRegister } from '#infra/local/machine/executions.ts';
import { LambdaPool } from '#infra/local/machine/lambda-pool.ts';
import { loadMachineFile } from '#infra/local/machine/machine-file.ts';
import { executionArn, functionArn, STATE_MACHINE_ARN } from '#infra/local/machine/names.ts';
import { openRunTable } from '#infra/local/machine/run-table.ts';
import { handlerEnvironment, onThisMachine } from '#infra/local/machine/surroundings.ts';
import type { LocalFunction } from '#infra/local/machine/types.ts';
import type { BucketBackend } from '#infra/local/s3/backend.ts';
import { MemoryBucket } from '#infra/local/s3/memory-bucket.ts';
import { startS3Server } from '#infra/local/s3/server.ts';
import { parseDeployment } from '#shared/run/deployment.ts';
import type { ExecutionContext, RunState, WorkerStep } from '#shared/run/messages.ts';
import { RunArtefacts } from '#shared/run/run-artefacts.ts';
import type { FunctionName } from '#shared/runtime/env.ts';
import { openS3Store } from './open-s3-store.ts';
import { peakOfChild } from './process-peaks.ts';

/** What may travel through the state machine (DESIGN section 2). */
export const MOST_STATE_BYTES = 32 * 1024;

export interface WorkerOptions {
  /** Bucket `b`. */
  readonly tables: BucketBackend;
  /** Bucket `work`. */
  readonly work?: BucketBackend;
}

/** What was seen of the processes of one function. */
export interface Seen {
  calls: number;
  peakMb: number;
  largestStateBytes: number;
  readonly limitMb: number;
}

const EXECUTION = 'measured';
const START: WorkerStep = { done: false, next: '', wait_seconds: 0 };

export class WorkerProcesses {
  readonly seen = new Map<FunctionName, Seen>();
  readonly execution: ExecutionContext;
  readonly #closers: (() => unknown)[];
  readonly #pool: LambdaPool;
  readonly #functions: Readonly<Record<string, LocalFunction>>;
  readonly #endpoint: string;

  static async open(options: WorkerOptions): Promise<WorkerProcesses> {
    const closers: (() => unknown)[] = [];
    const stateDir = mkdtempSync(join(tmpdir(), 'icesweep-workers-'));
    closers.push(() => rmSync(stateDir, { recursive: true, force: true }));
    const file = await loadMachineFile();
    const buckets = { b: options.tables, work: options.work ?? new MemoryBucket() };
    const server = await startS3Server({ buckets });
    closers.push(() => server.close());
    const table = await openRunTable(stateDir, file.runTable);
    closers.push(() => table.close());
    const register = new ExecutionRegister(stateDir);
    const started = new Date().toISOString();
    register.start(EXECUTION, started);
    const registerServer = await serveRegister(register);
    closers.push(() => registerServer.close());
    const machine = {
      stateDir,
      tableS3: { endpoint: server.endpoint, region: 'us-east-1' },
      workS3: { endpoint: server.endpoint, bucket: 'work' },
      deployment: parseDeployment({ local: true }),
      environment: { AWS_ACCESS_KEY_ID: 'local', AWS_SECRET_ACCESS_KEY: 'local' },
    };
    const functions = Object.fromEntries(
      Object.entries(file.functions).map(([arn, stated]) => {
        return [arn, onThisMachine(stated, machine, table.endpoint, registerServer.endpoint)] as const;
      }),
    );
    const pool = new LambdaPool({
      functions,
      environment: handlerEnvironment(machine),
      logDir: join(stateDir, 'logs'),
      processesPerFunction: 1,
    });
    closers.push(() => pool.close());
    return new WorkerProcesses(closers.reverse(), pool, functions, server.endpoint, started);
  }

  private constructor(
    closers: (() => unknown)[],
    pool: LambdaPool,
    functions: Readonly<Record<string, LocalFunction>>,
    endpoint: string,
    start_time: string,
  ) {
    this.#closers = closers;
    this.#pool = pool;
    this.#functions = functions;
    this.#endpoint = endpoint;
    this.execution = { id: executionArn(EXECUTION), name: EXECUTION, start_time, state_machine: STATE_MACHINE_ARN };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const close of this.#closers) await close();
  }

  /** One call. Rejects with a StateError, as Step Functions would see it. */
  async call<Answer>(name: FunctionName, event: unknown): Promise<Answer> {
    const arn = functionArn(name);
    const limitMb = this.#functions[arn]?.memoryMegabytes ?? 0;
    const seen = this.seen.get(name) ?? { calls: 0, peakMb: 0, largestStateBytes: 0, limitMb };
    this.seen.set(name, seen);
    const look = () => {
      seen.peakMb = Math.max(seen.peakMb, peakOfChild(name));
    };
    const watch = setInterval(look, 100);
    try {
      const answer = (await this.#pool.invoke(arn, event)) as Answer;
      seen.largestStateBytes = Math.max(seen.largestStateBytes, Buffer.byteLength(JSON.stringify(answer)));
      return answer;
    } finally {
      clearInterval(watch);
      look();
      seen.calls++;
    }
  }

  /** The plan stage, called until it is done. */
  async plan(input: Readonly<Record<string, unknown>> = {}): Promise<RunState> {
    const whole = { table: 's3://b/wh/t', catalog: { type: 'path' }, dry_run: true, ...input };
    let run: RunState | undefined;
    do {
      const state = run === undefined ? {} : { run };
      run = await this.call<RunState>('plan', { input: whole, state, execution: this.execution });
    } while (run.outcome === 'MORE');
    return run;
  }

  /** A worker of a map, called until it is done. */
  async work(name: FunctionName, run: RunState, item: unknown): Promise<void> {
    let step = START;
    do step = await this.call<WorkerStep>(name, { run, item, step });
    while (!step.done);
  }

  artefacts(run: RunState): RunArtefacts {
    return new RunArtefacts(openS3Store(this.#endpoint), 'work', run.prefix);
  }
}
