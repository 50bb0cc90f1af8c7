/**
 * The part of Step Functions' protocol (AWS JSON 1.0) that `icesweep start` speaks, on the loopback interface: executions run
 * on a machine of this process, or end as a test wrote down.
 */
import type { Execution, Machine } from '#infra/local/machine/types.ts';
import { type HttpReplies, httpReplies, type Reply } from './http-replies.ts';

const REGION = 'eu-west-1';
const ACCOUNT = '123456789012';
export const STATE_MACHINE = `arn:aws:states:${REGION}:${ACCOUNT}:stateMachine:sweeper`;

interface Ended {
  readonly status: 'SUCCEEDED' | 'FAILED' | 'ABORTED' | 'TIMED_OUT';
  readonly output?: string;
  readonly error?: string;
  readonly cause?: string;
}

interface Started {
  readonly arn: string;
  readonly name: string;
  readonly input: string;
  readonly startDate: number;
  readonly execution?: Execution;
  end?: Ended;
  readonly entered: string[];
  readonly maps: Map<string, { done: number; failed: number; total: number; open: boolean }>;
}

type Request = Readonly<Record<string, unknown>>;

export const refusal = (type: string, message: string, status = 400): Reply => ({
  status,
  json: { __type: type, message },
});
const seconds = (ms: number): number => ms / 1000;

export class StepFunctions {
  readonly #machine: Machine;
  #server: HttpReplies | undefined;
  readonly #started = new Map<string, Started>();
  /** What was asked, in order: `StartExecution`, … */
  readonly asked: string[] = [];
  /** A test's own answer to a call; undefined lets the call through, `'lost'` too, but its answer never arrives. */
  fault: (action: string, request: Request) => Reply | 'lost' | undefined = () => undefined;
  /** How the next execution ends instead of running; `undefined` runs it. `'never'`: it stays RUNNING. */
  next: Ended | 'never' | undefined;

  private constructor(machine: Machine) {
    this.#machine = machine;
  }

  static async open(machine: Machine): Promise<StepFunctions> {
    const endpoint = new StepFunctions(machine);
    endpoint.#server = await httpReplies(({ headers, body }) =>
      endpoint.#answer(String(headers['x-amz-target']), body),
    );
    return endpoint;
  }

  get url(): string {
    return (this.#server as HttpReplies).url;
  }

  close(): PromiseLike<void> {
    return (this.#server as HttpReplies)[Symbol.asyncDispose]();
  }

  /** The newest execution. */
  get latest(): Started {
    return [...this.#started.values()].at(-1) as Started;
  }

  /** As the console's Stop. */
  stop(): void {
    this.latest.execution?.stop();
  }

  #answer(target: string, body: string): Reply {
    const action = target.replace('AWSStepFunctions.', '');
    const request = JSON.parse(body) as Request;
    this.asked.push(action);
    const faulty = this.fault(action, request);
    if (typeof faulty === 'object') return faulty;
    const reply = this.#reply(action, request);
    return faulty === 'lost' ? { cut: true } : reply;
  }

  #reply(action: string, request: Request): Reply {
    if (action === 'StartExecution') return this.#start(request);
    if (action === 'DescribeMapRun') return this.#describeMapRun(String(request['mapRunArn']));
    const started = this.#started.get(String(request['executionArn']));
    if (started === undefined)
      return refusal('ExecutionDoesNotExist', `Execution Does Not Exist: '${request['executionArn']}'`);
    if (action === 'DescribeExecution') return this.#describe(started);
    if (action === 'GetExecutionHistory') return this.#history(started);
    if (action === 'ListMapRuns') return this.#mapRuns(started);
    return refusal('UnknownOperationException', action);
  }

  #start({ stateMachineArn, name, input }: Request): Reply {
    if (stateMachineArn !== STATE_MACHINE)
      return refusal('StateMachineDoesNotExist', `State Machine Does Not Exist: '${stateMachineArn}'`);
    const arn = `arn:aws:states:${REGION}:${ACCOUNT}:execution:sweeper:${name}`;
    const known = this.#started.get(arn);
    if (known !== undefined && (known.end !== undefined || known.input !== input))
      return refusal('ExecutionAlreadyExists', `Execution Already Exists: '${arn}'`);
    const started = known ?? this.#begin(arn, String(name), String(input));
    return { json: { executionArn: arn, startDate: seconds(started.startDate) } };
  }

  #begin(arn: string, name: string, input: string): Started {
    const scripted = this.next;
    this.next = undefined;
    const execution = scripted === undefined ? this.#machine.run(JSON.parse(input), { name }) : undefined;
    const started: Started = {
      arn,
      name,
      input,
      startDate: Date.now(),
      entered: scripted === undefined ? [] : ['PlanRun'],
      maps: new Map(),
      ...(execution === undefined ? {} : { execution }),
      ...(typeof scripted === 'object' ? { end: scripted } : {}),
    };
    this.#started.set(arn, started);
    if (execution !== undefined) this.#watch(execution, started);
    return started;
  }

  #watch(execution: Execution, started: Started): void {
    execution.onEvent((event) => {
      if (event.type === 'entered') started.entered.push(event.state);
      else if (event.type === 'progress') started.maps.set(event.state, { ...event, open: true });
      else {
        const map = started.maps.get(event.state);
        if (map !== undefined) map.open = false;
      }
    });
    execution.result.then((end) => {
      started.end = end.status === 'SUCCEEDED' ? { status: end.status, output: JSON.stringify(end.output) } : end;
    });
  }

  #describe({ arn, name, input, startDate, end }: Started): Reply {
    const common = { executionArn: arn, stateMachineArn: STATE_MACHINE, name, input, startDate: seconds(startDate) };
    return {
      json: { ...common, ...(end === undefined ? { status: 'RUNNING' } : { ...end, stopDate: seconds(Date.now()) }) },
    };
  }

  #history({ entered }: Started): Reply {
    const events = entered.map((state, at) => ({
      id: at + 1,
      timestamp: seconds(Date.now()),
      type: 'TaskStateEntered',
      stateEnteredEventDetails: { name: state },
    }));
    return { json: { events: events.reverse().slice(0, 20) } };
  }

  #mapRuns({ arn, name, maps }: Started): Reply {
    const mapRuns = [...maps].map(([state, { open }]) => ({
      executionArn: arn,
      mapRunArn: `arn:aws:states:${REGION}:${ACCOUNT}:mapRun:sweeper/${state}:${name}`,
      stateMachineArn: STATE_MACHINE,
      startDate: seconds(Date.now()),
      ...(open ? {} : { stopDate: seconds(Date.now()) }),
    }));
    return { json: { mapRuns } };
  }

  #describeMapRun(mapRunArn: string): Reply {
    const [, state = '', name = ''] = /\/([^:]+):(.+)$/.exec(mapRunArn) ?? [];
    const map = [...this.#started.values()].find((started) => started.name === name)?.maps.get(state);
    if (map === undefined) return refusal('ResourceNotFound', `Resource not found: '${mapRunArn}'`);
    const itemCounts = {
      pending: map.total - map.done,
      running: 0,
      succeeded: map.done - map.failed,
      failed: map.failed,
      timedOut: 0,
      aborted: 0,
      total: map.total,
      resultsWritten: map.done,
    };
    return { json: { mapRunArn, status: map.open ? 'RUNNING' : 'SUCCEEDED', itemCounts, executionCounts: itemCounts } };
  }
}
