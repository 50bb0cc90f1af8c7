/** The seal: what the delete stage may act on, and nothing else. */
import { artefact } from '#shared/run/artefacts.ts';
import type { CompleteReceipts } from '#shared/run/judge-books.ts';
import type { Refusal } from '#shared/run/judge-identity.ts';
import type { GateResult, ObjectRef, Plan } from '#shared/run/plan.ts';
import { type RunArtefacts, sha256Hex } from '#shared/run/run-artefacts.ts';
import type { Seal, SealedBatch } from '#shared/run/seal.ts';

/** Packs consecutive chunks of one bucket into batches of at most `batchSize` files. */
export function packBatches(lists: CompleteReceipts['lists'], batchSize: number): SealedBatch[] {
  const batches: { batch: number; bucket: string; chunks: ObjectRef[]; files: number; bytes: number }[] = [];
  for (const receipt of lists) {
    for (const { candidate_bytes, ...chunk } of receipt.chunks) {
      const last = batches.at(-1);
      if (last !== undefined && last.bucket === receipt.bucket && last.files + chunk.entries <= batchSize) {
        last.chunks.push(chunk);
        last.files += chunk.entries;
        last.bytes += candidate_bytes;
      } else {
        const { bucket } = receipt;
        batches.push({ batch: batches.length, bucket, chunks: [chunk], files: chunk.entries, bytes: candidate_bytes });
      }
    }
  }
  return batches;
}

export interface SealInput {
  readonly plan: Plan;
  readonly planHash: string;
  readonly verdict: Seal['verdict'];
  readonly refusals: readonly Refusal[];
  readonly gates: readonly GateResult[];
  readonly batches: readonly SealedBatch[];
}

/** Writes the batches' items and the seal; answers the plan digest. A repeated evaluation answers the first seal's. */
export async function sealPlan(
  artefacts: RunArtefacts,
  input: SealInput,
): Promise<{ readonly digest: string; readonly seal: Seal }> {
  const { plan, batches } = input;
  const seal: Seal = {
    version: 1,
    run_id: plan.run_id,
    table: plan.table,
    prefix: plan.prefix,
    plan_hash: input.planHash,
    t0: plan.t0,
    cutoff: plan.cutoff,
    writer_time: plan.writer_time,
    roots: plan.roots,
    metadata_location: plan.pin.metadata_location,
    table_uuid: plan.pin.table_uuid,
    verdict: input.verdict,
    refusals: input.refusals,
    gates: input.gates,
    batches,
    orphan_files: batches.reduce((total, batch) => total + batch.files, 0),
    orphan_bytes: batches.reduce((total, batch) => total + batch.bytes, 0),
  };
  // An item reader must never be given an empty file; without batches the map is not entered.
  if (batches.length > 0)
    await artefacts.writeLines(
      artefact.batches,
      batches.map(({ batch }) => ({ batch })),
    );
  const stored = await artefacts.writeOnce(artefact.seal, seal);
  return { digest: sha256Hex(Buffer.from(JSON.stringify(stored))), seal: stored };
}
