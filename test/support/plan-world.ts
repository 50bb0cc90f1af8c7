/** The plan stage over one store in this process: what a test of gates and plans needs, and nothing else. */
import { planRun } from '#functions/plan/plan-run.ts';
import { artefact } from '#shared/run/artefacts.ts';
import { type DeploymentSettings, parseDeployment } from '#shared/run/deployment.ts';
import type { RunState } from '#shared/run/messages.ts';
import type {
  BuildItem,
  ListItem,
  Plan,
  PlannedManifest,
  PlannedReference,
  ScanItem,
  ScanShard,
} from '#shared/run/plan.ts';
import { RunArtefacts } from '#shared/run/run-artefacts.ts';
import type { StagePorts } from '#shared/runtime/stage-ports.ts';
import { StoreError } from '#shared/storage/object-store.ts';
import { MemoryItemTable } from './memory-item-table.ts';
import { MemoryStore, type StoreCall } from './memory-store.ts';
import type { CommitOptions, Sink } from './table-writer.ts';
import { TableWriter, type TableWriterOptions } from './table-writer.ts';

export const DAY_MS = 86_400_000;
export const T0_MS = Date.UTC(2026, 1, 1);
export const OLD_MS = T0_MS - 100 * DAY_MS;

export interface PlanResult {
  readonly state: RunState;
  readonly plan: Plan;
  readonly manifests: readonly PlannedManifest[];
  readonly references: readonly PlannedReference[];
  readonly listItems: readonly ListItem[];
  readonly scanItems: readonly ScanItem[];
  readonly buildItems: readonly BuildItem[];
}

export class PlanWorld {
  readonly store: MemoryStore;
  readonly items = new MemoryItemTable();
  readonly calls: StoreCall[] = [];
  readonly ports: StagePorts;
  deployment: DeploymentSettings = parseDeployment();
  nowMs = T0_MS;
  /** Milliseconds left, asked at every look. */
  remainingMs: () => number = () => 900_000;
  executionStatus: 'running' | 'ended' | 'unknown' = 'running';
  /** Throws to make a call to the tables' storage fail. */
  onTableCall: (call: StoreCall) => void | Promise<void> = () => undefined;
  #writeMs = OLD_MS;

  constructor() {
    this.store = new MemoryStore({
      now: () => this.#writeMs,
      onCall: async (call) => {
        if (call.bucket === 'work') return;
        if (call.phase === 'before') this.calls.push(call);
        if (call.phase === 'before') await this.onTableCall(call);
      },
    });
    this.store.createBucket('work');
    this.store.createBucket('b');
    this.ports = this.#ports();
  }

  #ports(): StagePorts {
    const world = this;
    const quiet = () => undefined;
    return {
      tables: this.store,
      work: this.store,
      workBucket: 'work',
      items: this.items,
      get deployment() {
        return world.deployment;
      },
      clock: { now: () => this.nowMs, sleep: async () => undefined },
      budget: { remainingMs: () => this.remainingMs() },
      log: { info: quiet, warn: quiet, error: quiet },
      metrics: { add: quiet },
      executions: { status: async () => this.executionStatus },
      events: { publish: async () => undefined },
      secrets: { read: async () => '' },
      deletingStore: async () => this.store,
    };
  }

  get sink(): Sink {
    return { put: (bucket, key, bytes) => this.store.seed(bucket, key, bytes, this.#writeMs) };
  }

  /** Files written from now on bear this time. */
  writeAt(ms: number): void {
    this.#writeMs = ms;
  }

  /** Whatever is asked of the bucket is answered as by a store that has none of this name. */
  withoutBucket(name: string): void {
    this.onTableCall = ({ bucket }) => {
      if (bucket === name) throw new StoreError('NoSuchBucket', `no bucket ${name}`);
    };
  }

  /** A table of two appends at `s3://b/wh/t`, unless the options say otherwise. */
  async table(
    options: Partial<TableWriterOptions> = {},
    appends: readonly CommitOptions[] = [{}, {}],
  ): Promise<TableWriter> {
    const writer = new TableWriter(this.sink, { location: 's3://b/wh/t', startMs: OLD_MS, ...options });
    await writer.create();
    for (const each of appends) await writer.append(2, each);
    return writer;
  }

  seed(key: string, body: Uint8Array | number = 10, ms = OLD_MS): void {
    this.store.seed('b', key, body, ms);
  }

  /** Calls the stage until it is done, as the state machine does. */
  async run(input: Record<string, unknown> = {}, runId = 'run-1'): Promise<RunState> {
    const whole = { table: 's3://b/wh/t', dry_run: true, ...input };
    const execution = {
      id: `arn:execution:${runId}`,
      name: runId,
      start_time: new Date(this.nowMs).toISOString(),
      state_machine: 'arn:machine',
    };
    let state: RunState | undefined;
    for (let calls = 0; calls < 1000; calls += 1) {
      const event = { input: whole, state: state === undefined ? {} : { run: state }, execution };
      state = JSON.parse(JSON.stringify(await planRun(event, this.ports))) as RunState;
      if (state.outcome !== 'MORE') return state;
    }
    throw new Error('The plan stage never ends.');
  }

  artefacts(state: RunState): RunArtefacts {
    return new RunArtefacts(this.store, 'work', state.prefix);
  }

  async plan(input: Record<string, unknown> = {}, runId = 'run-1'): Promise<PlanResult> {
    const state = await this.run(input, runId);
    return this.read(state);
  }

  async read(state: RunState): Promise<PlanResult> {
    const artefacts = this.artefacts(state);
    const plan = await artefacts.readPlan(state.plan_hash);
    const lines = async <T>(name: string): Promise<T[]> =>
      ((await artefacts.read(name))?.toString() ?? '')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as T);
    const scanItems = await lines<ScanItem>(artefact.scanItems);
    const manifests: PlannedManifest[] = [];
    const references: PlannedReference[] = [];
    for (const { shard } of scanItems) {
      const body = (await artefacts.readJson<ScanShard>(artefact.scanShard(shard))) as ScanShard;
      manifests.push(...body.manifests);
      if (body.references !== undefined)
        references.push(...(await artefacts.readNamedLines<PlannedReference>(body.references, Error)));
    }
    return {
      state,
      plan,
      manifests,
      references,
      scanItems,
      listItems: await lines<ListItem>(artefact.listItems),
      buildItems: await lines<BuildItem>(artefact.buildItems),
    };
  }

  /** Operations on the tables' storage so far, such as `list wh/t/data/`. */
  get tableCalls(): string[] {
    return this.calls.map(({ operation, key }) => `${operation} ${key}`);
  }
}
