/** The requests of one batch: a look before, an intent before, a reply note after, every key in exactly one result at the end. */
import { ServiceUnavailableError } from '#shared/errors.ts';
import { foldKey } from '#shared/identity/fold-key.ts';
import { locateReference } from '#shared/identity/references.ts';
import { artefact } from '#shared/run/artefacts.ts';
import { AskedKeys } from '#shared/run/asked-keys.ts';
import { type AskedPlace, claimAbsent, lookAtKeys, settleUnanswered } from '#shared/run/look-at-keys.ts';
import type { RunState, WorkerStep } from '#shared/run/messages.ts';
import {
  type BatchOutcome,
  countKeys,
  type DeleteIntent,
  type DeleteReplyNote,
  type SettledKey,
} from '#shared/run/outcomes.ts';
import type { Plan } from '#shared/run/plan.ts';
import type { CandidateLine } from '#shared/run/receipts.ts';
import { type Look, RECHECK_VALID_MS, type Rechecker } from '#shared/run/recheck.ts';
import type { RunArtefacts } from '#shared/run/run-artefacts.ts';
import type { SealedBatch } from '#shared/run/seal.ts';
import type { StagePorts } from '#shared/runtime/stage-ports.ts';
import type { ObjectStore } from '#shared/storage/object-store.ts';
import type { BatchKeys } from './batch-keys.ts';
import { easier, isExhausted, pauseSeconds, readPace, requestSize, slower, writePace } from './pace.ts';
import { type SentRequest, sendBatch, sendSingles, travelsInXml } from './send-delete.ts';

const RESERVE_MS = 60_000;
/** Single deletes that go after one look: they must all be sent while it is valid. */
const SINGLES = 20;
/** Looks, or requests, in a row that came too late to be of use; then the store or catalog is too slow to delete by. */
const TOO_LATE = 5;

export interface BatchSetup {
  readonly run: RunState;
  readonly plan: Plan;
  readonly sealed: SealedBatch;
  readonly keys: BatchKeys;
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

/** The next keys to ask for. */
interface Group {
  readonly lines: readonly CandidateLine[];
  readonly single: boolean;
}

/** Keys that may go while the look is valid. */
interface Ready {
  readonly lines: readonly CandidateLine[];
  readonly look: Look;
  readonly reads: number;
}

interface Answered {
  readonly throttled: boolean;
  /** The store could not answer at all. */
  readonly unavailable: boolean;
}

export class BatchRun {
  readonly #setup: BatchSetup;
  readonly #asked = new AskedKeys();
  #requests = 0;
  #reads = 0;
  #throttles = 0;
  #unsent = 0;
  #checksum: 'crc32' | 'md5' = 'crc32';
  #singles = false;
  #startedAt: string;

  constructor(setup: BatchSetup) {
    this.#setup = setup;
    this.#startedAt = new Date(setup.ports.clock.now()).toISOString();
  }

