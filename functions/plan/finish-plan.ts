/** From a draft and all manifests to the plan artefact and the work items. */
import type { Plan, PlannedReference } from '#shared/run/plan.ts';
import type { RunArtefacts } from '#shared/run/run-artefacts.ts';
import type { StagePorts } from '#shared/runtime/stage-ports.ts';
import { ManifestSet } from './collect-manifests.ts';
import { keyRanges, sampleKeys, totalEntries } from './key-sample.ts';
import { planListShards } from './list-shards.ts';
import type { ManifestHarvest, PlanDraft } from './plan-draft.ts';
import { packShards } from './scan-shards.ts';
import { writePlan } from './write-plan.ts';

/** Each path once; the first kind counts. */
function distinctReferences(references: Iterable<PlannedReference>): PlannedReference[] {
  const byPath = new Map<string, PlannedReference>();
  for (const reference of references) if (!byPath.has(reference.path)) byPath.set(reference.path, reference);
  return [...byPath.values()];
}

/** Writes everything; answers the plan hash. */
export async function finishPlan(
  draft: PlanDraft,
  harvest: ManifestHarvest,
  artefacts: RunArtefacts,
  ports: Pick<StagePorts, 'tables' | 'work' | 'workBucket' | 'budget'>,
): Promise<string> {
  const set = new ManifestSet(harvest.manifests, harvest.other_spellings);
  // A pending manifest that a snapshot names by now is that snapshot's.
  const pending = draft.pending.filter((manifest) => set.add(manifest));
  const { manifests } = set;
  const references = distinctReferences([
    ...draft.references,
    ...[...manifests.map(({ path }) => path), ...set.otherSpellings].map((path) => ({
      path,
      kind: 'manifest' as const,
    })),
  ]);
  const { ignoreCase } = draft.plan.identity;
  const entries = totalEntries(manifests) + references.length;
  const sample = await sampleKeys(manifests, ports.tables, ignoreCase);
  const { roots } = draft.plan;
  const time = ports.budget.remainingMs();
  const listItems = await planListShards({
    roots,
    store: ports.tables,
    sample,
    references: entries,
    ignoreCase,
    // The rest is for writing.
    mayAsk: () => ports.budget.remainingMs() > time / 2,
  });
  const shards = packShards(manifests, references);
  const plan: Plan = {
    ...draft.plan,
    ranges: keyRanges(sample, entries),
    scan: { shards: shards.length, manifests: manifests.length, digests: [] },
    list: { shards: listItems.length },
    skipped_manifests: harvest.skipped,
    pending_manifests: { kept: draft.pending.length, read: pending.length, skipped: 0 },
  };
  return writePlan(ports, artefacts, plan, shards, listItems);
}
