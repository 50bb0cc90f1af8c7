/** The one-machine runtime as the command line sees it. */
import type { ItemTable } from '#shared/run/item-table.ts';

export interface MachineOptions {
  /** Folder for records, logs and the register of executions; one process at a time. */
  readonly stateDir: string;
  /** Where the tables lie. Without an endpoint: AWS itself. */
  readonly tableS3: { readonly endpoint?: string; readonly region?: string; readonly pathStyle?: boolean };
  /** The embedded store that holds the work bucket, and the key id that it answers to; absent: to any. */
  readonly workS3: { readonly endpoint: string; readonly bucket: string; readonly accessKeyId?: string };
  /** The person's settings, as `DeploymentSettings` in JSON. */
  readonly deployment: unknown;
  /** Credentials, proxy settings and secrets for the handlers, who see nothing else of this process's environment. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Processes per function; calls beyond wait for one. @default as many as the machine has cores, four at most */
  readonly processesPerFunction?: number;
  /** Waits this long before every retry instead of what the definition says, for tests. */
  readonly retryDelayMs?: number;
  /** Another machine than the project's own, for tests. */
  readonly machineFile?: MachineFile;
}

export type MachineEvent =
  | { readonly type: 'entered' | 'exited'; readonly state: string }
  /** Of a distributed map: children that ended, and how many there are. */
  | {
      readonly type: 'progress';
      readonly state: string;
      readonly done: number;
      readonly failed: number;
      readonly total: number;
    };

export type ExecutionEnd =
  | { readonly status: 'SUCCEEDED'; readonly output: unknown }
  | { readonly status: 'FAILED' | 'ABORTED' | 'TIMED_OUT'; readonly error: string; readonly cause: string };

export interface Execution {
  /** ARN form, as `$$.Execution.Id`. */
  readonly id: string;
  readonly name: string;
  /** Settles when the execution has ended and, for one that was stopped, when that is recorded. Never rejects. */
  readonly result: Promise<ExecutionEnd>;
  /** Listeners hear of what happens from now on. Returns what removes the listener. */
  onEvent(listener: (event: MachineEvent) => void): () => void;
  /** StopExecution: ends it, kills the workers and records the run as ABORTED. */
  stop(): void;
}

export interface Machine {
  /** StartExecution. Without a name one is made from table and time. Throws where the name was used before. */
  run(input: unknown, options?: { readonly name?: string }): Execution;
  /** Records an execution as ABORTED whose process was killed, with what it deleted. */
  recordKilled(name: string): Promise<void>;
  /** The run table, for commands that read records. */
  readonly items: ItemTable;
  /** Where the run table answers DynamoDB clients while the machine runs. */
  readonly itemsEndpoint: string;
  /** Ends processes and servers. Executions that still run are stopped first. */
  close(): Promise<void>;
}

export interface LocalFunction {
  readonly name: string;
  /** Folder with `index.mjs`. */
  readonly bundleDir: string;
  readonly memoryMegabytes: number;
  readonly timeoutSeconds: number;
  readonly environment: Readonly<Record<string, string>>;
}

/** What is kept of a synthesized template. */
export interface MachineFile {
  readonly definition: StateMachineJson;
  /** By the ARN that the definition's tasks name. */
  readonly functions: Readonly<Record<string, LocalFunction>>;
  /** CreateTable's input without the name. */
  readonly runTable: Readonly<Record<string, unknown>>;
}

export type JsonObject = { readonly [key: string]: unknown };

export interface StateMachineJson {
  readonly StartAt: string;
  readonly States: Readonly<Record<string, StateJson>>;
  readonly [field: string]: unknown;
}

export interface StateJson {
  readonly Type: string;
  readonly [field: string]: unknown;
}
