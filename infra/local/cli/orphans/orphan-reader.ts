/** Streams what a seal lists, chunk by chunk: memory holds one chunk, whatever the table's size. */
import { createHash } from 'node:crypto';
import { ScanIncompleteError } from '#shared/errors.ts';
import { recordedPath } from '#shared/identity/references.ts';
import { artefact, runPrefix } from '#shared/run/artefacts.ts';
import type { CandidateLine } from '#shared/run/receipts.ts';
import type { RunRecord } from '#shared/run/record.ts';
import type { RunArtefacts } from '#shared/run/run-artefacts.ts';
import type { Seal } from '#shared/run/seal.ts';
import type { ListReader } from '../runtime.ts';
import { type OrphanLine, orphanLine } from './orphan-line.ts';

/** The seal of a run, or undefined where it never came to one. Its digest must be the one of the record. */
export async function readSeal(artefacts: RunArtefacts, planDigest: string | null): Promise<Seal | undefined> {
  const bytes = await artefacts.read(artefact.seal);
  if (bytes === undefined) return undefined;
  if (planDigest !== null && createHash('sha256').update(bytes).digest('hex') !== planDigest) {
    throw new ScanIncompleteError(
      `The seal ${artefacts.absoluteKey(artefact.seal)} is not the one that the run's record names; plan again.`,
    );
  }
  return JSON.parse(bytes.toString('utf8')) as Seal;
}

/** Where the plan of a run lies: its own artefacts, or those of the earlier run whose plan it deleted. */
export function planArtefacts(run: RunRecord, history: ListReader): RunArtefacts {
  return history.artefacts(run.plan_run === undefined ? run.artefacts : runPrefix(run.table, run.plan_run));
}

/** The seal that a run made or acted on. */
export function readRunSeal(run: RunRecord, history: ListReader): Promise<Seal | undefined> {
  return readSeal(planArtefacts(run, history), run.plan_digest);
}

/** Every listed file of the seal, as it was sealed: a chunk that is gone, short or altered ends the stream with an error. */
export async function* sealedCandidates(artefacts: RunArtefacts, seal: Seal): AsyncGenerator<CandidateLine> {
  for (const batch of seal.batches) {
    for (const chunk of batch.chunks) {
      yield* await artefacts.readNamedLines<CandidateLine>(chunk, ScanIncompleteError);
    }
  }
}

/** The same as lines of `--output jsonl`, spelled as the table's metadata spells its paths. */
export async function* sealedOrphans(artefacts: RunArtefacts, seal: Seal): AsyncGenerator<OrphanLine> {
  const plan = await artefacts.readPlan(seal.plan_hash);
  const spell = (bucket: string, key: string): string => recordedPath(bucket, key, plan.identity);
  for await (const line of sealedCandidates(artefacts, seal)) yield orphanLine(line, spell);
}