  async work(): Promise<WorkerStep> {
    const { artefacts, keys, plan, ports } = this.#setup;
    await this.#readHistory();
    let wait = 0;
    while (keys.open().length > 0) {
      if (this.#timeIsShort) return { done: false, next: '', wait_seconds: 1 };
      const pace = await readPace(artefacts);
      if (isExhausted(pace)) {
        await this.#lookAt(keys.open());
        keys.leaveRest();
        break;
      }
      const size = requestSize(pace, plan.input.delete_batch_size);
      const group = this.#nextGroup(size);
      const answer = await this.#oneRequest(group);
      // Nothing was asked of the store, so it needs no pause; what was found out about the keys lives in this call only.
      if (answer === undefined) continue;
      const held = answer.throttled || answer.unavailable;
      const after = held ? slower(pace) : easier(pace);
      await writePace(artefacts, pace, after);
      const pause = pauseSeconds(after, plan.input.delete_cooldown_seconds, held ? 1 : group.lines.length / size);
      wait = Math.floor(pause);
      // Wait states know whole seconds only.
      if (pause > wait) await ports.clock.sleep(Math.round((pause - wait) * 1000));
      if (keys.open().length > 0 && wait > 0) return { done: false, next: '', wait_seconds: wait };
    }
    if (this.#timeIsShort && keys.givenUp().length > 0) return { done: false, next: '', wait_seconds: 1 };
    await this.#finish();
    // The lane pauses after its last request too, before it takes the next batch: the call after the pause finds the outcome.
    return wait > 0 ? { done: false, next: '', wait_seconds: wait } : { done: true, next: '', wait_seconds: 0 };
  }

  /** Goes through the requests of earlier calls; one whose reply was never written had no answer. */
  async #readHistory(): Promise<void> {
    const { artefacts, sealed } = this.#setup;
    for (;;) {
      const intent = await artefacts.readJson<DeleteIntent>(artefact.intent(sealed.batch, this.#requests));
      if (intent === undefined) return;
      this.#startedAt = this.#requests === 0 ? intent.at : this.#startedAt;
      const unknown: DeleteReplyNote = { settled: [], throttled: false, reads: 0 };
      const name = artefact.reply(sealed.batch, this.#requests);
      const reply = (await artefacts.readJson<DeleteReplyNote>(name)) ?? (await artefacts.writeOnce(name, unknown));
      this.#apply(intent, reply);
    }
  }

  /** Too short for a request or for a look at the keys of one. */
  get #timeIsShort(): boolean {
    return this.#setup.ports.budget.remainingMs() < RESERVE_MS;
  }

  #place(): AskedPlace {
    const { sealed, store, versioned } = this.#setup;
    return { store, bucket: sealed.bucket, versioned };
  }

  #apply(intent: DeleteIntent, reply: DeleteReplyNote): void {
    this.#requests++;
    this.#reads += reply.reads;
    if (reply.throttled) this.#throttles++;
    if (reply.rejected === 'NotImplemented') this.#singles = true;
    if (reply.rejected === 'BadRequest') this.#checksum = 'md5';
    this.#asked.note(intent, reply);
    this.#setup.keys.apply(intent.keys, reply);
  }

  /** Undefined where nothing was left to ask for, came too late, or another attempt of this batch was found at work. */
  async #oneRequest(group: Group): Promise<Answered | undefined> {
    const { artefacts, ports, sealed } = this.#setup;
    const { lines, look, reads } = await this.#ready(group.lines);
    if (lines.length === 0) {
      this.#reads += reads;
      return undefined;
    }
    const number = this.#requests;
    const asked = lines.map((line) => line.key);
    const at = new Date(ports.clock.now()).toISOString();
    const intent = await artefacts.writeOnce<DeleteIntent>(artefact.intent(sealed.batch, number), { keys: asked, at });
    if (intent.at !== at || intent.keys.length !== asked.length) {
      // Another attempt of this batch is at work, or its answer to us was lost: its history is read first.
      await this.#readHistory();
      return undefined;
    }
    const sent = this.#isValid(look) ? await this.#send(group.single, lines, look) : undefined;
    const note = sent === undefined ? this.#tooLate(reads) : await this.#noteOf(sent, reads);
    this.#apply(intent, await artefacts.writeOnce(artefact.reply(sealed.batch, number), note));
    return sent;
  }

