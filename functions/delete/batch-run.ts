/** The requests of one batch: intent before, reply note after, every key in exactly one result at the end. */

import { fileKind } from '#shared/iceberg/file-kind.ts';
import { foldKey } from '#shared/identity/fold-key.ts';
import { locateReference } from '#shared/identity/references.ts';
import { artefact } from '#shared/run/artefacts.ts';
import { lookAtKeys, settleLostReply } from '#shared/run/look-at-keys.ts';
import type { RunState, WorkerStep } from '#shared/run/messages.ts';
import type { BatchOutcome, DeleteIntent, DeleteReplyNote, KeyResult, SettledKey } from '#shared/run/outcomes.ts';
import type { Plan } from '#shared/run/plan.ts';
import type { CandidateLine } from '#shared/run/receipts.ts';
import { type Look, RECHECK_VALID_MS, type Rechecker } from '#shared/run/recheck.ts';
import type { RunArtefacts } from '#shared/run/run-artefacts.ts';
import type { SealedBatch } from '#shared/run/seal.ts';
import type { StagePorts } from '#shared/runtime/stage-ports.ts';
import type { ObjectStore } from '#shared/storage/object-store.ts';
import { easier, isExhausted, readPace, requestSize, slower, waitSeconds, writePace } from './pace.ts';
import { sendBatch, sendSingles, travelsInXml } from './send-delete.ts';

const RESERVE_MS = 60_000;
/** Single deletes that go after one look: they must all be sent while it is valid. */
const SINGLES = 20;
/** Requests that may ask for a key before it is left unknown. */
const TRIES = 5;

export interface BatchSetup {
  readonly run: RunState;
  readonly plan: Plan;
  readonly sealed: SealedBatch;
  readonly lines: readonly CandidateLine[];
  /** How many keys `max_files_per_run` leaves to this batch. */
  readonly allowed: number;
  readonly versioned: boolean;
  /** The store honours ETag conditions; otherwise each key is looked at right before. */
  readonly conditional: boolean;
  /** The plan is older than a day: a re-upload of the same bytes keeps its ETag, so time and size are looked at too. */
  readonly lookAlways: boolean;
  readonly rechecker: Rechecker;
  readonly artefacts: RunArtefacts;
  readonly store: ObjectStore;
  readonly ports: StagePorts;
}

export class BatchRun {
  readonly #setup: BatchSetup;
  readonly #byKey: ReadonlyMap<string, CandidateLine>;
  readonly #settled = new Map<string, SettledKey>();
  readonly #tries = new Map<string, number>();
  #requests = 0;
  #reads = 0;
  #throttles = 0;
  #checksum: 'crc32' | 'md5' = 'crc32';
  #singles = false;
  #startedAt: string;

  constructor(setup: BatchSetup) {
    this.#setup = setup;
    this.#byKey = new Map(setup.lines.map((line) => [line.key, line]));
    this.#startedAt = new Date(setup.ports.clock.now()).toISOString();
    for (const line of setup.lines.slice(Math.min(setup.allowed, setup.lines.length)))
      this.#settle({ key: line.key, result: 'left' });
  }

