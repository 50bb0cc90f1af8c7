/** Runs scan, build and list over a plan that a test states, without the plan stage: one table in one process. */
import { gunzipSync } from 'node:zlib';
import { buildFilter } from '#functions/build/build-filter.ts';
import { listShard } from '#functions/list/list-shard.ts';
import { scanShard } from '#functions/scan/scan-shard.ts';
import { artefact } from '#shared/run/artefacts.ts';
import { parseDeployment } from '#shared/run/deployment.ts';
import type { RunState, WorkerStep } from '#shared/run/messages.ts';
import type { ListItem, Plan, PlannedManifest, PlannedReference } from '#shared/run/plan.ts';
import type { BuildReceipt, CandidateLine, ListReceipt, ScanReceipt } from '#shared/run/receipts.ts';
import type { ResolvedInput } from '#shared/run/resolved-input.ts';
import { RunArtefacts, sha256Hex } from '#shared/run/run-artefacts.ts';
import type { StagePorts } from '#shared/runtime/stage-ports.ts';
import type { ObjectStore } from '#shared/storage/object-store.ts';
import { MemoryItemTable } from './memory-item-table.ts';
import { MemoryStore } from './memory-store.ts';

export const DAY_MS = 86_400_000;
export const T0_MS = Date.UTC(2026, 0, 27);
/** Older than the cut-off and than every waiting writer. */
export const OLD_MS = T0_MS - 100 * DAY_MS;
export const TABLE_UUID = '9c12d441-03fe-4693-9a96-a0705ddf69c1';

export type PlanChanges = Partial<Omit<Plan, 'input'>> & { readonly input?: Partial<ResolvedInput> };

export interface MarkWorldOptions {
  readonly plan?: PlanChanges;
  readonly manifests?: readonly (readonly PlannedManifest[])[];
  readonly references?: readonly PlannedReference[];
  readonly list?: readonly Omit<ListItem, 'shard'>[];
  readonly tables?: ObjectStore;
  readonly work?: ObjectStore;
}

/** A plan for `s3://b/wh/t` with data and metadata roots, cut-off three days before T0. */
export function planOf(changes: PlanChanges = {}): Plan {
  const { input, ...rest } = changes;
  const roots = ['wh/t/data/', 'wh/t/metadata/'].map((prefix) => ({
    bucket: 'b',
    prefix,
    scheme: 's3',
    authority: 'b',
  }));
  return {
    version: 1,
    run_id: 'run-1',
    table: 'db.t',
    prefix: 'runs/db.t/run-1',
    input: { ...defaultInput(), ...input },
    t0: new Date(T0_MS).toISOString(),
    cutoff: new Date(T0_MS - 3 * DAY_MS).toISOString(),
    writer_time: new Date(T0_MS - DAY_MS).toISOString(),
    pin: {
      metadata_location: 's3://b/wh/t/metadata/00005-a.metadata.json',
      bucket: 'b',
      key: 'wh/t/metadata/00005-a.metadata.json',
      table_uuid: TABLE_UUID,
      format_version: 2,
      last_updated_ms: T0_MS - DAY_MS,
      last_sequence_number: '5',
      snapshot_id: '1',
    },
    pointer: {
      metadata_location: 's3://b/wh/t/metadata/00005-a.metadata.json',
      further: [],
      claims: { gc_enabled: [] },
    },
    location: 's3://b/wh/t',
    metadata_roots: ['s3://b/wh/t/metadata/00005-a.metadata.json'],
    roots,
    data_folders: [{ bucket: 'b', prefix: 'wh/t/data/' }],
    metadata_folders: [{ bucket: 'b', prefix: 'wh/t/metadata/' }],
    identity: {
      equalSchemes: { s3a: 's3', s3n: 's3' },
      equalAuthorities: {},
      pathAliases: [],
      tableLocation: 's3://b/wh/t',
      ignoreCase: false,
    },
    partition_fields: [],
    flink: { job_ids: [], manifest_folders: [] },
    salt: '00112233445566ff',
    ranges: [{ from: null, to: null }],
    scan: { shards: 0, manifests: 0, digests: [] },
    list: { shards: 0 },
    unmanaged: { prefixes: [], files: 0, bytes: 0 },
    tables_compared: null,
    skipped_manifests: [],
    pending_manifests: { kept: 0, read: 0, skipped: 0 },
    superseded_metadata_files: 0,
    gates: [],
    warnings: [],
    ...rest,
  };
}

