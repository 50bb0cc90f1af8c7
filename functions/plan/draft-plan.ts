/** From the pinned table to everything of the plan that needs no manifest list. */
import type { Catalog, CurrentPointer } from '#shared/catalog/catalog.ts';
import { directReferences } from '#shared/iceberg/reachability.ts';
import { recordedPath } from '#shared/identity/references.ts';
import { leaseId, takeLease } from '#shared/run/lease.ts';
import type { ExecutionContext, RunState } from '#shared/run/messages.ts';
import type { GateResult, PlannedManifest, PlannedReference } from '#shared/run/plan.ts';
import type { ResolvedInput } from '#shared/run/resolved-input.ts';
import type { StagePorts } from '#shared/runtime/stage-ports.ts';
import { inlineManifests, listSources } from './collect-manifests.ts';
import { findPendingManifests, type PendingManifests } from './pending-manifests.ts';
import { type PinnedTable, pinTable, writerTime } from './pin-table.ts';
import type { DraftPlan, PlanDraft } from './plan-draft.ts';
import { planUnmanaged } from './plan-roots.ts';
import { type Survey, surveyTable } from './survey-table.ts';
import { saltOf } from './write-plan.ts';

export interface DraftQuestion {
  readonly input: ResolvedInput;
  readonly execution: ExecutionContext;
  readonly run: RunState;
  readonly catalog: Catalog;
  readonly ports: StagePorts;
}

/** The cut-off, fixed once: files must be strictly older. */
export function cutoffOf(input: ResolvedInput, t0: Date): string {
  if (input.older_than_instant !== undefined) return new Date(input.older_than_instant).toISOString();
  return new Date(t0.getTime() - (input.older_than_ms ?? 0)).toISOString();
}

/** Resolving the input refuses what fails here, so the result is for the record. */
export function gateCutoff(input: ResolvedInput, t0: Date): GateResult {
  const latest = new Date(t0.getTime() - input.floor_ms).toISOString();
  return { name: 'older_than', value: cutoffOf(input, t0), limit: latest, passed: true };
}

/** The lease keeps other deleting runs off; a dry run takes none. Throws RunInProgressError. */
async function takeRunLease(question: DraftQuestion, table: PinnedTable): Promise<number> {
  const { input, execution, ports } = question;
  if (input.dry_run) return 0;
  const id = leaseId(table.meta.tableUuid, table.meta.location, input.ignore_case);
  const ticket = await takeLease(ports, id, { owner: execution.name, execution: execution.id, table: input.table });
  return ticket.token;
}

function directOf(table: PinnedTable, survey: Survey, pending: readonly PlannedManifest[]): PlannedReference[] {
  const references = [table.meta, ...survey.later.roots].flatMap(directReferences);
  for (const { path } of pending) references.push({ path, kind: 'pending_manifest' });
  return references;
}

function pendingManifests(table: PinnedTable, pending: PendingManifests): PlannedManifest[] {
  return pending.files.map(({ bucket, key, sizeBytes }) => ({
    path: recordedPath(bucket, key, table.identity),
    bucket,
    key,
    content: 'data' as const,
    length: sizeBytes,
    kind: 'pending' as const,
  }));
}

async function draftOf(
  question: DraftQuestion,
  table: PinnedTable,
  pointer: CurrentPointer,
  survey: Survey,
  jobs: PendingManifests,
): Promise<DraftPlan> {
  const { input, execution, run } = question;
  const t0 = new Date(execution.start_time);
  return {
    version: 1,
    run_id: run.run_id,
    table: input.table,
    prefix: run.prefix,
    input,
    t0: t0.toISOString(),
    cutoff: cutoffOf(input, t0),
    writer_time: writerTime(table.meta),
    pin: table.pin,
    pointer,
    location: table.meta.location,
    metadata_roots: [
      ...new Set([table.meta.metadataLocation, ...survey.later.roots.map((root) => root.metadataLocation)]),
    ],
    roots: survey.roots.roots,
    data_folders: survey.roots.dataFolders,
    metadata_folders: survey.metadataFolders,
    identity: table.identity,
    partition_fields: [...new Set([table.meta, ...survey.later.roots].flatMap((meta) => meta.partitionFields))],
    flink: { job_ids: jobs.jobIds, manifest_folders: jobs.folders },
    salt: saltOf(run.run_id, t0.toISOString()),
    unmanaged: await planUnmanaged(survey.rootsQuestion, survey.roots.roots),
    tables_compared: survey.neighbours.compared,
    superseded_metadata_files: survey.later.superseded,
    gates: [gateCutoff(input, t0), ...table.gates, ...survey.gates],
    warnings: [...input.warnings, ...survey.warnings],
  };
}

/** Asks the catalog, pins, judges and surveys; takes the lease once every other gate has passed. */
export async function draftPlan(question: DraftQuestion): Promise<PlanDraft> {
  const { input, execution, catalog, ports } = question;
  const pointer = await catalog.currentMetadata();
  const table = await pinTable(input, pointer, ports.tables);
  const survey = await surveyTable({ table, pointer, catalog, input, store: ports.tables, budget: ports.budget });
  const token = await takeRunLease(question, table);
  const jobs = await findPendingManifests({
    table,
    laterRoots: survey.later.roots,
    listed: survey.metadataFiles,
    store: ports.tables,
    t0Ms: Date.parse(execution.start_time),
    horizonMs: input.pending_manifest_horizon_ms,
  });
  const pending = pendingManifests(table, jobs);
  return {
    plan: await draftOf(question, table, pointer, survey, jobs),
    fencing_token: token,
    sources: listSources(table.meta, survey.later.roots),
    references: directOf(table, survey, pending),
    inline: inlineManifests(table.meta, survey.later.roots, table.identity),
    pending,
  };
}
