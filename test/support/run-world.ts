/**
 * Whole runs in this process: the stages in the order of the state machine, with its loops, retries and failure path, over
 * in-process stores and a virtual clock. Faults are ordered through the stores' hooks.
 */
import { buildFilter } from '#functions/build/build-filter.ts';
import { deleteBatch } from '#functions/delete/delete-batch.ts';
import { probeDelete } from '#functions/delete/probe-delete.ts';
import { evaluateRun } from '#functions/evaluate/evaluate-run.ts';
import { listShard } from '#functions/list/list-shard.ts';
import { planRun } from '#functions/plan/plan-run.ts';
import { recheckTable } from '#functions/recheck/recheck-table.ts';
import { recordFailure, recordRun } from '#functions/record/record-run.ts';
import { scanShard } from '#functions/scan/scan-shard.ts';
import { parseDeployment } from '#shared/run/deployment.ts';
import type { EvaluationState, RecordEvent, RunState, WorkerStep } from '#shared/run/messages.ts';
import type { RunRecord } from '#shared/run/record.ts';
import { findRecord } from '#shared/run/run-store.ts';
import { leaveFailureNote } from '#shared/runtime/failure-note.ts';
import { shapeError } from '#shared/runtime/shape-error.ts';
import type { StagePorts } from '#shared/runtime/stage-ports.ts';
import { MemoryItemTable } from './memory-item-table.ts';
import { MemoryStore } from './memory-store.ts';
import { type Sink, TableWriter, type TableWriterOptions } from './table-writer.ts';

export const DAY_MS = 86_400_000;
export const START_MS = Date.UTC(2026, 0, 31);

export type StageName = 'plan' | 'probe' | 'scan' | 'build' | 'list' | 'evaluate' | 'recheck' | 'delete' | 'record';

/** Thrown by a hook to end the whole run where it stands, as a lost machine does: nothing catches it. */
export class KilledError extends Error {
  override readonly name = 'KilledError';
}

export interface RunResult {
  readonly record: RunRecord;
  /** The error and cause of the Fail state, where the execution failed. */
  readonly failure?: { readonly error: string; readonly cause: string };
  readonly state: RunState | undefined;
}

const RETRIES = 4;
const DONE: WorkerStep = { done: false, next: '', wait_seconds: 0 };

export class RunWorld {
  readonly tables: MemoryStore;
  readonly work: MemoryStore;
  readonly items = new MemoryItemTable();
  readonly events: { readonly type: string; readonly detail: Readonly<Record<string, unknown>> }[] = [];
  readonly metrics = new Map<string, number>();
  nowMs = START_MS;
  /** Time of files that the table's writer writes now; 0: the clock's. */
  writeMs = START_MS - 60 * DAY_MS;
  deployment = parseDeployment({ dry_run: false, local: true });
  remainingMs: () => number = () => 900_000;
  /** Told before each stage call; may throw, or change the world. */
  onStage: (stage: StageName, item: number, event: unknown) => void | Promise<void> = () => undefined;
  /** Executions that still run, by name. */
  readonly running = new Set<string>();
  #runs = 0;

  constructor() {
    this.tables = new MemoryStore({ now: () => this.nowMs });
    this.work = new MemoryStore({ now: () => this.nowMs });
    this.work.createBucket('work');
    this.tables.createBucket('b');
  }

  get sink(): Sink {
    return { put: (bucket, key, bytes) => this.tables.seed(bucket, key, bytes, this.writeMs || this.nowMs) };
  }

  /** A table whose files are old unless `writeMs` says otherwise. */
  async table(options: Partial<TableWriterOptions> = {}): Promise<TableWriter> {
    const writer = new TableWriter(this.sink, {
      location: 's3://b/wh/t',
      ...options,
    });
    return writer.create();
  }

  get ports(): StagePorts {
    const quiet = () => undefined;
    return {
      tables: this.tables,
      work: this.work,
      workBucket: 'work',
      items: this.items,
      deployment: this.deployment,
      clock: {
        now: () => this.nowMs,
        sleep: async (ms) => {
          this.nowMs += ms;
        },
      },
      budget: { remainingMs: () => this.remainingMs() },
      log: { info: quiet, warn: quiet, error: quiet },
      metrics: { add: (name, value) => void this.metrics.set(name, (this.metrics.get(name) ?? 0) + value) },
      executions: { status: async (id) => (this.running.has(id) ? 'running' : 'ended') },
      events: { publish: async (type, detail) => void this.events.push({ type, detail }) },
      secrets: { read: async () => '' },
      deletingStore: async () => this.tables,
    };
  }

