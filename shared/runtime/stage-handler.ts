/** The frame of every Lambda handler, and the only place that knows middy and Powertools. */
import { Logger } from '@aws-lambda-powertools/logger';
import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import middy from '@middy/core';
import { ServiceUnavailableError } from '#shared/errors.ts';
import { type AnyFunctionEnv, type FunctionName, readEnv } from './env.ts';
import { leaveFailureNote } from './failure-note.ts';
import { METRIC_NAMESPACE } from './metric-names.ts';
import { type LongLivedPorts, openPorts } from './ports.ts';
import { shapeError } from './shape-error.ts';
import type { MetricName, StageLog, StageMetrics, StagePorts } from './stage-ports.ts';
import { openTracer } from './tracing.ts';

/** Before this much time is left the stage must have answered by itself; then the frame speaks for it. */
const LAST_NET_MS = 1500;

export interface InvocationContext {
  readonly awsRequestId: string;
  getRemainingTimeInMillis(): number;
}

const UNITS: Partial<Record<MetricName, (typeof MetricUnit)[keyof typeof MetricUnit]>> = {
  OrphanBytes: MetricUnit.Bytes,
  DeletedBytes: MetricUnit.Bytes,
  OrphanPercent: MetricUnit.Percent,
  ShardFillRatio: MetricUnit.Percent,
  RunDuration: MetricUnit.Milliseconds,
};

interface Subject {
  readonly run_id?: string;
  readonly table?: string;
}

/** Which run and table an event is about, wherever the state machine put it. */
function subjectOf(event: unknown): Subject {
  const seen = event as {
    readonly run?: Subject;
    readonly state?: { readonly run?: Subject };
    readonly execution?: { readonly name?: string };
    readonly input?: { readonly table?: unknown };
  } | null;
  const run = seen?.run ?? seen?.state?.run;
  const table = run?.table ?? seen?.input?.table;
  const runId = run?.run_id ?? seen?.execution?.name;
  return {
    ...(typeof runId === 'string' ? { run_id: runId } : {}),
    ...(typeof table === 'string' ? { table } : {}),
  };
}

function stageLog(logger: Logger): StageLog {
  return {
    info: (message, fields = {}) => logger.info(message, fields),
    warn: (message, fields = {}) => logger.warn(message, fields),
    error: (message, fields = {}) => logger.error(message, fields),
  };
}

function stageMetrics(metrics: Metrics, subject: Subject): StageMetrics {
  // A second set of dimensions, so that alarms on the whole fleet need no sum over tables.
  if (subject.table !== undefined) metrics.addDimensions({ Table: subject.table });
  if (subject.run_id !== undefined) metrics.addMetadata('run_id', subject.run_id);
  return {
    add: (name, value, table) => {
      const target = table === undefined ? metrics : metrics.singleMetric();
      if (table !== undefined) target.addDimension('Table', table);
      target.addMetric(name, UNITS[name] ?? MetricUnit.Count, value);
    },
  };
}

function ranOutOfTime(): never {
  throw new ServiceUnavailableError('The worker ran out of time before it could say how far it had come.', {
    next: 'It is started again; if this repeats, give the function more time or the run smaller shards.',
  });
}

/** One process's frame: clients live as long as it does, everything else as long as one invocation. */
class StageFrame {
  readonly #stage: FunctionName;
  readonly #logger = new Logger();
  readonly #metrics = new Metrics({ namespace: METRIC_NAMESPACE });
  #ports: LongLivedPorts | undefined;

  constructor(stage: FunctionName) {
    this.#stage = stage;
  }

  async invoke<Event, Result>(
    event: Event,
    context: InvocationContext,
    run: (event: Event, ports: StagePorts) => Promise<Result>,
  ): Promise<Result> {
    const subject = subjectOf(event);
    this.#logger.resetKeys();
    this.#logger.appendKeys({ ...subject, stage: this.#stage, request_id: context.awsRequestId });
    const log = stageLog(this.#logger);
    let ports: StagePorts | undefined;
    try {
      this.#ports ??= openPorts(readEnv(this.#stage) as AnyFunctionEnv, log.warn);
      const budget = { remainingMs: () => Math.max(0, context.getRemainingTimeInMillis() - LAST_NET_MS) };
      ports = { ...this.#ports, log, metrics: stageMetrics(this.#metrics, subject), budget };
      return await run(event, ports);
    } catch (thrown) {
      const error = shapeError(thrown);
      this.#logger.error('Stage failed', error);
      if (ports !== undefined) await leaveFailureNote(this.#stage, event, error, ports);
      throw error;
    } finally {
      this.#metrics.publishStoredMetrics();
    }
  }
}

/**
 * Makes a Lambda handler of a stage. It gives the stage its ports and the time left, logs with run, table and stage, sends
 * the metrics, and lets errors out under the names of `shared/errors.ts`.
 */
export function stageHandler<Event, Result>(
  stage: FunctionName,
  run: (event: Event, ports: StagePorts) => Promise<Result>,
): (event: Event, context: InvocationContext) => Promise<Result> {
  const frame = new StageFrame(stage);
  const tracer = openTracer();
  const handler = middy({ timeoutEarlyInMillis: LAST_NET_MS / 2, timeoutEarlyResponse: ranOutOfTime }).handler(
    (event: unknown, context: unknown) =>
      tracer(stage, () => frame.invoke(event as Event, context as InvocationContext, run)),
  );
  return handler as unknown as (event: Event, context: InvocationContext) => Promise<Result>;
}
