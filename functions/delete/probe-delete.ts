/**
 * ProbeDelete: may we delete, and does the store honour conditions? Asked before the expensive part of a deleting run, by a
 * delete that can remove nothing: an absent key, under a condition that no object meets.
 */

import { nameStoreError } from '#shared/catalog/table-objects.ts';
import { recordedPath } from '#shared/identity/references.ts';
import { type BucketHabits, type StoreHabits, writeHabits } from '#shared/run/delete-marks.ts';
import { assertStillOurs } from '#shared/run/lease.ts';
import type { ProbeEvent } from '#shared/run/messages.ts';
import type { Folder } from '#shared/run/plan.ts';
import { IMPOSSIBLE_ETAG, probeKey, probeRoot, readVersioning } from '#shared/run/probe-root.ts';
import { RunArtefacts } from '#shared/run/run-artefacts.ts';
import type { StagePorts } from '#shared/runtime/stage-ports.ts';
import { isStoreFault, type ObjectStore } from '#shared/storage/object-store.ts';

export async function probeDelete(event: ProbeEvent, ports: StagePorts): Promise<{ readonly probed: true }> {
  const { run } = event;
  const plan = await assertStillOurs(ports, run);
  const store = await ports.deletingStore(plan.roots);
  const habits: Record<string, BucketHabits> = {};
  for (const root of plan.roots) {
    const versioning = habits[root.bucket]?.versioning ?? (await readVersioning(ports.tables, root.bucket));
    // A store of unknown habits would answer the probe with a delete marker; S3 itself is known to honour the condition.
    const harmless = versioning === 'Unversioned' || !ports.deployment.local;
    const single = harmless
      ? await probeRoot(store, root, recordedPath(root.bucket, root.prefix, plan.identity))
      : false;
    // Some S3-compatible stores honour the condition of a single delete and pass over it in a batch.
    const honoured = single && (!ports.deployment.local || (await probeBatch(store, root)));
    const before = habits[root.bucket]?.conditionalDeletes ?? true;
    habits[root.bucket] = { versioning, conditionalDeletes: before && honoured };
  }
  const artefacts = new RunArtefacts(ports.work, ports.workBucket, run.prefix);
  await writeHabits(artefacts, habits satisfies StoreHabits);
  return { probed: true };
}

/** Whether the condition counts inside DeleteObjects too. An absent key and an impossible ETag: nothing can be removed. */
async function probeBatch(store: ObjectStore, { bucket, prefix }: Folder): Promise<boolean> {
  const key = probeKey(prefix);
  try {
    const reply = await store.deleteObjects(bucket, [{ key, etag: IMPOSSIBLE_ETAG }]);
    return reply.errors.some((error) => error.key === key);
  } catch (error) {
    // Without an answer its keys are looked at one by one, which needs no condition.
    if (isStoreFault(error, 'NotImplemented', 'BadRequest', 'Throttled', 'Unavailable')) return false;
    throw nameStoreError(error, 's3:DeleteObject', bucket, key);
  }
}
