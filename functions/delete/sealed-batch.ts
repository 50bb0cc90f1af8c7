/** Loading what a batch may delete: from the seal only, with every line checked against it once more. */
import { PlanNotDeletableError } from '#shared/errors.ts';
import { artefact } from '#shared/run/artefacts.ts';
import type { RunState } from '#shared/run/messages.ts';
import type { Plan } from '#shared/run/plan.ts';
import type { CandidateLine } from '#shared/run/receipts.ts';
import { type RunArtefacts, sha256Hex } from '#shared/run/run-artefacts.ts';
import type { Seal, SealedBatch } from '#shared/run/seal.ts';

const START_ANEW = { next: 'Nothing of it is deleted; start a new run.' };

/** The seal whose digest travelled with the execution. */
export async function loadSeal(planArtefacts: RunArtefacts, digest: string): Promise<Seal> {
  const bytes = await planArtefacts.read(artefact.seal);
  if (bytes === undefined) {
    throw new PlanNotDeletableError(`The seal ${planArtefacts.absoluteKey(artefact.seal)} is gone.`, START_ANEW);
  }
  if (digest === '' || sha256Hex(bytes) !== digest) {
    throw new PlanNotDeletableError(
      `The seal ${planArtefacts.absoluteKey(artefact.seal)} does not have the digest ${digest || '(none)'}.`,
      START_ANEW,
    );
  }
  return JSON.parse(bytes.toString('utf8')) as Seal;
}

/** A seal is acted on by the run that made it with verdict DELETE, or by a run that was given it as a plan to delete. */
export function requireDeletable(seal: Seal, run: RunState, plan: Plan): void {
  const own = seal.run_id === run.run_id;
  const allowed = own ? seal.verdict === 'DELETE' : seal.verdict === 'DRY_RUN' || seal.verdict === 'REFUSED';
  if (!run.deleting || !allowed || seal.plan_hash !== run.plan_hash || seal.run_id !== plan.run_id) {
    throw new PlanNotDeletableError(
      `The plan of run ${seal.run_id} with verdict ${seal.verdict} may not be deleted by run ${run.run_id}.`,
      START_ANEW,
    );
  }
}

/** The lines of one batch. Throws where any of them is not what a sealed line may be. */
export async function loadBatch(
  planArtefacts: RunArtefacts,
  seal: Seal,
  plan: Plan,
  batch: number,
): Promise<{ readonly sealed: SealedBatch; readonly lines: readonly CandidateLine[] }> {
  const sealed = seal.batches[batch];
  if (sealed === undefined || sealed.batch !== batch) {
    throw new PlanNotDeletableError(`The seal of run ${seal.run_id} has no batch ${batch}.`, START_ANEW);
  }
  const lines: CandidateLine[] = [];
  for (const chunk of sealed.chunks) {
    lines.push(...(await planArtefacts.readNamedLines<CandidateLine>(chunk, PlanNotDeletableError)));
  }
  if (lines.length !== sealed.files) {
    throw new PlanNotDeletableError(`Batch ${batch} has ${lines.length} lines, its seal ${sealed.files}.`, START_ANEW);
  }
  for (const line of lines) requireSealedLine(line, sealed, seal, plan);
  return { sealed, lines };
}

/** Strictly before the cut-offs, under a root, and not the metadata file that the plan stands on. */
export function requireSealedLine(line: CandidateLine, sealed: SealedBatch, seal: Seal, plan: Plan): void {
  const modified = Date.parse(line.last_modified);
  const writer = seal.writer_time === null ? Number.POSITIVE_INFINITY : Date.parse(seal.writer_time);
  const lag = Date.parse(seal.t0) - plan.input.max_writer_lag_ms;
  const old = modified < Date.parse(seal.cutoff) && (modified < writer || modified <= lag);
  const under = seal.roots.some(
    (root) => root.bucket === sealed.bucket && line.key.startsWith(root.prefix) && line.key.length > root.prefix.length,
  );
  const pinned = sealed.bucket === plan.pin.bucket && line.key === plan.pin.key;
  if (!old || !under || pinned || line.bucket !== sealed.bucket) {
    const why = !old ? 'is not older than its cut-offs' : pinned ? 'is its metadata file' : 'lies outside its roots';
    throw new PlanNotDeletableError(
      `The sealed plan of run ${seal.run_id} holds ${line.key}, which ${why}.`,
      START_ANEW,
    );
  }
}
