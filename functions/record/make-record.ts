/** The record's numbers out of what a run left behind. */
import type { Verdict } from '#shared/errors.ts';
import { recordedPath } from '#shared/identity/references.ts';
import { addRequests, requestCostUsd } from '#shared/run/cost.ts';
import { nextStepOf } from '#shared/run/next-steps.ts';
import type { KeyResult } from '#shared/run/outcomes.ts';
import type { CandidateLine, FileClass, FileGroup, Tally } from '#shared/run/receipts.ts';
import type { RunRecord, TableTotals } from '#shared/run/record.ts';
import type { Gathered } from './gather.ts';
import { executionLinks } from './links.ts';
import { sum, warningsOf } from './warnings.ts';

export interface RecordHead {
  readonly run_id: string;
  readonly table: string;
  readonly execution: string;
  readonly started_at: string;
  readonly finished_at: string;
  readonly verdict: Verdict;
  readonly error?: string;
  readonly cause?: string;
  readonly dry_run: boolean;
  readonly comment?: string;
  readonly override?: string;
  readonly plan_run?: string;
}

const MOST_SAMPLE = 20;
/** A path may have 1,024 bytes; the output of an execution stays small all the same. */
const MOST_SAMPLE_CHARACTERS = 8000;
const CLASSES: readonly FileClass[] = ['referenced', 'protected', 'undated', 'young', 'waiting', 'candidate'];

export function makeRecord(head: RecordHead, gathered: Gathered, sample: readonly CandidateLine[]): RunRecord {
  const { plan, seal, scans, builds, lists, outcomes } = gathered;
  const tally = (result: KeyResult): Tally => addAll(outcomes.map((outcome) => outcome.tallies[result]));
  const deleted = tally('deleted');
  const failed = tally('failed').files + tally('unknown').files;
  const before = totals(gathered);
  const deletedMetadata = addAll(outcomes.map((outcome) => outcome.deleted_metadata));
  const kind = (name: string) => sum(outcomes.map((outcome) => outcome.kinds[name] ?? 0));
  const classFiles = (name: FileClass) =>
    classTally(gathered, name, 'content').files + classTally(gathered, name, 'metadata').files;
  const requests = addRequests([
    ...scans.map((receipt) => receipt.requests),
    ...builds.map((receipt) => receipt.requests),
    ...lists.map((receipt) => receipt.requests),
    ...outcomes.map((outcome) => ({
      get: outcome.reads,
      list: 0,
      put: outcome.requests * 2 + 1,
      delete: outcome.requests,
    })),
  ]);
  const versioned = Object.values(gathered.habits ?? {}).some((habit) => habit.versioning === 'Enabled');
  const links = executionLinks(head.execution);
  const remaining = seal === undefined ? 0 : outcomes.length === 0 ? seal.orphan_files : tally('left').files + failed;
  return {
    version: 1,
    run_id: head.run_id,
    table: head.table,
    verdict: head.verdict,
    ...(head.error === undefined ? {} : { error: head.error, next_step: nextStepOf(head.error) }),
    ...(head.cause === undefined ? {} : { cause: head.cause }),
    started_at: head.started_at,
    finished_at: head.finished_at,
    dry_run: head.dry_run,
    ...(head.comment === undefined ? {} : { comment: head.comment }),
    cutoff: plan?.cutoff ?? null,
    metadata_location: plan?.pin.metadata_location ?? null,
    table_uuid: plan?.pin.table_uuid ?? null,
    snapshot_id: plan?.pin.snapshot_id ?? null,
    plan_digest: gathered.digest,
    ...(head.plan_run === undefined ? {} : { plan_run: head.plan_run }),
    ...(head.override === undefined ? {} : { override: head.override }),
    before,
    after: {
      data_files: before.data_files - (deleted.files - deletedMetadata.files),
      data_bytes: before.data_bytes - (deleted.bytes - deletedMetadata.bytes),
      metadata_files: before.metadata_files - deletedMetadata.files,
      metadata_bytes: before.metadata_bytes - deletedMetadata.bytes,
    },
    processed_manifests_count: sum(scans.map((receipt) => receipt.manifests_read)),
    referenced_files_count: sum(builds.map((receipt) => receipt.distinct.named)),
    outside_roots_count: sum(builds.map((receipt) => receipt.distinct.outside)),
    scanned_files_count: sum(lists.map((receipt) => receipt.listed.files)),
    missing_files_count: gathered.missingFiles,
    tombstone_only_files_count: sum(builds.map((receipt) => receipt.distinct.deleted_only)),
    orphan_files_count: seal?.orphan_files ?? 0,
    orphan_bytes: seal?.orphan_bytes ?? 0,
    orphan_percent: { content: percent(gathered, 'content'), metadata: percent(gathered, 'metadata') },
    deleted_data_files_count: kind('data') + kind('other'),
    deleted_position_delete_files_count: kind('position_delete') + kind('dv'),
    deleted_equality_delete_files_count: kind('equality_delete'),
    deleted_manifest_files_count: kind('manifest'),
    deleted_manifest_lists_count: kind('manifest_list'),
    deleted_metadata_files_count: kind('metadata_file') + kind('version_hint'),
    deleted_statistics_files_count: kind('statistics'),
    skipped_missing_metadata_count: classFiles('undated'),
    failed_deletions_count: failed,
    deleted_files_count: deleted.files,
    deleted_bytes: deleted.bytes,
    bytes_reclaimed: deleted.files > 0 && !versioned,
    rescued_files_count: tally('rescued').files,
    changed_files_count: tally('changed').files,
    already_absent_files_count: tally('absent').files,
    remaining_files_count: remaining,
    kept: {
      young: classFiles('young'),
      protected: classFiles('protected'),
      waiting: classFiles('waiting'),
      undated: classFiles('undated'),
      unmanaged: plan?.unmanaged.files ?? 0,
    },
    skipped_manifests_count:
      (plan?.skipped_manifests.length ?? 0) + sum(scans.map((receipt) => receipt.manifests_skipped.length)),
    gates: seal?.gates ?? plan?.gates ?? [],
    filters: {
      shards: builds.length,
      entries: sum(builds.map((receipt) => receipt.distinct.content + receipt.distinct.metadata)),
      expected_fpp: Math.max(0, ...builds.map((receipt) => receipt.expected_fpp)),
    },
    ...deleteRate(gathered, deleted.files),
    requests,
    estimated_cost_usd: requestCostUsd(requests),
    tables_compared: plan?.tables_compared ?? null,
    artefacts: gathered.artefacts.prefix,
    report: null,
    ...(links === undefined ? {} : { links }),
    sample: samplePaths(gathered, sample),
    warnings: warningsOf(gathered, versioned, deleted.files),
  };
}