  /** One execution, with a record at its end. The input's `table` and catalog default to the table at `s3://b/wh/t`. */
  async run(input: Readonly<Record<string, unknown>> = {}, name = `run-${++this.#runs}`): Promise<RunResult> {
    const execution = { id: name, name, start_time: new Date(this.nowMs).toISOString(), state_machine: 'local' };
    const full = { table: 's3://b/wh/t', catalog: { type: 'path' }, older_than: '1d', ...input };
    this.running.add(name);
    const state: { run?: RunState; evaluation?: EvaluationState; error?: { Error: string; Cause: string } } = {};
    try {
      try {
        const refused = await this.#work(full, execution, state);
        if (!refused) {
          const event: RecordEvent = { input: full, execution, state, record: 'run' };
          const record = await this.#call('record', 0, event, () => recordRun(event, this.ports));
          return { record, state: state.run };
        }
      } catch (error) {
        if (error instanceof KilledError) throw error;
        const shaped = shapeError(error);
        state.error = { Error: shaped.name, Cause: JSON.stringify({ errorMessage: shaped.message }) };
      }
      const event: RecordEvent = { input: full, execution, state, record: 'failure' };
      const failure = await this.#call('record', 0, event, () => recordFailure(event, this.ports));
      // The test's own look at the record is no call of the product.
      const { hooks } = this.items;
      this.items.hooks = {};
      const record = (await findRecord(this.items, name)) as RunRecord;
      this.items.hooks = hooks;
      return { record, failure, state: state.run };
    } finally {
      this.running.delete(name);
    }
  }

  /** What the rule on aborted executions does for a run that was killed. */
  async recordAbort(
    name: string,
    input: Readonly<Record<string, unknown>> = {},
    startMs = this.nowMs,
    error = { Error: 'ExecutionAborted', Cause: 'The execution was stopped from outside.' },
  ): Promise<RunRecord> {
    const execution = { id: name, name, start_time: new Date(startMs).toISOString(), state_machine: 'local' };
    const full = { table: 's3://b/wh/t', catalog: { type: 'path' }, older_than: '1d', ...input };
    await recordFailure({ input: full, execution, state: { error }, record: 'ended' }, this.ports);
    return (await findRecord(this.items, name)) as RunRecord;
  }

  /** True for a refusal by evaluate. */
  async #work(
    input: Readonly<Record<string, unknown>>,
    execution: RecordEvent['execution'],
    state: { run?: RunState; evaluation?: EvaluationState },
  ): Promise<boolean> {
    do {
      const event = { input, state: { ...state }, execution };
      state.run = await this.#call('plan', 0, event, () => planRun(event, this.ports));
    } while (state.run.outcome === 'MORE');
    if (state.run.outcome === 'SKIPPED') return false;
    if (state.run.deleting) {
      const event = { run: state.run, probe: true as const };
      await this.#call('probe', 0, event, () => probeDelete(event, this.ports));
    }
    if (state.run.outcome === 'PLANNED' && !(await this.#mark(state))) return state.evaluation?.verdict === 'REFUSED';
    const run = state.run;
    await this.#call('recheck', 0, { run }, () =>
      recheckTable({ run, evaluation: { plan_digest: run.plan_digest } }, this.ports),
    );
    for (const item of await this.#items<{ batch: number }>(run.batches_key)) {
      // Failures of batches are tolerated; the record stage tells what they mean.
      await this.#loop('delete', item.batch, run, item, (event) => deleteBatch(event, this.ports)).catch(
        (error: unknown) => {
          if (error instanceof KilledError) throw error;
        },
      );
    }
    return false;
  }

  /** Scan, build, list, evaluate; true when the run goes on to delete. */
  async #mark(state: { run?: RunState; evaluation?: EvaluationState }): Promise<boolean> {
    const run = state.run as RunState;
    for (const item of await this.#items<{ shard: number }>(run.scan_items_key)) {
      await this.#loop('scan', item.shard, run, item, (event) => scanShard(event, this.ports));
    }
    for (const item of await this.#items<{ range: number }>(run.build_items_key)) {
      await this.#loop('build', item.range, run, item, (event) => buildFilter(event, this.ports));
    }
    for (const item of await this.#items<never>(run.list_items_key)) {
      await this.#loop('list', (item as { shard: number }).shard, run, item, (event) => listShard(event, this.ports));
    }
    let step: WorkerStep = DONE;
    do {
      const event = { run, step };
      state.evaluation = await this.#call('evaluate', 0, event, () => evaluateRun(event, this.ports));
      step = state.evaluation;
    } while (!step.done);
    const { verdict, batches_key, plan_digest } = state.evaluation;
    state.run = { ...run, batches_key, plan_digest };
    return verdict === 'DELETE';
  }

  async #loop<Item>(
    stage: StageName,
    number: number,
    run: RunState,
    item: Item,
    work: (event: { run: RunState; item: Item; step: WorkerStep }) => Promise<WorkerStep>,
  ): Promise<void> {
    let step: WorkerStep = DONE;
    do {
      const event = { run, item, step };
      step = await this.#call(stage, number, event, () => work(event));
      this.nowMs += step.wait_seconds * 1000;
    } while (!step.done);
  }

  /** Retries what the state machine retries; leaves the failure note that a handler leaves. */
  async #call<T>(stage: StageName, item: number, event: unknown, work: () => Promise<T>): Promise<T> {
    for (let attempt = 0; ; attempt++) {
      try {
        await this.onStage(stage, item, event);
        return await work();
      } catch (error) {
        if (error instanceof KilledError) throw error;
        const shaped = shapeError(error);
        await leaveFailureNote(stage as 'scan', event, shaped, this.ports);
        if (shaped.name !== 'ServiceUnavailableError' || attempt === RETRIES) throw shaped;
        this.nowMs += 1000;
      }
    }
  }

  async #items<Item>(key: string): Promise<Item[]> {
    const { body } = await this.work.get('work', key);
    return body
      .toString('utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Item);
  }

  keys(prefix = ''): string[] {
    return this.tables.keys('b', prefix);
  }
}
