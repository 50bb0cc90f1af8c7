/** `icesweep explain`: why a file was kept, or why it is an orphan. */
import { InvalidInputError, PrefixMismatchError } from '#shared/errors.ts';
import { foldKey } from '#shared/identity/fold-key.ts';
import { locateReference, type Place, recordedPath } from '#shared/identity/references.ts';
import { humanBytes, humanTime, printable } from '#shared/report/format.ts';
import { artefact } from '#shared/run/artefacts.ts';
import type { Plan } from '#shared/run/plan.ts';
import type { CandidateLine } from '#shared/run/receipts.ts';
import type { RunArtefacts } from '#shared/run/run-artefacts.ts';
import type { Seal } from '#shared/run/seal.ts';
import { readOutcome } from '#shared/run/settle-batch.ts';
import { isStoreFault, type ObjectHead } from '#shared/storage/object-store.ts';
import { type CommandContext, operandOf, styleOf } from '../context.ts';
import { findReferences } from '../explain/find-references.ts';
import { belowRoot, type Explained, outsideTheRoots, whichRule } from '../explain/which-rule.ts';
import { withRunReader } from '../local-runtime.ts';
import { planArtefacts, readRunSeal, sealedCandidates } from '../orphans/orphan-reader.ts';
import type { RunReader } from '../runtime.ts';
import { wrapped } from '../text/layout.ts';

interface Found extends Explained {
  readonly notes: readonly string[];
}

/** A recorded path, a path below the table, or a key of the store itself. */
function placeOf(path: string, plan: Plan): Place {
  const relative = !/^[a-z][a-z0-9+.-]*:\//i.test(path) && !path.startsWith('/');
  const whole = relative ? `${plan.location.replace(/\/+$/, '')}/${path.replace(/^\.\//, '')}` : path;
  try {
    return locateReference(whole, plan.identity);
  } catch (error) {
    if (!(error instanceof PrefixMismatchError)) throw error;
    throw new InvalidInputError(`${path} lies nowhere that this run could reach.`, {
      next: `Name it as the table does: ${plan.location}/…`,
    });
  }
}

async function sealedLine(
  artefacts: RunArtefacts,
  seal: Seal,
  plan: Plan,
  place: Place,
): Promise<CandidateLine | undefined> {
  const wanted = foldKey(place.key, plan.identity.ignoreCase);
  for await (const line of sealedCandidates(artefacts, seal)) {
    if (
      line.bucket === place.bucket &&
      (line.key === place.key || foldKey(line.key, plan.identity.ignoreCase) === wanted)
    )
      return line;
  }
  return undefined;
}

/** What a deleting run did with the key, from its batches' outcomes; undefined where nothing says. */
async function outcomeOf(artefacts: RunArtefacts, seal: Seal, key: string): Promise<string | undefined> {
  let finished = 0;
  for (const { batch } of seal.batches) {
    const outcome = await readOutcome(artefacts, batch);
    const settled = outcome?.keys.find((one) => one.key === key);
    if (settled !== undefined)
      return settled.code === undefined ? settled.result : `${settled.result} (${settled.code})`;
    if (outcome !== undefined) finished += 1;
  }
  return finished === seal.batches.length && finished > 0 ? 'deleted' : undefined;
}

async function headOf(runtime: RunReader, place: Place): Promise<ObjectHead | undefined> {
  try {
    return await runtime.tables.head(place.bucket, place.key);
  } catch (error) {
    if (isStoreFault(error, 'NotFound')) return undefined;
    throw error;
  }
}

function orphan(line: CandidateLine, plan: Plan, verdict: string, outcome: string | undefined): Found {
  return {
    verdict: 'orphan',
    because: `no metadata names it, and it is strictly older than the cut-off: written ${humanTime(line.last_modified)}, cut-off ${humanTime(plan.cutoff)}`,
    notes: [
      `${line.kind.replaceAll('_', ' ')}, ${humanBytes(line.size)}, by its name; the kind never decides`,
      ...(outcome === undefined ? [] : [`this run's result for it: ${outcome}`]),
      ...(verdict === 'REFUSED' ? ['the run was refused, so it may not be deleted by this plan as it stands'] : []),
    ],
  };
}

async function judge(path: string, runId: string, runtime: RunReader): Promise<Found> {
  const run = await runtime.find(runId);
  if (run === undefined)
    throw new InvalidInputError(`There is no run ${JSON.stringify(runId)}.`, { next: 'icesweep runs lists them.' });
  const artefacts = planArtefacts(run, runtime);
  const seal = await readRunSeal(run, runtime);
  const plan =
    seal === undefined ? await artefacts.readJson<Plan>(artefact.plan) : await artefacts.readPlan(seal.plan_hash);
  if (plan === undefined)
    throw new InvalidInputError(`The run ${runId} ended as ${run.verdict} before it had a plan.`, {
      next: run.cause ?? '',
    });
  const place = placeOf(path, plan);
  const relative = belowRoot(plan, place);
  // What lies elsewhere belongs to somebody else: it is not asked after.
  if (relative === undefined) return { ...outsideTheRoots(plan), notes: [] };
  const line = seal === undefined ? undefined : await sealedLine(artefacts, seal, plan, place);
  if (seal !== undefined && line !== undefined)
    return orphan(line, plan, run.verdict, await outcomeOf(runtime.artefacts(run.artefacts), seal, line.key));
  const references = await findReferences(plan, runtime.tables, place.key);
  const notes =
    references.gone.length === 0
      ? []
      : [
          `${references.gone.length} metadata files of the run can no longer be read (${references.gone[0]}), so more may have named it`,
        ];
  if (references.found.length > 0)
    return {
      verdict: 'kept',
      because: `referenced: ${references.found[0]}`,
      notes: [...references.found.slice(1), ...notes],
    };
  const head = await headOf(runtime, place);
  if (head === undefined)
    return {
      verdict: 'absent',
      because: `there is no object ${recordedPath(place.bucket, place.key, plan.identity)} now`,
      notes,
    };
  const deleted = references.deletedOnly ? ['only DELETED manifest entries name it, and those protect nothing'] : [];
  return { ...whichRule(plan, { key: place.key, relative }, head), notes: [...deleted, ...notes] };
}

export function explain(context: CommandContext): Promise<number> {
  const [runId, path] = [operandOf(context, 0), operandOf(context, 1)];
  return withRunReader(runId, context, async (runtime) => {
    const found = await judge(path, runId, runtime);
    if (context.output === 'text') {
      const width = styleOf(context.terminal).width;
      const lines = [`${found.verdict}: ${found.because}`, ...found.notes.map((note) => `- ${note}`)];
      await context.terminal.out(
        `${printable(path)}\n${lines.map((line) => wrapped(printable(line), width, '    ')).join('\n')}\n`,
      );
    } else {
      await context.terminal.out(`${JSON.stringify({ path, run_id: runId, ...found })}\n`);
    }
    return 0;
  });
}
