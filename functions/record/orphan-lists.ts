/**
 * The full lists of a run's orphans for audit: JSONL and Parquet, with Spark's column name. Memory holds one chunk, the
 * compressed list, and bounded tallies.
 */
import { ScanIncompleteError } from '#shared/errors.ts';
import { artefact } from '#shared/run/artefacts.ts';
import type { ObjectRef } from '#shared/run/plan.ts';
import type { CandidateLine } from '#shared/run/receipts.ts';
import { readOutcome } from '#shared/run/settle-batch.ts';
import type { Gathered } from './gather.ts';
import { type BatchResults, MOST_PARQUET_ROWS, OrphanWalk } from './orphan-walk.ts';
import type { NamedTally, OriginTally, SampleFile } from './report/report-view.ts';

/** Rows in the JSONL list, which is held compressed until it is written. */
const MOST_LISTED = 5_000_000;

export interface OrphanLists {
  readonly first: readonly CandidateLine[];
  readonly sample: readonly SampleFile[];
  readonly ages: readonly NamedTally[];
  readonly sizes: readonly NamedTally[];
  readonly origins: readonly OriginTally[];
  readonly lists: readonly { readonly href: string; readonly label: string }[];
  readonly warnings: readonly string[];
}

export async function writeOrphanLists(gathered: Gathered): Promise<OrphanLists> {
  const { artefacts, planArtefacts, plan, seal, outcomes } = gathered;
  const empty = { first: [], sample: [], ages: [], sizes: [], origins: [], lists: [], warnings: [] };
  if (plan === undefined || seal === undefined || seal.batches.length === 0) return empty;
  const walk = new OrphanWalk(plan, Date.parse(seal.t0));
  const warnings: string[] = [];
  for (const { batch, chunks } of seal.batches) {
    if (walk.rows >= MOST_LISTED) {
      warnings.push(
        `The lists of the report hold the first ${MOST_LISTED} orphans; all of them stand in the candidate chunks.`,
      );
      break;
    }
    const results = outcomes.length > 0 ? await resultsOf(artefacts, batch) : undefined;
    for (const chunk of chunks) {
      const lines = await readChunk(planArtefacts, chunk);
      if (lines === undefined) warnings.push(`Candidate chunk ${chunk.name} could not be read for the report.`);
      else walk.take(lines, results);
    }
  }
  await artefacts.write(artefact.orphansJsonl, Buffer.concat(walk.compressed), walk.rows);
  const lists = [{ href: 'orphans.jsonl.gz', label: 'All orphans (JSONL, gzip)' }];
  const parquet = walk.parquet();
  if (parquet !== undefined) {
    await artefacts.write(artefact.orphansParquet, parquet, walk.rows);
    lists.push({ href: 'orphans/orphans.parquet', label: 'All orphans (Parquet)' });
  } else if (walk.rows > MOST_PARQUET_ROWS) {
    warnings.push(`No Parquet list was written: ${walk.rows} orphans are more than ${MOST_PARQUET_ROWS}.`);
  }
  return {
    first: walk.first,
    sample: walk.sample,
    ages: walk.ages,
    sizes: walk.sizes,
    origins: walk.origins,
    lists,
    warnings,
  };
}

/** Undefined for a chunk that is gone or altered: the report says so, and the record stands all the same. */
function readChunk(artefacts: Gathered['planArtefacts'], chunk: ObjectRef): Promise<CandidateLine[] | undefined> {
  return artefacts.readNamedLines<CandidateLine>(chunk, ScanIncompleteError).catch(() => undefined);
}

/** What became of a batch's keys that were not simply deleted. */
async function resultsOf(artefacts: Gathered['artefacts'], batch: number): Promise<BatchResults> {
  const outcome = await readOutcome(artefacts, batch);
  return outcome === undefined ? 'left' : new Map(outcome.keys.map((entry) => [entry.key, entry]));
}
