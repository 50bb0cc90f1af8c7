/** The scan stage: reads the manifests of one scan shard and leaves the fingerprints of everything they protect. */
import { AccessDeniedError, MetadataUnreadableError, ScanIncompleteError, TableChangedError } from '#shared/errors.ts';
import { createKeyHasher } from '#shared/filter/key-hash.ts';
import { artefact } from '#shared/run/artefacts.ts';
import { NO_FRAGMENTS, type WrittenFragments } from '#shared/run/fragments.ts';
import { assertStillOurs } from '#shared/run/lease.ts';
import type { ScanEvent, WorkerStep } from '#shared/run/messages.ts';
import type { Plan, PlannedManifest, PlannedReference, ScanShard } from '#shared/run/plan.ts';
import type { RequestCounts, ScanReceipt } from '#shared/run/receipts.ts';
import { newNonce, RunArtefacts } from '#shared/run/run-artefacts.ts';
import { isManifestStillNamed } from '#shared/run/vanished.ts';
import type { StagePorts } from '#shared/runtime/stage-ports.ts';
import { isStoreFault } from '#shared/storage/object-store.ts';
import { ReferenceSink } from './reference-sink.ts';
import { countEntries, type EntryCounts, NO_ENTRIES, scanManifest } from './scan-manifest.ts';

/** Bytes of manifests held at once: what is being decoded and what is being fetched. */
const FETCHES_AHEAD = 4;
/** Fingerprints held before they are written: 16 MB. */
const FLUSH_AT = 2_000_000;
/** Time that writing the fragments and the progress needs. */
const RESERVE_MS = 30_000;

