/** The outcome of a batch that was killed: replies as noted, requests without a note by looking, the rest was left. */
import { PlanNotDeletableError } from '#shared/errors.ts';
import type { ObjectStore } from '#shared/storage/object-store.ts';
import { artefact } from './artefacts.ts';
import { AskedKeys } from './asked-keys.ts';
import { settleUnanswered } from './look-at-keys.ts';
import { type BatchOutcome, countKeys, type DeleteIntent, type DeleteReplyNote, type SettledKey } from './outcomes.ts';
import type { CandidateLine } from './receipts.ts';
import type { RunArtefacts } from './run-artefacts.ts';
import type { Seal, SealedBatch } from './seal.ts';

export interface KilledBatch {
  readonly sealed: SealedBatch;
  readonly seal: Seal;
  /** Of the run that deleted. */
  readonly artefacts: RunArtefacts;
  /** Of the run that planned. */
  readonly planArtefacts: RunArtefacts;
  readonly versioned: boolean;
  readonly store: ObjectStore;
  readonly nowMs: number;
}

/** The batch's own outcome or, where it was killed, what the record stage found out; undefined where it never began. */
export async function readOutcome(artefacts: RunArtefacts, batch: number): Promise<BatchOutcome | undefined> {
  return (
    (await artefacts.readJsonIfWhole<BatchOutcome>(artefact.outcome(batch))) ??
    (await artefacts.readJsonIfWhole<BatchOutcome>(artefact.settled(batch)))
  );
}

/** Settles a batch without outcome, and keeps what was found out beside its notes, so that restore finds its markers. */
export async function settleBatch(killed: KilledBatch): Promise<BatchOutcome> {
  const { sealed, seal, artefacts, store, versioned, nowMs } = killed;
  const lines = await linesOf(killed);
  const settled = new Map<string, SettledKey>();
  const asked = new AskedKeys();
  const now = new Date(nowMs).toISOString();
  let [requests, throttles, reads] = [0, 0, 0];
  let startedAt = now;
  for (; ; requests++) {
    const intent = await artefacts.readJsonIfWhole<DeleteIntent>(artefact.intent(sealed.batch, requests));
    if (intent === undefined) break;
    if (requests === 0) startedAt = intent.at;
    const reply = await artefacts.readJsonIfWhole<DeleteReplyNote>(artefact.reply(sealed.batch, requests));
    const note = reply ?? { settled: [], throttled: false, reads: 0 };
    if (note.throttled) throttles++;
    reads += note.reads;
    asked.note(intent, note);
    for (const entry of note.settled) if (!settled.has(entry.key)) settled.set(entry.key, entry);
  }
  const open = [...lines.values()].filter(({ key }) => asked.since(key) !== undefined && !settled.has(key));
  const place = { store, versioned, bucket: sealed.bucket };
  const found = await settleUnanswered(place, open, (key) => asked.since(key));
  for (const entry of found.settled) settled.set(entry.key, entry);
  reads += found.reads;
  const outcome: BatchOutcome = {
    plan_hash: seal.plan_hash,
    plan_digest: '',
    batch: sealed.batch,
    bucket: sealed.bucket,
    ...countKeys(lines.values(), settled, 'left'),
    requests,
    reads,
    throttles,
    started_at: startedAt,
    finished_at: now,
  };
  if (requests > 0) await artefacts.writeJson(artefact.settled(sealed.batch), outcome);
  return outcome;
}

/** Lines of a chunk that is gone or altered are not known any more: they count nowhere. */
async function linesOf({ sealed, planArtefacts }: KilledBatch): Promise<ReadonlyMap<string, CandidateLine>> {
  const lines = new Map<string, CandidateLine>();
  for (const chunk of sealed.chunks) {
    const read = await planArtefacts.readNamedLines<CandidateLine>(chunk, PlanNotDeletableError).catch(() => []);
    for (const line of read) lines.set(line.key, line);
  }
  return lines;
}
