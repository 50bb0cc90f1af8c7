/** The scan stage: reads the manifests of one scan shard and leaves the fingerprints of everything they protect. */
import { MetadataUnreadableError, ScanIncompleteError } from '#shared/errors.ts';
import { createKeyHasher } from '#shared/filter/key-hash.ts';
import { artefact } from '#shared/run/artefacts.ts';
import { NO_FRAGMENTS, type WrittenFragments } from '#shared/run/fragments.ts';
import { assertStillOurs } from '#shared/run/lease.ts';
import type { ScanEvent, WorkerStep } from '#shared/run/messages.ts';
import type { Plan, PlannedManifest, PlannedReference, ScanShard } from '#shared/run/plan.ts';
import type { RequestCounts, ScanReceipt } from '#shared/run/receipts.ts';
import { newNonce, RunArtefacts } from '#shared/run/run-artefacts.ts';
import { TimeLeft } from '#shared/run/time-left.ts';
import type { StagePorts } from '#shared/runtime/stage-ports.ts';
import { CurrentTable, changed } from './current-table.ts';
import { FetchAhead } from './fetch-ahead.ts';
import { ReferenceSink } from './reference-sink.ts';
import { countEntries, type EntryCounts, NO_ENTRIES, scanManifest } from './scan-manifest.ts';

/** Fingerprints held before they are written: 16 MB. */
const FLUSH_AT = 2_000_000;

interface Progress {
  readonly plan_hash: string;
  readonly manifests_done: number;
  readonly references_done: boolean;
  readonly skipped: readonly string[];
  readonly not_avro: readonly string[];
  readonly entries: EntryCounts;
  readonly written: WrittenFragments;
  readonly faults: ScanReceipt['faults'];
  readonly spellings: readonly string[];
  readonly requests: RequestCounts;
}

/**
 * Scans one shard, or a part of it when time runs short: then `done` is false and `next` names the progress.
 * A repeated worker that finds the shard's receipt answers at once.
 */
export async function scanShard(event: ScanEvent, ports: StagePorts): Promise<WorkerStep> {
  const { run, item, step } = event;
  const time = new TimeLeft(ports.budget);
  const artefacts = new RunArtefacts(ports.work, ports.workBucket, run.prefix);
  const plan = await assertStillOurs(ports, run);
  const name = artefact.scanReceipt(item.shard);
  if (await artefacts.readReceipt<ScanReceipt>(name, run.plan_hash, ScanIncompleteError)) return finished();

  const shard = await artefacts.readScanShard(plan, item.shard);
  if (shard === undefined) {
    throw new ScanIncompleteError(`Scan shard ${item.shard} of run ${run.run_id} is gone; start a new run.`);
  }
  const before = await progressOf(artefacts, step.next, run.plan_hash);
  const scan = await ShardScan.open(plan, shard, artefacts, ports, before);
  const complete = await scan.work(time);
  const after = await scan.close();
  if (!complete) {
    const next = artefact.scanProgress(item.shard, newNonce());
    await artefacts.writeJson(next, after);
    return { done: false, next, wait_seconds: 0 };
  }
  await artefacts.writeOnce<ScanReceipt>(name, receiptOf(shard, after));
  ports.metrics.add('ManifestsScanned', shard.manifests.length);
  return finished();
}

function finished(): WorkerStep {
  return { done: true, next: '', wait_seconds: 0 };
}

async function progressOf(artefacts: RunArtefacts, next: string, planHash: string): Promise<Progress> {
  if (next === '') {
    return {
      plan_hash: planHash,
      manifests_done: 0,
      references_done: false,
      skipped: [],
      not_avro: [],
      entries: NO_ENTRIES,
      written: NO_FRAGMENTS,
      faults: [],
      spellings: [],
      requests: { get: 0, list: 0, put: 0, delete: 0 },
    };
  }
  const progress = await artefacts.readJson<Progress>(next);
  if (progress === undefined || progress.plan_hash !== planHash) {
    throw new ScanIncompleteError(`The progress ${artefacts.absoluteKey(next)} is gone or of another plan.`, {
      next: 'Start a new run.',
    });
  }
  return progress;
}

function receiptOf(shard: ScanShard, after: Progress): ScanReceipt {
  return {
    plan_hash: after.plan_hash,
    shard: shard.shard,
    manifests_planned: shard.manifests.length,
    manifests_read: shard.manifests.length - after.skipped.length - after.not_avro.length,
    manifests_skipped: after.skipped,
    pending_not_avro: after.not_avro,
    entries: after.entries,
    fingerprints: after.written.entries,
    objects: after.written.objects,
    sections: after.written.sections,
    faults: after.faults,
    unlisted_spellings: after.spellings,
    requests: after.requests,
  };
}