interface Progress {
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

const START: Progress = {
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

/**
 * Scans one shard, or a part of it when time runs short: then `done` is false and `next` names the progress.
 * A repeated worker that finds the shard's receipt answers at once.
 */
export async function scanShard(event: ScanEvent, ports: StagePorts): Promise<WorkerStep> {
  const { run, item, step } = event;
  const artefacts = new RunArtefacts(ports.work, ports.workBucket, run.prefix);
  const plan = await artefacts.readPlan(run.plan_hash);
  const name = artefact.scanReceipt(item.shard);
  if (await artefacts.readReceipt<ScanReceipt>(name, run.plan_hash, ScanIncompleteError)) return finished();
  await assertStillOurs(ports, run);

  const shard = await artefacts.readJson<ScanShard>(artefact.scanShard(item.shard));
  if (shard === undefined || shard.shard !== item.shard) {
    throw new ScanIncompleteError(`Scan shard ${item.shard} of run ${run.run_id} is gone; start a new run.`);
  }
  const before = step.next === '' ? START : await artefacts.readJson<Progress>(step.next);
  if (before === undefined) throw new ScanIncompleteError(`The progress ${step.next} of run ${run.run_id} is gone.`);

  const scan = new ShardScan(plan, shard, artefacts, ports, before);
  await scan.load();
  const complete = await scan.work();
  const after = await scan.close();
  if (!complete) {
    const progress = artefact.scanProgress(item.shard, newNonce());
    await artefacts.writeJson(progress, after);
    return { done: false, next: progress, wait_seconds: 0 };
  }
  await artefacts.writeOnce<ScanReceipt>(name, {
    plan_hash: run.plan_hash,
    shard: item.shard,
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
  });
  ports.metrics.add('ManifestsScanned', shard.manifests.length);
  return finished();
}

function finished(): WorkerStep {
  return { done: true, next: '', wait_seconds: 0 };
}

class ShardScan {
  readonly #plan: Plan;
  readonly #shard: ScanShard;
  readonly #artefacts: RunArtefacts;
  readonly #ports: StagePorts;
  readonly #nonce = newNonce();
  #sink!: ReferenceSink;
  #part = 0;
  #state: Progress;
  #gets = 0;

  constructor(plan: Plan, shard: ScanShard, artefacts: RunArtefacts, ports: StagePorts, state: Progress) {
    this.#plan = plan;
    this.#shard = shard;
    this.#artefacts = artefacts;
    this.#ports = ports;
    this.#state = state;
  }

  async load(): Promise<void> {
    const hasher = await createKeyHasher(this.#plan.salt);
    this.#sink = new ReferenceSink(this.#plan, hasher, this.#state.faults, this.#state.spellings);
  }

  /** True when the whole shard is scanned; false when time ran short after at least one manifest. */
  async work(): Promise<boolean> {
    if (!this.#state.references_done) await this.#references();
    const { manifests } = this.#shard;
    const fetched = new Map<number, Promise<Buffer | Error>>();
    const fetch = (index: number) => {
      const manifest = manifests[index];
      if (manifest === undefined || fetched.has(index)) return;
      this.#gets++;
      // Held as a value: a rejection that nobody awaits yet would end the process.
      const body = this.#ports.tables.get(manifest.bucket, manifest.key).then((object) => object.body);
      fetched.set(
        index,
        body.catch((error: Error) => error),
      );
    };
    for (let index = this.#state.manifests_done; index < manifests.length; index++) {
      for (let ahead = index; ahead < index + FETCHES_AHEAD; ahead++) fetch(ahead);
      await this.#one(manifests[index] as PlannedManifest, await (fetched.get(index) as Promise<Buffer | Error>));
      fetched.delete(index);
      this.#state = { ...this.#state, manifests_done: index + 1 };
      if (this.#sink.buffer.length >= FLUSH_AT) await this.#flush();
      if (this.#ports.budget.remainingMs() < RESERVE_MS && index + 1 < manifests.length) {
        await Promise.all(fetched.values());
        return false;
      }
    }
    return true;
  }

  /** Writes what is held and returns the state with everything counted so far. */
  async close(): Promise<Progress> {
    await this.#flush();
    const { requests } = this.#state;
    const puts = this.#part;
    return {
      ...this.#state,
      faults: this.#sink.faults,
      spellings: this.#sink.unlistedSpellings,
      requests: { ...requests, get: requests.get + this.#gets, put: requests.put + puts },
    };
  }

  async #references(): Promise<void> {
    if (this.#shard.references !== undefined) {
      const lines = await this.#artefacts.readNamedLines<PlannedReference>(this.#shard.references, ScanIncompleteError);
      for (const { path } of lines) this.#sink.metadata(path);
    }
    this.#state = { ...this.#state, references_done: true };
  }

  async #one(manifest: PlannedManifest, body: Buffer | Error): Promise<void> {
    if (body instanceof Error) return this.#unread(manifest, body);
    const counts = scanManifest(manifest, body, this.#sink);
    if (counts === null) {
      this.#state = { ...this.#state, not_avro: [...this.#state.not_avro, manifest.path] };
      return;
    }
    this.#state = { ...this.#state, entries: countEntries(this.#state.entries, counts) };
  }

  /** A manifest that did not come. Absent ones may have expired meanwhile; nothing else is ever skipped. */
  async #unread(manifest: PlannedManifest, error: Error): Promise<void> {
    if (isStoreFault(error, 'AccessDenied')) {
      throw new AccessDeniedError(`Reading manifest ${manifest.path} was denied.`, {
        cause: error,
        next: `Grant s3:GetObject on s3://${manifest.bucket}/${manifest.key}.`,
      });
    }
    if (!isStoreFault(error, 'NotFound')) throw error;
    if (manifest.kind === 'pinned') {
      const now = await isManifestStillNamed(this.#plan, manifest.path, this.#ports);
      if (now.named || !now.pointerMoved) {
        const message = `Manifest ${manifest.path} does not exist, and the table's metadata names it.`;
        throw now.pointerMoved
          ? new TableChangedError(message, { next: 'The table was changed during the run; start a new one.' })
          : new MetadataUnreadableError(message, { next: 'Repair the table; nothing is guessed.' });
      }
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
