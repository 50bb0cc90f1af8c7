/** Everything that a run left behind, read for its record. Nothing here decides; what is absent is counted as absent. */
import { PlanNotDeletableError } from '#shared/errors.ts';
import { fileKind } from '#shared/iceberg/file-kind.ts';
import { artefact } from '#shared/run/artefacts.ts';
import { readHabits, readStopMarker, type StopMarker, type StoreHabits } from '#shared/run/delete-marks.ts';
import { settleLostReply } from '#shared/run/look-at-keys.ts';
import type { RunState } from '#shared/run/messages.ts';
import type { BatchOutcome, DeleteIntent, DeleteReplyNote, KeyResult, SettledKey } from '#shared/run/outcomes.ts';
import type { Plan } from '#shared/run/plan.ts';
import type { BuildReceipt, CandidateLine, ListReceipt, ScanReceipt } from '#shared/run/receipts.ts';
import { RunArtefacts, sha256Hex } from '#shared/run/run-artefacts.ts';
import type { Seal, SealedBatch } from '#shared/run/seal.ts';
import type { FailureNote } from '#shared/runtime/failure-note.ts';
import type { StagePorts } from '#shared/runtime/stage-ports.ts';

const READS_AT_ONCE = 16;

export interface Gathered {
  readonly artefacts: RunArtefacts;
  readonly planArtefacts: RunArtefacts;
  readonly plan: Plan | undefined;
  readonly seal: Seal | undefined;
  readonly digest: string | null;
  readonly missingFiles: number;
  readonly scans: readonly ScanReceipt[];
  readonly builds: readonly BuildReceipt[];
  readonly lists: readonly ListReceipt[];
  /** One per batch of the seal, where the run came to delete. */
  readonly outcomes: readonly BatchOutcome[];
  readonly habits: StoreHabits | undefined;
  readonly stop: StopMarker | undefined;
  readonly notes: readonly FailureNote[];
}

/**
 * `entered`: the delete stage was entered, so that every batch has an outcome or is settled by looking. Of an execution that
 * was ended from outside nobody says how far it came: its own seal does.
 */
export async function gatherRun(run: RunState, entered: boolean | 'unknown', ports: StagePorts): Promise<Gathered> {
  const artefacts = new RunArtefacts(ports.work, ports.workBucket, run.prefix);
  const planArtefacts = new RunArtefacts(ports.work, ports.workBucket, run.seal_prefix || run.prefix);
  const plan = await planArtefacts.readJsonIfWhole<Plan>(artefact.plan);
  const sealBytes = await planArtefacts.read(artefact.seal);
  const seal = await planArtefacts.readJsonIfWhole<Seal>(artefact.seal);
  const evaluation = await planArtefacts.readJsonIfWhole<{ readonly missing_files: number }>(artefact.evaluation);
  const habits = await readHabits(artefacts).catch(() => undefined);
  const deleted = entered === 'unknown' ? seal?.run_id === run.run_id && seal.verdict === 'DELETE' : entered;
  const outcomes =
    deleted && seal !== undefined && plan !== undefined
      ? await outcomesOf(seal, artefacts, planArtefacts, habits, ports)
      : [];
  return {
    artefacts,
    planArtefacts,
    plan,
    seal,
    digest: sealBytes === undefined ? null : sha256Hex(sealBytes),
    missingFiles: evaluation?.missing_files ?? 0,
    scans: await readAll<ScanReceipt>(planArtefacts, plan?.scan.shards ?? 0, artefact.scanReceipt),
    builds: await readAll<BuildReceipt>(planArtefacts, plan?.ranges.length ?? 0, artefact.buildReceipt),
    lists: await readAll<ListReceipt>(planArtefacts, plan?.list.shards ?? 0, artefact.listReceipt),
    outcomes,
    habits,
    stop: await readStopMarker(artefacts).catch(cutMarker),
    notes: await readNotes(artefacts, ports),
  };
}

/** A marker that was cut stops all the same: only its reason is lost. */
function cutMarker(error: unknown): StopMarker {
  return { error: 'ScanIncompleteError', message: `The stop marker cannot be read: ${String(error)}`, at: '' };
}

async function readAll<T>(artefacts: RunArtefacts, count: number, name: (index: number) => string): Promise<T[]> {
  const found: T[] = [];
  for (let start = 0; start < count; start += READS_AT_ONCE) {
    const group = Array.from({ length: Math.min(READS_AT_ONCE, count - start) }, (_, index) => start + index);
    const read = await Promise.all(group.map((index) => artefacts.readJsonIfWhole<T>(name(index))));
    for (const receipt of read) if (receipt !== undefined) found.push(receipt);
  }
  return found;
}

