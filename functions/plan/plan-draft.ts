/** What the plan stage knows before it reads manifest lists: kept as its progress when one invocation is not enough. */
import type { Plan, PlannedManifest, PlannedReference } from '#shared/run/plan.ts';

/** A manifest list still to read, in the order in which manifests are given to lists. */
export interface ListSource {
  readonly path: string;
  readonly kind: 'pinned' | 'later_root';
}

/** The plan less what the manifests decide. */
export type DraftPlan = Omit<Plan, 'ranges' | 'scan' | 'list' | 'skipped_manifests' | 'pending_manifests'>;

export interface PlanDraft {
  readonly plan: DraftPlan;
  /** Of the run that deletes: the fencing token, 0 for a dry run. */
  readonly fencing_token: number;
  readonly sources: readonly ListSource[];
  /** What metadata files name directly, manifests of lists not yet among them. */
  readonly references: readonly PlannedReference[];
  /** Manifests known without a list: inline ones of v1 tables. */
  readonly inline: readonly PlannedManifest[];
  readonly pending: readonly PlannedManifest[];
}

/** How far the lists are read. */
export interface ManifestHarvest {
  readonly next_source: number;
  readonly manifests: readonly PlannedManifest[];
  /** Recorded paths that name a manifest already planned under another spelling. */
  readonly other_spellings: readonly string[];
  readonly skipped: readonly string[];
}

export const NOTHING_READ: ManifestHarvest = { next_source: 0, manifests: [], other_spellings: [], skipped: [] };

export interface PlanProgress {
  readonly draft: PlanDraft;
  readonly harvest: ManifestHarvest;
}