  /** Looks at keys, where the store cannot be told a condition, and at the table. Keys that may not go are settled. */
  async #ready(wanted: readonly CandidateLine[]): Promise<Ready> {
    const { conditional, keys, lookAlways, ports, sealed, store } = this.#setup;
    let lines = wanted;
    let reads = 0;
    for (let round = 0; ; round++) {
      // A listing that gave no ETag leaves nothing to put into a condition.
      const blind = conditional && !lookAlways ? lines.filter((line) => line.etag === '') : lines;
      if (blind.length > 0) {
        const looked = await lookAtKeys(store, sealed.bucket, blind);
        const { settled, reads: more } = await this.#claim(looked.settled);
        for (const entry of settled) keys.settle(entry);
        const gone = new Set(settled.map((entry) => entry.key));
        lines = lines.filter((line) => !gone.has(line.key));
        reads += looked.reads + more;
      }
      const began = ports.clock.now();
      const look = await this.#setup.rechecker.look();
      lines = lines.filter((line) => this.#mayGo(line, look));
      // A look that had to read new metadata took its time: what was seen of the keys before is stale by then, too.
      if (lines.length === 0 || (this.#isValid(look) && ports.clock.now() - began < RECHECK_VALID_MS)) {
        return { lines, look, reads };
      }
      if (round >= TOO_LATE) throw tooSlow();
    }
  }

  #tooLate(reads: number): DeleteReplyNote {
    if (++this.#unsent >= TOO_LATE) throw tooSlow();
    return { settled: [], throttled: false, unsent: true, reads };
  }

  async #send(single: boolean, lines: readonly CandidateLine[], look: Look): Promise<SentRequest> {
    const { conditional, sealed, store } = this.#setup;
    const sent = single
      ? await sendSingles(store, sealed.bucket, lines, { conditional, mayStillGo: () => this.#isValid(look) })
      : await sendBatch(store, sealed.bucket, lines, { conditional, checksum: this.#checksum });
    // Another form is tried once; the same rejection again ends the stage.
    if (sent.rejected?.fault === 'BadRequest' && (single || this.#checksum === 'md5')) throw sent.rejected;
    return sent;
  }

  /** Those that XML can carry together, others singly and few at a time. */
  #nextGroup(size: number): Group {
    const open = this.#setup.keys.open();
    const inXml = this.#singles ? [] : open.filter((line) => travelsInXml(line.key));
    return inXml.length > 0
      ? { lines: inXml.slice(0, size), single: false }
      : { lines: open.slice(0, Math.min(size, SINGLES)), single: true };
  }

  /** What is absent because of an earlier request of this batch, whose answer was lost, counts as deleted by it. */
  #claim(settled: readonly SettledKey[]): ReturnType<typeof claimAbsent> {
    return claimAbsent(this.#place(), settled, (key) => this.#asked.since(key));
  }

  async #noteOf({ settled, throttled, rejected, held }: SentRequest, reads: number): Promise<DeleteReplyNote> {
    const form = rejected?.fault as DeleteReplyNote['rejected'];
    const claimed = await this.#claim(settled);
    const note = {
      settled: claimed.settled,
      throttled,
      reads: reads + claimed.reads,
      ...(held === undefined ? {} : { held }),
    };
    return form === undefined ? note : { ...note, rejected: form };
  }

  #isValid(look: Look): boolean {
    return this.#setup.ports.clock.now() - look.at < RECHECK_VALID_MS;
  }

  /** False for a key that new metadata names; it is settled as rescued. */
  #mayGo(line: CandidateLine, look: Look): boolean {
    const { keys, plan, sealed } = this.#setup;
    const folded = foldKey(line.key, plan.identity.ignoreCase);
    const isCurrent = look.current.some((location) => {
      const place = locateReference(location, plan.identity);
      return place.bucket === sealed.bucket && foldKey(place.key, plan.identity.ignoreCase) === folded;
    });
    if (!isCurrent && !look.isRescued(folded)) return true;
    keys.settle({ key: line.key, result: 'rescued' });
    return false;
  }

  /** Keys that nobody will ask for again: of those whose answers were lost, some may be gone. What is not found out stays as it is. */
  async #lookAt(lines: readonly CandidateLine[]): Promise<void> {
    const asked = lines.filter(({ key }) => this.#asked.since(key) !== undefined);
    const found = await settleUnanswered(this.#place(), asked, (key) => this.#asked.since(key));
    for (const entry of found.settled) if (entry.result !== 'unknown') this.#setup.keys.settle(entry);
    this.#reads += found.reads;
  }

  async #finish(): Promise<void> {
    const { artefacts, keys, ports, run, sealed } = this.#setup;
    await this.#lookAt(keys.givenUp());
    const counts = countKeys(keys.lines, keys.settled, 'unknown');
    await artefacts.writeOnce<BatchOutcome>(artefact.outcome(sealed.batch), {
      plan_hash: run.plan_hash,
      plan_digest: run.plan_digest,
      batch: sealed.batch,
      bucket: sealed.bucket,
      ...counts,
      requests: this.#requests,
      reads: this.#reads,
      throttles: this.#throttles,
      started_at: this.#startedAt,
      finished_at: new Date(ports.clock.now()).toISOString(),
    });
    const { deleted, failed, unknown } = counts.tallies;
    ports.metrics.add('DeletedFiles', deleted.files);
    ports.metrics.add('DeletedBytes', deleted.bytes);
    ports.metrics.add('DeleteFailures', failed.files + unknown.files);
    ports.metrics.add('DeleteThrottles', this.#throttles);
  }
}

function tooSlow(): ServiceUnavailableError {
  return new ServiceUnavailableError(
    `Looking at the table took longer than the ${RECHECK_VALID_MS / 1000} s for which a look is good, time after time.`,
  );
}