  async work(): Promise<WorkerStep> {
    const { artefacts, plan, ports } = this.#setup;
    await this.#readHistory();
    let wait = 0;
    while (this.#open().length > 0) {
      const pace = await readPace(artefacts);
      if (isExhausted(pace)) {
        for (const line of this.#open()) this.#settle({ key: line.key, result: 'left' });
        break;
      }
      if (ports.budget.remainingMs() < RESERVE_MS) return { done: false, next: '', wait_seconds: 1 };
      const sent = await this.#oneRequest(requestSize(pace, plan.input.delete_batch_size));
      // Nothing was asked of the store, so it needs no pause; what was found out about the keys lives in this call only.
      if (sent === undefined) continue;
      const after = sent.throttled ? slower(pace) : easier(pace);
      await writePace(artefacts, pace, after);
      wait = waitSeconds(after, plan.input.delete_cooldown_seconds);
      if (this.#open().length > 0 && wait > 0) return { done: false, next: '', wait_seconds: wait };
    }
    await this.#finish();
    // The lane pauses after its last request too, before it takes the next batch: the call after the pause finds the outcome.
    return wait > 0 ? { done: false, next: '', wait_seconds: wait } : { done: true, next: '', wait_seconds: 0 };
  }

  #open(): CandidateLine[] {
    return this.#setup.lines.filter((line) => !this.#settled.has(line.key));
  }

  #settle(entry: SettledKey): void {
    if (!this.#settled.has(entry.key)) this.#settled.set(entry.key, entry);
  }

  /** Goes through the requests of earlier calls; one whose reply was never written is settled by looking. */
  async #readHistory(): Promise<void> {
    const { artefacts, sealed, store, versioned } = this.#setup;
    for (;;) {
      const intent = await artefacts.readJson<DeleteIntent>(artefact.intent(sealed.batch, this.#requests));
      if (intent === undefined) return;
      this.#startedAt = this.#requests === 0 ? intent.at : this.#startedAt;
      const name = artefact.reply(sealed.batch, this.#requests);
      let reply = await artefacts.readJson<DeleteReplyNote>(name);
      if (reply === undefined) {
        const lines = intent.keys.map((key) => this.#byKey.get(key)).filter((line) => line !== undefined);
        const found = await settleLostReply(store, sealed.bucket, lines, versioned);
        reply = await artefacts.writeOnce<DeleteReplyNote>(name, { ...found, throttled: false });
      }
      this.#apply(intent.keys, reply);
    }
  }

  #apply(keys: readonly string[], reply: DeleteReplyNote): void {
    this.#requests++;
    this.#reads += reply.reads;
    if (reply.throttled) this.#throttles++;
    if (reply.rejected === 'NotImplemented') this.#singles = true;
    if (reply.rejected === 'BadRequest') this.#checksum = 'md5';
    for (const entry of reply.settled) this.#settle(entry);
    for (const key of keys) {
      const tries = (this.#tries.get(key) ?? 0) + (reply.throttled ? 0 : 1);
      this.#tries.set(key, tries);
      if (tries >= TRIES) this.#settle({ key, result: 'unknown' });
    }
  }

  /** Undefined where nothing was left to ask for, or another attempt of this batch was found at work. */
  async #oneRequest(size: number): Promise<{ readonly throttled: boolean } | undefined> {
    const { artefacts, conditional, lookAlways, sealed, store } = this.#setup;
    const group = this.#nextGroup(size);
    let lines: readonly CandidateLine[] = group.lines;
    let reads = 0;
    if (!conditional || lookAlways) {
      const looked = await lookAtKeys(store, sealed.bucket, lines);
      for (const entry of looked.settled) this.#settle(entry);
      lines = looked.unchanged;
      reads = looked.reads;
    }
    const look = await this.#validLook();
    lines = lines.filter((line) => this.#mayGo(line, look));
    if (lines.length === 0) {
      this.#reads += reads;
      return undefined;
    }
    const request = this.#requests;
    const keys = lines.map((line) => line.key);
    const at = new Date(this.#setup.ports.clock.now()).toISOString();
    const intent = await artefacts.writeOnce<DeleteIntent>(artefact.intent(sealed.batch, request), { keys, at });
    if (intent.at !== at || intent.keys.length !== keys.length) {
      // Another attempt of this batch is at work, or its answer to us was lost: its history is read first.
      await this.#readHistory();
      return undefined;
    }
    // Writing the intent took time; the request goes only while the look is valid.
    if (!this.#isValid(look)) {
      const again = await this.#validLook();
      const kept = lines.filter((line) => this.#mayGo(line, again));
      const dropped = keys.filter((key) => !kept.some((line) => line.key === key)).map((key) => this.#settled.get(key));
      lines = kept;
      if (lines.length === 0) {
        const settled = dropped.filter((entry) => entry !== undefined);
        this.#apply(
          keys,
          await artefacts.writeOnce(artefact.reply(sealed.batch, request), { settled, throttled: false, reads }),
        );
        return undefined;
      }
    }
    const sent = group.single
      ? await sendSingles(store, sealed.bucket, lines, conditional)
      : await sendBatch(store, sealed.bucket, lines, { conditional, checksum: this.#checksum });
    // Another form is tried once; the same rejection again ends the stage.
    if (sent.rejected?.fault === 'BadRequest' && (group.single || this.#checksum === 'md5')) throw sent.rejected;
    const rejected = sent.rejected?.fault as DeleteReplyNote['rejected'];
    const base = { settled: sent.settled, throttled: sent.throttled, reads };
    const note: DeleteReplyNote = rejected === undefined ? base : { ...base, rejected };
    this.#apply(keys, await artefacts.writeOnce(artefact.reply(sealed.batch, request), note));
    return sent;
  }

  /** The next keys to ask for: those that XML can carry together, others singly and few at a time. */
  #nextGroup(size: number): { readonly lines: CandidateLine[]; readonly single: boolean } {
    const open = this.#open();
    const inXml = this.#singles ? [] : open.filter((line) => travelsInXml(line.key));
    return inXml.length > 0
      ? { lines: inXml.slice(0, size), single: false }
      : { lines: open.slice(0, Math.min(size, SINGLES)), single: true };
  }

  async #validLook(): Promise<Look> {
    for (;;) {
      const look = await this.#setup.rechecker.look();
      if (this.#isValid(look)) return look;
    }
  }

  #isValid(look: Look): boolean {
    return this.#setup.ports.clock.now() - look.at < RECHECK_VALID_MS;
  }

  /** False for a key that new metadata names; it is settled as rescued. */
  #mayGo(line: CandidateLine, look: Look): boolean {
    const { plan, sealed } = this.#setup;
    const folded = foldKey(line.key, plan.identity.ignoreCase);
    const isCurrent = look.current.some((location) => {
      const place = locateReference(location, plan.identity);
      return place.bucket === sealed.bucket && foldKey(place.key, plan.identity.ignoreCase) === folded;
    });
    if (!isCurrent && !look.isRescued(folded)) return true;
    this.#settle({ key: line.key, result: 'rescued' });
    return false;
  }

  async #finish(): Promise<void> {
    const { artefacts, lines, ports, run, sealed } = this.#setup;
    const tallies = emptyTallies();
    const kinds: Record<string, number> = {};
    const codes: Record<string, number> = {};
    const deletedMetadata = { files: 0, bytes: 0 };
    const keys: SettledKey[] = [];
    for (const line of lines) {
      const entry = this.#settled.get(line.key) ?? { key: line.key, result: 'unknown' as const };
      tallies[entry.result].files++;
      tallies[entry.result].bytes += line.size;
      if (entry.code !== undefined) codes[entry.code] = (codes[entry.code] ?? 0) + 1;
      if (entry.result !== 'deleted' || entry.version_id !== undefined) keys.push(entry);
      if (entry.result !== 'deleted') continue;
      const kind = fileKind(line.key);
      kinds[kind] = (kinds[kind] ?? 0) + 1;
      if (line.group === 'metadata') {
        deletedMetadata.files++;
        deletedMetadata.bytes += line.size;
      }
    }
    await artefacts.writeOnce<BatchOutcome>(artefact.outcome(sealed.batch), {
      plan_hash: run.plan_hash,
      plan_digest: run.plan_digest,
      batch: sealed.batch,
      bucket: sealed.bucket,
      tallies,
      kinds,
      deleted_metadata: deletedMetadata,
      keys,
      codes,
      requests: this.#requests,
      reads: this.#reads,
      throttles: this.#throttles,
      started_at: this.#startedAt,
      finished_at: new Date(ports.clock.now()).toISOString(),
    });
    ports.metrics.add('DeletedFiles', tallies.deleted.files);
    ports.metrics.add('DeletedBytes', tallies.deleted.bytes);
    ports.metrics.add('DeleteFailures', tallies.failed.files + tallies.unknown.files);
    ports.metrics.add('DeleteThrottles', this.#throttles);
  }
}

function emptyTallies(): Record<KeyResult, { files: number; bytes: number }> {
  const zero = () => ({ files: 0, bytes: 0 });
  return {
    deleted: zero(),
    absent: zero(),
    rescued: zero(),
    changed: zero(),
    failed: zero(),
    unknown: zero(),
    left: zero(),
  };
}
