/** Everything that a run left behind, read for its record. Nothing here decides; what is absent is counted as absent. */
import { artefact } from '#shared/run/artefacts.ts';
import { readHabits, readStopMarker, type StopMarker, type StoreHabits } from '#shared/run/delete-marks.ts';
import type { RunState } from '#shared/run/messages.ts';
import type { BatchOutcome } from '#shared/run/outcomes.ts';
import type { Plan } from '#shared/run/plan.ts';
import type { BuildReceipt, ListReceipt, ScanReceipt } from '#shared/run/receipts.ts';
import { RunArtefacts, sha256Hex } from '#shared/run/run-artefacts.ts';
import type { Seal } from '#shared/run/seal.ts';
import { settleBatch } from '#shared/run/settle-batch.ts';
import type { FailureNote } from '#shared/runtime/failure-note.ts';
import type { StagePorts } from '#shared/runtime/stage-ports.ts';

const READS_AT_ONCE = 16;

export type BatchSummary = Omit<BatchOutcome, 'keys'>;

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
  readonly outcomes: readonly BatchSummary[];
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
  const planHash = sha256Hex((await planArtefacts.read(artefact.plan)) ?? Buffer.alloc(0));
  const receipts = <T extends Receipt>(count: number | undefined, name: (index: number) => string) =>
    readAll<T>(planArtefacts, count ?? 0, name, planHash);
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
    scans: await receipts<ScanReceipt>(plan?.scan.shards, artefact.scanReceipt),
    builds: await receipts<BuildReceipt>(plan?.ranges.length, artefact.buildReceipt),
    lists: await receipts<ListReceipt>(plan?.list.shards, artefact.listReceipt),
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

interface Receipt {
  readonly plan_hash: string;
}

/** Those of this plan: what another one, or an object without one, says is not counted. */
async function readAll<T extends Receipt>(
  artefacts: RunArtefacts,
  count: number,
  name: (index: number) => string,
  planHash: string,
): Promise<T[]> {
  const found: T[] = [];
  for (let start = 0; start < count; start += READS_AT_ONCE) {
    const group = Array.from({ length: Math.min(READS_AT_ONCE, count - start) }, (_, index) => start + index);
    const read = await Promise.all(group.map((index) => artefacts.readJsonIfWhole<T>(name(index))));
    for (const receipt of read) if (receipt?.plan_hash === planHash) found.push(receipt);
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

/** Without the keys of each batch: those are read again one batch at a time, by whoever lists them. */
async function outcomesOf(
  seal: Seal,
  artefacts: RunArtefacts,
  planArtefacts: RunArtefacts,
  habits: StoreHabits | undefined,
  ports: StagePorts,
): Promise<BatchSummary[]> {
  const summaries: BatchSummary[] = [];
  for (let start = 0; start < seal.batches.length; start += READS_AT_ONCE) {
    const group = seal.batches.slice(start, start + READS_AT_ONCE).map(async (sealed): Promise<BatchSummary> => {
      const stored = await artefacts.readJsonIfWhole<BatchOutcome>(artefact.outcome(sealed.batch));
      const versioned = habits?.[sealed.bucket]?.versioning === 'Enabled';
      const places = { artefacts, planArtefacts, store: ports.tables, nowMs: ports.clock.now() };
      // What no outcome of this plan says did not happen.
      const ours = stored?.plan_hash === seal.plan_hash ? stored : undefined;
      const { keys: _keys, ...summary } = ours ?? (await settleBatch({ sealed, seal, versioned, ...places }));
      return summary;
    });
    summaries.push(...(await Promise.all(group)));
  }
  return summaries;
}