class ShardScan {
  readonly #shard: ScanShard;
  readonly #artefacts: RunArtefacts;
  readonly #fetches: FetchAhead;
  readonly #table: CurrentTable;
  readonly #sink: ReferenceSink;
  readonly #nonce = newNonce();
  #part = 0;
  #state: Progress;

  static async open(
    plan: Plan,
    shard: ScanShard,
    artefacts: RunArtefacts,
    ports: StagePorts,
    state: Progress,
  ): Promise<ShardScan> {
    const sink = new ReferenceSink(plan, await createKeyHasher(plan.salt), state.faults, state.spellings);
    const fetches = new FetchAhead(ports.tables, shard.manifests, state.manifests_done);
    return new ShardScan(shard, artefacts, fetches, new CurrentTable(plan, ports), sink, state);
  }

  private constructor(
    shard: ScanShard,
    artefacts: RunArtefacts,
    fetches: FetchAhead,
    table: CurrentTable,
    sink: ReferenceSink,
    state: Progress,
  ) {
    this.#shard = shard;
    this.#artefacts = artefacts;
    this.#fetches = fetches;
    this.#table = table;
    this.#sink = sink;
    this.#state = state;
  }

  /** True when the whole shard is scanned; false when time ran short after at least one manifest. */
  async work(time: TimeLeft): Promise<boolean> {
    try {
      if (!this.#state.references_done) await this.#references();
      const { manifests } = this.#shard;
      for (let index = this.#state.manifests_done; index < manifests.length; index++) {
        await this.#one(manifests[index] as PlannedManifest, index);
        this.#state = { ...this.#state, manifests_done: index + 1 };
        if (this.#sink.buffer.length >= FLUSH_AT) await this.#flush();
        if (time.isShort && index + 1 < manifests.length) return false;
      }
      return true;
    } finally {
      await this.#fetches.settle();
    }
  }

  /** Writes what is held and returns the state with everything counted so far. */
  async close(): Promise<Progress> {
    await this.#flush();
    const { requests } = this.#state;
    return {
      ...this.#state,
      faults: this.#sink.faults,
      spellings: this.#sink.unlistedSpellings,
      requests: { ...requests, get: requests.get + this.#fetches.gets, put: requests.put + this.#part + 1 },
    };
  }

  async #references(): Promise<void> {
    if (this.#shard.references !== undefined) {
      const lines = await this.#artefacts.readNamedLines<PlannedReference>(this.#shard.references, ScanIncompleteError);
      for (const { path } of lines) this.#sink.metadata(path);
    }
    this.#state = { ...this.#state, references_done: true };
  }

  async #one(manifest: PlannedManifest, index: number): Promise<void> {
    try {
      const body = await this.#fetches.take(index);
      if (body === undefined) {
        await this.#absent(manifest);
        return;
      }
      const counts = scanManifest(manifest, body, this.#sink);
      if (counts === null) this.#state = { ...this.#state, not_avro: [...this.#state.not_avro, manifest.path] };
      else this.#state = { ...this.#state, entries: countEntries(this.#state.entries, counts) };
    } catch (error) {
      if (!(error instanceof MetadataUnreadableError)) throw error;
      // A catalog that cannot be asked must not hide what was found.
      if (!(await this.#table.hasMoved().catch(() => false))) throw error;
      throw changed(`Manifest ${manifest.path} cannot be read any more.`, error);
    }
  }

  /** A manifest that does not exist. What only a pending name or a later root leads to may go at any time. */
  async #absent(manifest: PlannedManifest): Promise<void> {
    if (manifest.kind === 'pinned' && (await this.#table.names(manifest.path))) {
      throw new MetadataUnreadableError(
        `Manifest ${manifest.path} does not exist, and the table's metadata names it.`,
        {
          next: 'Repair the table; nothing is guessed.',
        },
      );
    }
    this.#state = { ...this.#state, skipped: [...this.#state.skipped, manifest.path] };
  }

  async #flush(): Promise<void> {
    const name = artefact.scanFragment(this.#shard.shard, this.#nonce, this.#part);
    const before = this.#state.written;
    const written = await this.#sink.buffer.flush(this.#artefacts, name, before);
    if (written !== before) this.#part++;
    this.#state = { ...this.#state, written };
  }
}
