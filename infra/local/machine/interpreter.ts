/**
 * Runs a definition of the Amazon States Language: `aws-local-stepfunctions` does the states, this adapter what it lacks:
 * distributed maps, the context object, the size limit, and functions by ARN.
 */
import { ExecutionError, StateMachine, type StateMachineDefinition } from 'aws-local-stepfunctions';
import { unsupportedFields } from './check-fields.ts';
import { type ChildResult, type MapInput, runDistributedMap } from './distributed-map.ts';
import { withinStateLimit } from './errors.ts';
import { STATE_MACHINE_ARN, STATE_MACHINE_NAME, WORK_BUCKET_PLACEHOLDER } from './names.ts';
import type { MachineEvent, StateJson, StateMachineJson } from './types.ts';
import type { WorkObjects } from './work-objects.ts';

export interface ExecutionFrame {
  readonly id: string;
  readonly name: string;
  readonly startTime: string;
  readonly input: unknown;
  readonly signal: AbortSignal;
  emit(event: MachineEvent): void;
}

export interface InterpreterOptions {
  readonly definition: StateMachineJson;
  readonly functionArns: readonly string[];
  readonly workBucket: string;
  readonly work: WorkObjects;
  readonly retryDelayMs?: number | undefined;
  /** Rejects with a StateError. */
  invoke(arn: string, payload: unknown, signal: AbortSignal): Promise<unknown>;
}

type Handlers = Record<string, (input: never) => Promise<unknown>>;

/** The interpreter's timers overflow above this, and its own default for a task is a minute. */
const LONGEST_SECONDS = 2_000_000;

/** The interpreter writes a start time of its own into the context; ours is the one that the register knows. */
function withOurStartTime(text: string): string {
  return text.replaceAll('$$.Execution.StartTime', () => '$$.Started.At');
}

/**
 * A function's own limit is kept by the process that runs it, from the moment it runs: a state's timeout would count the
 * time that a call waits for a process, which Lambda does not have.
 */
function withoutTimeout(state: StateJson): StateJson {
  return { ...state, TimeoutSeconds: LONGEST_SECONDS };
}

const MAP_FIELDS = new Set([
  'ItemProcessor',
  'ItemReader',
  'ItemSelector',
  'ResultWriter',
  'MaxConcurrency',
  'MaxConcurrencyPath',
  'ToleratedFailurePercentage',
  'ToleratedFailureCount',
  'Label',
]);

/** The map's own fields that hold paths, as Parameters of a task, so that the interpreter evaluates them. */
function mapAsTask(state: StateJson): StateJson {
  const { ItemReader, ResultWriter, MaxConcurrency, MaxConcurrencyPath } = state;
  const kept = Object.entries(state).filter(([field]) => !MAP_FIELDS.has(field));
  return withoutTimeout({
    ...Object.fromEntries(kept),
    Type: 'Task',
    Resource: 'distributed-map',
    Parameters: {
      'input.$': '$',
      reader: (ItemReader as { Parameters: unknown }).Parameters,
      writer: (ResultWriter as { Parameters: unknown }).Parameters,
      ...(MaxConcurrencyPath === undefined
        ? { concurrency: MaxConcurrency ?? 0 }
        : { 'concurrency.$': MaxConcurrencyPath }),
    },
  });
}

function prepare(states: Readonly<Record<string, StateJson>>): Record<string, StateJson> {
  return Object.fromEntries(
    Object.entries(states).map(([name, state]) => {
      if (state.Type === 'Task') return [name, withoutTimeout(state)];
      return [name, state.Type === 'Map' ? mapAsTask(state) : state];
    }),
  );
}

interface Level {
  readonly machine: StateMachine;
  readonly states: Readonly<Record<string, StateJson>>;
  /** Of each map by its name. */
  readonly children: ReadonlyMap<string, Level>;
}

export class Interpreter {
  readonly #options: InterpreterOptions;
  readonly #top: Level;

  /** Throws an Error that lists every field of the definition that would not be run as on AWS. */
  constructor(options: InterpreterOptions) {
    this.#options = options;
    const faults = unsupportedFields(options.definition, options.functionArns);
    if (faults.length > 0) throw new Error(`The one-machine runtime does not implement: ${faults.join('; ')}`);
    const text = withOurStartTime(JSON.stringify(options.definition)).replaceAll(
      WORK_BUCKET_PLACEHOLDER,
      options.workBucket,
    );
    this.#top = this.#level(JSON.parse(text) as StateMachineJson);
  }

