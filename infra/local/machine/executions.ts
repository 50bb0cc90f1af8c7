/**
 * The register of executions in the state folder, and the small part of the Step Functions API over it that the handlers'
 * own client asks: DescribeExecution. An execution whose process is gone has ended, whatever its file says.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { isProcessAlive, startedTicks } from '../state/processes.ts';
import { executionArn, isExecutionName, STATE_MACHINE_ARN } from './names.ts';

export interface RegisteredExecution {
  readonly name: string;
  readonly status: 'RUNNING' | 'SUCCEEDED' | 'FAILED' | 'ABORTED' | 'TIMED_OUT';
  readonly startDate: string;
  readonly stopDate?: string;
  /** Of the process that runs it, with its start time, since numbers are used again. */
  readonly pid: number;
  readonly processStart: string;
  readonly input?: unknown;
  readonly error?: string;
  readonly cause?: string;
}

export class ExecutionRegister {
  readonly #dir: string;

  constructor(stateDir: string) {
    this.#dir = join(stateDir, 'executions');
    mkdirSync(this.#dir, { recursive: true });
  }

  #file(name: string): string {
    return join(this.#dir, `${name}.json`);
  }

  #write(execution: RegisteredExecution): void {
    const file = this.#file(execution.name);
    writeFileSync(`${file}.new`, JSON.stringify(execution));
    renameSync(`${file}.new`, file);
  }

  /** Throws where the name is taken: names are not used twice. */
  start(name: string, startDate: string, input?: unknown): void {
    if (!isExecutionName(name)) {
      throw new Error(`"${name}" is no execution name: 1 to 80 letters, digits, "-" and "_"`);
    }
    if (existsSync(this.#file(name))) throw new Error(`ExecutionAlreadyExists: ${executionArn(name)}`);
    this.#write({
      name,
      status: 'RUNNING',
      startDate,
      pid: process.pid,
      processStart: startedTicks(process.pid) ?? '',
      input,
    });
  }

  end(name: string, end: { status: RegisteredExecution['status']; error?: string; cause?: string }): void {
    const started = this.#read(name);
    if (started === undefined) return;
    this.#write({ ...started, ...end, stopDate: new Date().toISOString() });
  }

  /** A note that a crash of the machine left half-written tells of no execution that runs. */
  #read(name: string): RegisteredExecution | undefined {
    if (!isExecutionName(name) || !existsSync(this.#file(name))) return undefined;
    try {
      return (JSON.parse(readFileSync(this.#file(name), 'utf8')) as RegisteredExecution | null) ?? undefined;
    } catch (error) {
      if (error instanceof SyntaxError) return undefined;
      throw error;
    }
  }

  /** As DescribeExecution would say it; undefined for one that was never started here. */
  describe(name: string): RegisteredExecution | undefined {
    const found = this.#read(name);
    if (found?.status !== 'RUNNING' || isProcessAlive(found.pid, found.processStart)) return found;
    return { ...found, status: 'ABORTED', error: 'ProcessGone', cause: `Process ${found.pid}, which ran it, is gone.` };
  }

  /** Names of executions whose process was killed before their end was written, oldest first. */
  killed(): string[] {
    const found = readdirSync(this.#dir)
      .filter((file) => file.endsWith('.json'))
      .flatMap((file) => this.describe(file.slice(0, -'.json'.length)) ?? []);
    return found
      .filter(({ error, stopDate, input }) => error === 'ProcessGone' && stopDate === undefined && input !== undefined)
      .sort((left, right) => (left.startDate < right.startDate ? -1 : 1))
      .map(({ name }) => name);
  }
}

export interface RegisterServer {
  readonly endpoint: string;
  close(): Promise<void>;
}

function reply(register: ExecutionRegister, target: string, body: string): { status: number; json: unknown } {
  if (target !== 'AWSStepFunctions.DescribeExecution') {
    return { status: 400, json: { __type: 'UnknownOperationException', message: target } };
  }
  const arn = String((JSON.parse(body) as { executionArn?: unknown }).executionArn);
  const found = register.describe(arn.split(':').pop() ?? '');
  if (found === undefined || executionArn(found.name) !== arn) {
    return { status: 400, json: { __type: 'ExecutionDoesNotExist', message: `Execution Does Not Exist: '${arn}'` } };
  }
  const seconds = (date: string): number => Date.parse(date) / 1000;
  return {
    status: 200,
    json: {
      executionArn: arn,
      stateMachineArn: STATE_MACHINE_ARN,
      name: found.name,
      status: found.status,
      startDate: seconds(found.startDate),
      ...(found.stopDate === undefined ? {} : { stopDate: seconds(found.stopDate) }),
      ...(found.error === undefined ? {} : { error: found.error, cause: found.cause }),
    },
  };
}

/** Serves the register under the protocol of the Step Functions client. */
export async function serveRegister(register: ExecutionRegister): Promise<RegisterServer> {
  const server: Server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const { status, json } = reply(
        register,
        String(request.headers['x-amz-target']),
        Buffer.concat(parts).toString(),
      );
      response.writeHead(status, { 'content-type': 'application/x-amz-json-1.0' }).end(JSON.stringify(json));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