async function readNotes(artefacts: RunArtefacts, ports: StagePorts): Promise<FailureNote[]> {
  const prefix = artefacts.absoluteKey(artefact.failureNotes);
  const page = await ports.work.list({ bucket: ports.workBucket, prefix, maxKeys: 100 });
  const notes = await Promise.all(
    page.objects.map((object) => artefacts.readJsonIfWhole<FailureNote>(object.key.slice(artefacts.prefix.length + 1))),
  );
  return notes.filter((note) => note !== undefined);
}

async function outcomesOf(
  seal: Seal,
  artefacts: RunArtefacts,
  planArtefacts: RunArtefacts,
  habits: StoreHabits | undefined,
  ports: StagePorts,
): Promise<BatchOutcome[]> {
  const outcomes: BatchOutcome[] = [];
  for (const sealed of seal.batches) {
    const stored = await artefacts.readJsonIfWhole<BatchOutcome>(artefact.outcome(sealed.batch));
    outcomes.push(stored ?? (await settleBatch(sealed, seal, artefacts, planArtefacts, habits, ports)));
  }
  return outcomes;
}

/** The outcome of a batch that was killed: replies as noted, requests without a note by looking, the rest was left. */
async function settleBatch(
  sealed: SealedBatch,
  seal: Seal,
  artefacts: RunArtefacts,
  planArtefacts: RunArtefacts,
  habits: StoreHabits | undefined,
  ports: StagePorts,
): Promise<BatchOutcome> {
  const settled = new Map<string, SettledKey>();
  const lines = new Map<string, CandidateLine>();
  for (const chunk of sealed.chunks) {
    const read = await planArtefacts.readNamedLines<CandidateLine>(chunk, PlanNotDeletableError).catch(() => []);
    for (const line of read) lines.set(line.key, line);
  }
  const versioned = habits?.[sealed.bucket]?.versioning === 'Enabled';
  let requests = 0;
  let throttles = 0;
  let startedAt = new Date(ports.clock.now()).toISOString();
  for (; ; requests++) {
    const intent = await artefacts.readJsonIfWhole<DeleteIntent>(artefact.intent(sealed.batch, requests));
    if (intent === undefined) break;
    if (requests === 0) startedAt = intent.at;
    const reply = await artefacts.readJsonIfWhole<DeleteReplyNote>(artefact.reply(sealed.batch, requests));
    const asked = intent.keys.map((key) => lines.get(key)).filter((line) => line !== undefined);
    const found = reply ?? {
      ...(await settleLostReply(ports.tables, sealed.bucket, asked, versioned)),
      throttled: false,
    };
    if (found.throttled) throttles++;
    for (const entry of found.settled) if (!settled.has(entry.key)) settled.set(entry.key, entry);
  }
  return {
    ...tallyOf(sealed, lines, settled),
    plan_hash: seal.plan_hash,
    plan_digest: '',
    requests,
    throttles,
    started_at: startedAt,
    finished_at: new Date(ports.clock.now()).toISOString(),
    reads: 0,
  };
}

function tallyOf(
  sealed: SealedBatch,
  lines: ReadonlyMap<string, CandidateLine>,
  settled: ReadonlyMap<string, SettledKey>,
): Pick<BatchOutcome, 'batch' | 'bucket' | 'tallies' | 'kinds' | 'deleted_metadata' | 'keys' | 'codes'> {
  const zero = () => ({ files: 0, bytes: 0 });
  const tallies: Record<KeyResult, { files: number; bytes: number }> = {
    deleted: zero(),
    absent: zero(),
    rescued: zero(),
    changed: zero(),
    failed: zero(),
    unknown: zero(),
    left: zero(),
  };
  const kinds: Record<string, number> = {};
  const codes: Record<string, number> = {};
  const deletedMetadata = zero();
  const keys: SettledKey[] = [];
  for (const line of lines.values()) {
    const entry = settled.get(line.key) ?? { key: line.key, result: 'left' as const };
    tallies[entry.result].files++;
    tallies[entry.result].bytes += line.size;
    if (entry.code !== undefined) codes[entry.code] = (codes[entry.code] ?? 0) + 1;
    if (entry.result !== 'deleted' || entry.version_id !== undefined) keys.push(entry);
    if (entry.result !== 'deleted') continue;
    kinds[fileKind(line.key)] = (kinds[fileKind(line.key)] ?? 0) + 1;
    if (line.group === 'metadata') {
      deletedMetadata.files++;
      deletedMetadata.bytes += line.size;
    }
  }
  return { batch: sealed.batch, bucket: sealed.bucket, tallies, kinds, deleted_metadata: deletedMetadata, keys, codes };
}