function defaultInput(): ResolvedInput {
  return {
    table: 'db.t',
    catalog: { type: 'path' },
    metadata_choice: 'version',
    older_than: 'P3D',
    older_than_ms: 3 * DAY_MS,
    floor_ms: DAY_MS,
    scope: 'DATA_AND_METADATA',
    exclude: [],
    include_hidden: [],
    dry_run: true,
    equal_schemes: {},
    equal_authorities: {},
    path_aliases: {},
    prefix_mismatch_mode: 'ERROR',
    max_orphan_percent: 20,
    min_files: 100,
    max_missing_percent: 5,
    max_writer_lag_ms: 30 * DAY_MS,
    max_plan_age_ms: 7 * DAY_MS,
    max_concurrent_deletes: 1,
    delete_batch_size: 1000,
    delete_cooldown_seconds: 1,
    max_concurrent_scans: 100,
    max_concurrent_lists: 100,
    former_table_uuids: [],
    overlaps_allowed: [],
    owned_roots: [],
    ignore_case: false,
    warnings: [],
  };
}

export class MarkWorld {
  /** Both buckets where no other store is given. */
  readonly store = new MemoryStore();
  readonly artefacts: RunArtefacts;
  readonly ports: StagePorts;
  /** Milliseconds left, asked before every step. */
  remainingMs: () => number = () => 900_000;
  readonly sleeps: number[] = [];
  readonly metrics = new Map<string, number>();
  plan!: Plan;
  run!: RunState;

  private constructor(options: MarkWorldOptions) {
    const work = options.work ?? this.store;
    this.artefacts = new RunArtefacts(work, 'work', 'runs/db.t/run-1');
    this.store.bucket('work');
    this.store.bucket('b');
    const quiet = () => undefined;
    this.ports = {
      tables: options.tables ?? this.store,
      work,
      workBucket: 'work',
      items: new MemoryItemTable(),
      deployment: parseDeployment(),
      clock: { now: () => T0_MS, sleep: async (ms) => void this.sleeps.push(ms) },
      budget: { remainingMs: () => this.remainingMs() },
      log: { info: quiet, warn: quiet, error: quiet },
      metrics: { add: (name, value) => void this.metrics.set(name, (this.metrics.get(name) ?? 0) + value) },
      executions: { status: async () => 'running' },
      events: { publish: async () => undefined },
      secrets: { read: async () => '' },
      deletingStore: async () => this.store,
    };
  }

  static async open(options: MarkWorldOptions = {}): Promise<MarkWorld> {
    const world = new MarkWorld(options);
    const shards = options.manifests ?? [];
    const places = options.list ?? planOf(options.plan).roots.map((root) => ({ ...root, after: null, through: null }));
    const digests: string[] = [];
    for (let shard = 0; shard < Math.max(1, shards.length); shard++) {
      const references =
        shard === 0 && options.references !== undefined
          ? await world.artefacts.writeLines(artefact.planReferences(0, 'n'), options.references)
          : undefined;
      const written = await world.artefacts.writeJson(artefact.scanShard(shard), {
        shard,
        manifests: shards[shard] ?? [],
        ...(references === undefined ? {} : { references }),
      });
      digests.push(written.sha256);
    }
    world.plan = planOf({
      ...options.plan,
      scan: { shards: digests.length, manifests: shards.flat().length, digests },
      list: { shards: places.length },
    });
    const body = Buffer.from(JSON.stringify(world.plan));
    await world.artefacts.write(artefact.plan, body);
    world.run = stateOf(world.plan, sha256Hex(body));
    const items = places.map(({ bucket, prefix, after, through }, shard) => ({
      shard,
      bucket,
      prefix,
      after,
      through,
    }));
    await world.artefacts.writeLines(artefact.listItems, items);
    world.items = items;
    return world;
  }

