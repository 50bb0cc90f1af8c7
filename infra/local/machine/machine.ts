/** The one-machine runtime: the synthesized state machine with the bundled handlers, records on disk, S3 by endpoint. */
import { randomUUID } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { ExecutionAbortedError, ExecutionTimeoutError } from 'aws-local-stepfunctions';
import { tableSegment } from '#shared/run/artefacts.ts';
import { ExecutionRegister, type RegisterServer, serveRegister } from './executions.ts';
import { errorOf, Interpreter } from './interpreter.ts';
import { LambdaPool } from './lambda-pool.ts';
import { LocalExecution } from './local-execution.ts';
import { loadMachineFile } from './machine-file.ts';
import { executionArn, functionArn, STATE_MACHINE_ARN } from './names.ts';
import { openRunTable, type RunTableServer } from './run-table.ts';
import { handlerEnvironment, onThisMachine } from './surroundings.ts';
import type { Execution, ExecutionEnd, Machine, MachineFile, MachineOptions } from './types.ts';
import { openWorkObjects } from './work-objects.ts';

function nameFor(input: unknown): string {
  const table = (input as { table?: unknown } | null)?.table;
  const readable = typeof table === 'string' ? tableSegment(table).replace(/[^A-Za-z0-9_-]+/g, '-') : 'run';
  const time = new Date().toISOString().replace(/[-:]|\.\d+/g, '');
  return `${readable.slice(-50).replace(/^-+/, '')}-${time}-${randomUUID().slice(0, 6)}`;
}

class LocalMachine implements Machine {
  readonly #interpreter: Interpreter;
  readonly #pool: LambdaPool;
  readonly #register: ExecutionRegister;
  readonly #table: RunTableServer;
  readonly #registerServer: RegisterServer;
  readonly #running = new Set<LocalExecution>();

  constructor(
    file: MachineFile,
    options: MachineOptions,
    table: RunTableServer,
    register: ExecutionRegister,
    server: RegisterServer,
  ) {
    this.#table = table;
    this.#register = register;
    this.#registerServer = server;
    const functions = Object.entries(file.functions).map(
      ([arn, spec]) => [arn, onThisMachine(spec, options, table.endpoint, server.endpoint)] as const,
    );
    this.#pool = new LambdaPool({
      functions: Object.fromEntries(functions),
      environment: handlerEnvironment(options),
      logDir: join(options.stateDir, 'logs'),
      processesPerFunction: options.processesPerFunction ?? Math.min(4, availableParallelism()),
    });
    this.#interpreter = new Interpreter({
      definition: file.definition,
      functionArns: Object.keys(file.functions),
      workBucket: options.workS3.bucket,
      work: openWorkObjects(options.workS3),
      retryDelayMs: options.retryDelayMs,
      invoke: (arn, payload, signal) => this.#pool.invoke(arn, payload, signal),
    });
  }

  get items(): RunTableServer['items'] {
    return this.#table.items;
  }

  get itemsEndpoint(): string {
    return this.#table.endpoint;
  }

  run(input: unknown, options: { readonly name?: string } = {}): Execution {
    const execution = new LocalExecution(options.name ?? nameFor(input));
    this.#register.start(execution.name, execution.startDate.toISOString(), input);
    this.#running.add(execution);
    execution.result = this.#follow(execution, input).finally(() => this.#running.delete(execution));
    this.#warmAhead(execution);
    return execution;
  }

  /** Loading a bundle takes as long as a small stage, so the next one's process starts while a stage works. */
  #warmAhead(execution: LocalExecution): void {
    const next: Readonly<Record<string, string>> = {
      PlanRun: 'scan',
      ScanManifests: 'build',
      BuildFilters: 'list',
      ListStorage: 'evaluate',
      EvaluateRun: 'record',
      RecheckTable: 'delete',
    };
    this.#pool.warm(functionArn('plan'));
    execution.onEvent((event) => {
      const stage = event.type === 'entered' ? next[event.state] : undefined;
      if (stage !== undefined) this.#pool.warm(functionArn(stage));
    });
  }

  async #follow(execution: LocalExecution, input: unknown): Promise<ExecutionEnd> {
    const end = await this.#settle(execution, input);
    if (end.status !== 'SUCCEEDED') await this.#recordFromOutside(execution.name, execution.startDate, input, end);
    const { status } = end;
    this.#register.end(
      execution.name,
      end.status === 'SUCCEEDED' ? { status } : { status, error: end.error, cause: end.cause },
    );
    return end;
  }

  async #settle(execution: LocalExecution, input: unknown): Promise<ExecutionEnd> {
    try {
      const output = await this.#interpreter.run({
        id: execution.id,
        name: execution.name,
        startTime: execution.startDate.toISOString(),
        input,
        signal: execution.stopping.signal,
        emit: (event) => execution.emit(event),
      });
      return { status: 'SUCCEEDED', output };
    } catch (thrown) {
      if (thrown instanceof ExecutionAbortedError || execution.stopping.signal.aborted) {
        return { status: 'ABORTED', error: 'ExecutionAborted', cause: 'The execution was stopped.' };
      }
      if (thrown instanceof ExecutionTimeoutError) {
        return { status: 'TIMED_OUT', error: 'States.Timeout', cause: 'The execution ran out of time.' };
      }
      const { name, cause } = errorOf(thrown);
      return { status: 'FAILED', error: name, cause };
    }
  }

  /** What the EventBridge rule does in a deployment: no state of the execution itself runs any more. */
  async #recordFromOutside(
    name: string,
    startDate: Date,
    input: unknown,
    { status, error, cause }: Exclude<ExecutionEnd, { status: 'SUCCEEDED' }>,
  ): Promise<void> {
    const event = {
      source: 'aws.states',
      'detail-type': 'Step Functions Execution Status Change',
      detail: {
        executionArn: executionArn(name),
        stateMachineArn: STATE_MACHINE_ARN,
        name,
        status,
        startDate: startDate.getTime(),
        input: JSON.stringify(input),
        error,
        cause,
      },
    };
    try {
      await this.#pool.invoke(functionArn('record'), event);
    } catch {
      // The log of the record function has the reason; the next run of the table finds a holder that no longer runs.
    }
  }

  async recordKilled(name: string): Promise<void> {
    const found = this.#register.describe(name);
    if (found?.error !== 'ProcessGone') return;
    const end = { status: 'ABORTED', error: 'ProcessGone', cause: found.cause ?? '' } as const;
    await this.#recordFromOutside(name, new Date(found.startDate), found.input, end);
    this.#register.end(name, end);
  }

  async close(): Promise<void> {
    for (const execution of this.#running) execution.stop();
    await Promise.all([...this.#running].map((execution) => execution.result));
    this.#pool.close();
    await Promise.all([this.#registerServer.close(), this.#table.close()]);
  }
}

/** Starts the runtime over a state folder. The caller holds the folder's lock and runs the embedded store. */
export async function startMachine(options: MachineOptions): Promise<Machine> {
  const file = options.machineFile ?? (await loadMachineFile());
  const register = new ExecutionRegister(options.stateDir);
  const [table, server] = await Promise.all([openRunTable(options.stateDir, file.runTable), serveRegister(register)]);
  try {
    return new LocalMachine(file, options, table, register, server);
  } catch (error) {
    await Promise.all([table.close(), server.close()]);
    throw error;
  }
}
