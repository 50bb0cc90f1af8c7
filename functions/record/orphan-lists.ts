/**
 * The full lists of a run's orphans for audit, in parts, so that memory holds one part and bounded tallies whatever their number.
 * The lists are for people: what cannot be read or written of them is a warning, and never hides how the run ended.
 */
import { ScanIncompleteError } from '#shared/errors.ts';
import { counted } from '#shared/report/format.ts';
import { artefact } from '#shared/run/artefacts.ts';
import type { ObjectRef } from '#shared/run/plan.ts';
import type { CandidateLine } from '#shared/run/receipts.ts';
import { readOutcome } from '#shared/run/settle-batch.ts';
import type { TimeLeft } from '#shared/run/time-left.ts';
import type { Gathered } from './gather.ts';
import { type BatchResults, OrphanPart, rowOf } from './orphan-part.ts';
import { OrphanWalk } from './orphan-walk.ts';
import type { NamedTally, OriginTally, SampleFile } from './report/report-view.ts';

/** Rows of a part before the next one is begun. */
const PART_ROWS = 50_000;
/** Links on the page. */
const MOST_LINKED = 40;

export interface OrphanLists {
  readonly first: readonly CandidateLine[];
  readonly sample: readonly SampleFile[];
  readonly ages: readonly NamedTally[];
  readonly sizes: readonly NamedTally[];
  readonly origins: readonly OriginTally[];
  readonly lists: readonly { readonly href: string; readonly label: string }[];
  readonly warnings: readonly string[];
}

/** @param time the lists end early, with a warning, where it runs short: the record must still be written */
export async function writeOrphanLists(gathered: Gathered, time: TimeLeft, partRows = PART_ROWS): Promise<OrphanLists> {
  const { artefacts, planArtefacts, plan, seal, outcomes } = gathered;
  const empty = { first: [], sample: [], ages: [], sizes: [], origins: [], lists: [], warnings: [] };
  if (plan === undefined || seal === undefined || seal.batches.length === 0) return empty;
  const walk = new OrphanWalk(Date.parse(seal.t0));
  const parts = new PartWriter(artefacts, partRows);
  const lost: string[] = [];
  const warnings: string[] = [];
  for (const { batch, chunks } of seal.batches) {
    if (time.isShort) {
      warnings.push(
        `The lists of the report hold the first ${walk.rows} orphans, since time ran short; all of them stand in the candidate chunks.`,
      );
      break;
    }
    const results = outcomes.length > 0 ? await resultsOf(artefacts, batch) : undefined;
    for (const chunk of chunks) {
      const lines = await readChunk(planArtefacts, chunk);
      if (lines === undefined) {
        lost.push(chunk.name);
        continue;
      }
      const rows = lines.map((line) => rowOf(line, results, plan));
      for (const row of rows) walk.take(row);
      await parts.add(rows);
    }
  }
  await parts.close();
  if (lost.length > 0)
    warnings.push(
      `${counted(lost.length, 'candidate chunk')} could not be read for the report, ${lost[0]} among them.`,
    );
  if (parts.failures.length > 0)
    warnings.push(`${counted(parts.failures.length, 'list')} could not be written, ${parts.failures[0]}`);
  const { first, sample, ages, sizes, origins } = walk;
  return { first, sample, ages, sizes, origins, lists: parts.links.slice(0, MOST_LINKED), warnings };
}

class PartWriter {
  /** What could not be written, and why: a record holds counts of such, never a list. */
  readonly failures: string[] = [];
  readonly links: { readonly href: string; readonly label: string }[] = [];
  readonly #partRows: number;
  readonly #artefacts: Gathered['artefacts'];
  #part = new OrphanPart();
  #parts = 0;

  constructor(artefacts: Gathered['artefacts'], partRows: number) {
    this.#artefacts = artefacts;
    this.#partRows = partRows;
  }

  async add(rows: Parameters<OrphanPart['add']>[0]): Promise<void> {
    this.#part.add(rows);
    if (this.#part.rows >= this.#partRows) await this.close();
  }

  async close(): Promise<void> {
    const part = this.#part;
    if (part.rows === 0) return;
    this.#part = new OrphanPart();
    const number = this.#parts++;
    await this.#write(artefact.orphansJsonl(number), `JSONL, gzip, part ${number + 1}`, part.rows, () => part.jsonl());
    await this.#write(artefact.orphansParquet(number), `Parquet, part ${number + 1}`, part.rows, () => part.parquet());
  }

  async #write(name: string, label: string, rows: number, bytes: () => Buffer): Promise<void> {
    try {
      await this.#artefacts.write(name, bytes(), rows);
      // Relative to the page, which lies beside the lists.
      this.links.push({ href: name.slice(artefact.report.lastIndexOf('/') + 1), label });
    } catch (error) {
      this.failures.push(`${this.#artefacts.absoluteKey(name)} among them: ${String(error)}`);
    }
  }
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