  items: readonly ListItem[] = [];

  async scan(shard = 0): Promise<ScanReceipt> {
    await untilDone((step) => scanShard({ run: this.run, item: { shard }, step }, this.ports));
    return (await this.artefacts.readJson<ScanReceipt>(artefact.scanReceipt(shard))) as ScanReceipt;
  }

  async build(range = 0): Promise<BuildReceipt> {
    await untilDone((step) => buildFilter({ run: this.run, item: { range }, step }, this.ports));
    return (await this.artefacts.readJson<BuildReceipt>(artefact.buildReceipt(range))) as BuildReceipt;
  }

  async list(shard = 0): Promise<ListReceipt> {
    const item = this.items[shard] as ListItem;
    await untilDone((step) => listShard({ run: this.run, item, step }, this.ports));
    return (await this.artefacts.readJson<ListReceipt>(artefact.listReceipt(shard))) as ListReceipt;
  }

  /** Scan and build of everything, so that listing can begin. */
  async mark(): Promise<void> {
    for (let shard = 0; shard < this.plan.scan.shards; shard++) await this.scan(shard);
    for (let range = 0; range < this.plan.ranges.length; range++) await this.build(range);
  }

  async listAll(): Promise<ListReceipt[]> {
    const receipts: ListReceipt[] = [];
    for (const item of this.items) receipts.push(await this.list(item.shard));
    return receipts;
  }

  async candidates(receipts: readonly ListReceipt[]): Promise<CandidateLine[]> {
    const lines: CandidateLine[] = [];
    for (const chunk of receipts.flatMap((receipt) => receipt.chunks)) {
      const bytes = (await this.artefacts.read(chunk.name)) as Buffer;
      const text = gunzipSync(bytes).toString().trimEnd();
      for (const line of text.split('\n')) lines.push(JSON.parse(line) as CandidateLine);
    }
    return lines;
  }

  /** Keys of all candidates, after marking and listing everything. */
  async sweep(): Promise<string[]> {
    await this.mark();
    return (await this.candidates(await this.listAll())).map(({ key }) => key).sort();
  }

  seed(key: string, lastModifiedMs = OLD_MS, body: Uint8Array | number = 10): void {
    this.store.seed('b', key, body, lastModifiedMs);
  }
}

/** Calls a worker again until it is done, as the state machine does. Returns the steps it took. */
export async function untilDone(call: (step: WorkerStep) => Promise<WorkerStep>): Promise<WorkerStep[]> {
  const steps: WorkerStep[] = [];
  let step: WorkerStep = { done: false, next: '', wait_seconds: 0 };
  do {
    // What travels through the state machine is JSON.
    step = JSON.parse(JSON.stringify(await call(step))) as WorkerStep;
    steps.push(step);
    if (steps.length > 10_000) throw new Error('The worker never ends.');
  } while (!step.done);
  return steps;
}

function stateOf(plan: Plan, planHash: string): RunState {
  return {
    run_id: plan.run_id,
    table: plan.table,
    prefix: plan.prefix,
    outcome: 'PLANNED',
    next: '',
    deleting: false,
    plan_hash: planHash,
    fencing_token: 0,
    scan_items_key: '',
    build_items_key: '',
    list_items_key: '',
    results_prefix: '',
    max_concurrent_scans: 1,
    max_concurrent_builds: 1,
    max_concurrent_lists: 1,
    max_concurrent_deletes: 1,
    batches_key: '',
    seal_prefix: '',
    plan_digest: '',
  };
}