function totals({ lists }: Gathered): TableTotals {
  const group = (name: FileGroup) =>
    addAll(lists.flatMap((receipt) => CLASSES.map((fileClass) => receipt.classes[fileClass][name])));
  const [content, metadata] = [group('content'), group('metadata')];
  return {
    data_files: content.files,
    data_bytes: content.bytes,
    metadata_files: metadata.files,
    metadata_bytes: metadata.bytes,
  };
}

function classTally({ lists }: Gathered, fileClass: FileClass, group: FileGroup): Tally {
  return addAll(lists.map((receipt) => receipt.classes[fileClass][group]));
}

function percent(gathered: Gathered, group: FileGroup): number | null {
  const gate = gathered.seal?.gates.find((candidate) => candidate.name === `orphan_percent_${group}_files`);
  return typeof gate?.value === 'number' ? gate.value : null;
}

function deleteRate({ outcomes }: Gathered, deleted: number): Pick<RunRecord, 'delete_rate'> {
  if (outcomes.length === 0) return {};
  const start = Math.min(...outcomes.map((outcome) => Date.parse(outcome.started_at)));
  const end = Math.max(...outcomes.map((outcome) => Date.parse(outcome.finished_at)));
  const seconds = Math.max(0.001, (end - start) / 1000);
  return {
    delete_rate: {
      keys_per_second: Math.round((10 * deleted) / seconds) / 10,
      throttles: sum(outcomes.map((outcome) => outcome.throttles)),
    },
  };
}

function samplePaths({ plan }: Gathered, sample: readonly CandidateLine[]): string[] {
  if (plan === undefined) return [];
  const paths: string[] = [];
  let characters = 0;
  for (const line of sample.slice(0, MOST_SAMPLE)) {
    const path = recordedPath(line.bucket, line.key, plan.identity);
    characters += path.length;
    if (characters > MOST_SAMPLE_CHARACTERS) break;
    paths.push(path);
  }
  return paths;
}

function addAll(tallies: readonly Tally[]): Tally {
  return { files: sum(tallies.map((tally) => tally.files)), bytes: sum(tallies.map((tally) => tally.bytes)) };
}
