/** The build stage: merges every fragment of one key range into its filter shard and its list of covered references. */
import { FilterMismatchError, ScanIncompleteError } from '#shared/errors.ts';
import { TARGET_FPP } from '#shared/filter/bloom.ts';
import { countAbsent, distinctSorted, FingerprintList, toBytes } from '#shared/filter/fingerprints.ts';
import { encodeFilterShard } from '#shared/filter/shard-file.ts';
import { artefact } from '#shared/run/artefacts.ts';
import { readSections } from '#shared/run/fragments.ts';
import { assertStillOurs } from '#shared/run/lease.ts';
import type { BuildEvent, WorkerStep } from '#shared/run/messages.ts';
import type { BuildReceipt, FragmentGroup, ScanReceipt } from '#shared/run/receipts.ts';
import { newNonce, RunArtefacts } from '#shared/run/run-artefacts.ts';
import type { StagePorts } from '#shared/runtime/stage-ports.ts';

const DONE: WorkerStep = { done: true, next: '', wait_seconds: 0 };

type Kind = 'content' | 'metadata' | 'covered' | 'outside' | 'deleted';

/** Which lists a group's fingerprints go to. */
const KINDS: Readonly<Record<FragmentGroup, readonly Kind[]>> = {
  content_covered: ['content', 'covered'],
  content_inside: ['content'],
  content_outside: ['content', 'outside'],
  content_alias: ['content'],
  metadata_inside: ['metadata'],
  metadata_outside: ['metadata', 'outside'],
  metadata_alias: ['metadata'],
  deleted_entry: ['deleted'],
};

/**
 * Builds the filter shard of one range, sized for its exact number of distinct references. Every scan shard of the plan must
 * have left its receipt: a missing one would make its files look unreferenced.
 */
export async function buildFilter(event: BuildEvent, ports: StagePorts): Promise<WorkerStep> {
  const { run, item } = event;
  const artefacts = new RunArtefacts(ports.work, ports.workBucket, run.prefix);
  const plan = await artefacts.readPlan(run.plan_hash);
  const name = artefact.buildReceipt(item.range);
  if (await artefacts.readReceipt<BuildReceipt>(name, run.plan_hash, FilterMismatchError)) return DONE;
  await assertStillOurs(ports, run);

  const merged = await mergeFragments(artefacts, plan.scan.shards, run.plan_hash, item.range);
  const shard = encodeFilterShard(merged.content, merged.metadata, plan.salt);
  if (!(shard.expectedFpp <= 2 * TARGET_FPP)) {
    throw new FilterMismatchError(`Filter shard ${item.range} would answer wrongly too often: ${shard.expectedFpp}.`);
  }
  const nonce = newNonce();
  const entries = merged.content.length + merged.metadata.length;
  const filter = await artefacts.write(artefact.filterShard(item.range, nonce), shard.bytes, entries);
  const coverage = await artefacts.write(
    artefact.coverageKeys(item.range, nonce),
    toBytes(merged.covered),
    merged.covered.length,
  );
  await artefacts.writeOnce<BuildReceipt>(name, {
    plan_hash: run.plan_hash,
    range: item.range,
    fragments: merged.fragments,
    entries_merged: merged.entries,
    distinct: {
      content: merged.content.length,
      metadata: merged.metadata.length,
      covered: merged.covered.length,
      outside: merged.outside.length,
      deleted_only: countAbsent(merged.deleted, merged.content),
    },
    filter,
    coverage,
    expected_fpp: shard.expectedFpp,
    requests: { get: merged.fragments + plan.scan.shards, list: 0, put: 2, delete: 0 },
  });
  ports.metrics.add('ReferencedFiles', entries);
  return DONE;
}

interface Merged extends Readonly<Record<Kind, BigUint64Array>> {
  readonly fragments: number;
  /** Fingerprints read, before deduplication. */
  readonly entries: number;
}

async function mergeFragments(
  artefacts: RunArtefacts,
  scanShards: number,
  planHash: string,
  range: number,
): Promise<Merged> {
  const lists = {
    content: new FingerprintList(),
    metadata: new FingerprintList(),
    covered: new FingerprintList(),
    outside: new FingerprintList(),
    deleted: new FingerprintList(),
  };
  let fragments = 0;
  let entries = 0;
  for (let shard = 0; shard < scanShards; shard++) {
    const receipt = await artefacts.readReceipt<ScanReceipt>(
      artefact.scanReceipt(shard),
      planHash,
      ScanIncompleteError,
    );
    if (receipt === undefined) {
      throw new ScanIncompleteError(`Scan shard ${shard} of ${scanShards} left no receipt; start a new run.`);
    }
    for await (const { group, fingerprints } of readSections(artefacts, receipt, range, FilterMismatchError)) {
      fragments++;
      entries += fingerprints.length;
      for (const kind of KINDS[group]) lists[kind].pushAll(fingerprints);
    }
  }
  const distinct = (list: FingerprintList) => distinctSorted(list.sorted());
  return {
    content: distinct(lists.content),
    metadata: distinct(lists.metadata),
    covered: distinct(lists.covered),
    outside: distinct(lists.outside),
    deleted: distinct(lists.deleted),
    fragments,
    entries,
  };
}