  #level(definition: StateMachineJson): Level {
    const seconds = definition['TimeoutSeconds'] as number | undefined;
    const prepared = {
      StartAt: definition.StartAt,
      States: prepare(definition.States),
      ...(seconds === undefined ? {} : { TimeoutSeconds: Math.min(seconds, LONGEST_SECONDS) }),
    };
    const maps = Object.entries(definition.States).filter(([, state]) => state.Type === 'Map');
    return {
      machine: new StateMachine(prepared as unknown as StateMachineDefinition, {
        validationOptions: { noValidate: true },
      }),
      states: definition.States,
      children: new Map(maps.map(([name, state]) => [name, this.#level(state['ItemProcessor'] as StateMachineJson)])),
    };
  }

  /** Rejects with an ExecutionError, ExecutionAbortedError or ExecutionTimeoutError of the interpreter. */
  async run(frame: ExecutionFrame): Promise<unknown> {
    const signalled = new AbortController();
    const signal = AbortSignal.any([frame.signal, signalled.signal]);
    try {
      const emit = (event: MachineEvent): void => frame.emit(event);
      return await this.#runLevel(this.#top, { ...frame, signal }, frame.input, emit);
    } finally {
      // Whatever still works for an execution that ended works for nobody.
      signalled.abort();
    }
  }

  async #runLevel(
    level: Level,
    frame: ExecutionFrame,
    input: unknown,
    emit?: (event: MachineEvent) => void,
  ): Promise<unknown> {
    const running = level.machine.run(input as never, {
      overrides: { taskResourceLocalHandlers: this.#handlers(level, frame) as never, ...this.#retryDelays(level) },
      context: {
        Execution: { Id: frame.id, Name: frame.name },
        StateMachine: { Id: STATE_MACHINE_ARN, Name: STATE_MACHINE_NAME },
        Started: { At: frame.startTime },
      },
    });
    const abort = (): void => running.abort();
    if (frame.signal.aborted) abort();
    frame.signal.addEventListener('abort', abort, { once: true });
    const told = this.#tell(running.eventLogs, emit);
    try {
      return withinStateLimit(await running.result, 'The output of the execution');
    } finally {
      frame.signal.removeEventListener('abort', abort);
      await told;
    }
  }

  #retryDelays(level: Level): { retryIntervalOverrides?: Record<string, number> } {
    const { retryDelayMs } = this.#options;
    if (retryDelayMs === undefined) return {};
    return {
      retryIntervalOverrides: Object.fromEntries(Object.keys(level.states).map((name) => [name, retryDelayMs])),
    };
  }

  /** The log is read to its end in any case, since it queues what nobody reads. */
  async #tell(log: AsyncGenerator<{ type: string }>, emit: ((event: MachineEvent) => void) | undefined): Promise<void> {
    for await (const event of log) {
      const state = (event as { state?: { name: string } }).state?.name;
      if (emit === undefined || state === undefined) continue;
      if (event.type === 'StateEntered') emit({ type: 'entered', state });
      if (event.type === 'StateExited' || event.type === 'StateCaught') emit({ type: 'exited', state });
    }
  }

  #handlers(level: Level, frame: ExecutionFrame): Handlers {
    const handlers: Handlers = {};
    for (const [name, state] of Object.entries(level.states)) {
      if (state.Type === 'Task') handlers[name] = (input) => this.#call(state, input, frame);
      const children = level.children.get(name);
      if (children !== undefined) handlers[name] = (input) => this.#map(name, state, children, input, frame);
    }
    return handlers;
  }

  async #call(state: StateJson, payload: unknown, frame: ExecutionFrame): Promise<unknown> {
    withinStateLimit(payload, 'The input of a task');
    const result = await this.#options.invoke(state['Resource'] as string, payload, frame.signal);
    return withinStateLimit(result, 'The output of a task');
  }

  #map(name: string, state: StateJson, children: Level, input: MapInput, frame: ExecutionFrame): Promise<unknown> {
    return runDistributedMap(name, state, input, {
      work: this.#options.work,
      signal: frame.signal,
      progress: (counts) => frame.emit({ type: 'progress', state: name, ...counts }),
      runChild: (childInput, signal) => this.#runChild(children, { ...frame, signal }, childInput),
    });
  }

  async #runChild(level: Level, frame: ExecutionFrame, input: unknown): Promise<ChildResult> {
    try {
      return { output: await this.#runLevel(level, frame, input) };
    } catch (thrown) {
      return { error: errorOf(thrown) };
    }
  }
}

/** Name and Cause of what an execution failed with. */
export function errorOf(thrown: unknown): { readonly name: string; readonly cause: string } {
  const error = thrown instanceof ExecutionError && thrown.cause instanceof Error ? thrown.cause : thrown;
  if (error instanceof Error) return { name: error.name, cause: error.message };
  return { name: 'States.Runtime', cause: String(error) };
}
