/** The build stage: merges every fragment of one key range into its filter shard and its list of covered references. */
import { FilterMismatchError } from '#shared/errors.ts';
import { TARGET_FPP } from '#shared/filter/bloom.ts';
import { FingerprintUnion, toBytes } from '#shared/filter/fingerprints.ts';
import { encodeFilterShard } from '#shared/filter/shard-file.ts';
import { artefact } from '#shared/run/artefacts.ts';
import { assertStillOurs } from '#shared/run/lease.ts';
import type { BuildEvent, WorkerStep } from '#shared/run/messages.ts';
import type { BuildReceipt, FragmentGroup } from '#shared/run/receipts.ts';
import { newNonce, RunArtefacts } from '#shared/run/run-artefacts.ts';
import type { StagePorts } from '#shared/runtime/stage-ports.ts';
import { mergeFragments } from './merge-fragments.ts';

const DONE: WorkerStep = { done: true, next: '', wait_seconds: 0 };

const CONTENT: readonly FragmentGroup[] = ['content_covered', 'content_inside', 'content_outside', 'content_alias'];
const METADATA: readonly FragmentGroup[] = ['metadata_inside', 'metadata_outside', 'metadata_alias'];
/** Each reference once: a further spelling of an alias protects and is no file of its own. */
const NAMED: readonly FragmentGroup[] = [
  'content_covered',
  'content_inside',
  'content_outside',
  'metadata_inside',
  'metadata_outside',
];
const OUTSIDE: readonly FragmentGroup[] = ['content_outside', 'metadata_outside'];

/** Builds the filter shard of one range, sized for its exact number of distinct references. */
export async function buildFilter(event: BuildEvent, ports: StagePorts): Promise<WorkerStep> {
  const { run, item } = event;
  const artefacts = new RunArtefacts(ports.work, ports.workBucket, run.prefix);
  const plan = await assertStillOurs(ports, run);
  const name = artefact.buildReceipt(item.range);
  if (await artefacts.readReceipt<BuildReceipt>(name, run.plan_hash, FilterMismatchError)) return DONE;

  const merged = await mergeFragments(artefacts, plan.scan.shards, run.plan_hash, item.range);
  const union = (groups: readonly FragmentGroup[]) =>
    new FingerprintUnion(groups.map((group) => merged.groups.get(group) ?? new BigUint64Array()));
  const content = union(CONTENT);
  const metadata = union(METADATA);
  const covered = merged.groups.get('content_covered') ?? new BigUint64Array();
  const shard = encodeFilterShard(content, metadata, plan.salt);
  if (!(shard.expectedFpp <= 2 * TARGET_FPP)) {
    throw new FilterMismatchError(`Filter shard ${item.range} would answer wrongly too often: ${shard.expectedFpp}.`);
  }
  const nonce = newNonce();
  const entries = content.size + metadata.size;
  const filter = await artefacts.write(artefact.filterShard(item.range, nonce), shard.bytes, entries);
  const coverage = await artefacts.write(artefact.coverageKeys(item.range, nonce), toBytes(covered), covered.length);
  await artefacts.writeOnce<BuildReceipt>(name, {
    plan_hash: run.plan_hash,
    range: item.range,
    fragments: merged.fragments,
    entries_merged: merged.entries,
    distinct: {
      content: content.size,
      metadata: metadata.size,
      covered: covered.length,
      outside: union(OUTSIDE).size,
      named: union(NAMED).size,
      deleted_only: content.countAbsent(merged.groups.get('deleted_entry') ?? new BigUint64Array()),
    },
    filter,
    coverage,
    expected_fpp: shard.expectedFpp,
    requests: { get: merged.gets, list: 0, put: 3, delete: 0 },
  });
  ports.metrics.add('ReferencedFiles', entries);
  return DONE;
}
