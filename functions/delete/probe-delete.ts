/**
 * ProbeDelete: may we delete, and does the store honour conditions? Asked before the expensive part of a deleting run, by a
 * delete that can remove nothing: an absent key, under a condition that no object meets.
 */

import { nameStoreError } from '#shared/catalog/table-objects.ts';
import { AccessDeniedError } from '#shared/errors.ts';
import { recordedPath } from '#shared/identity/references.ts';
import { type BucketHabits, type StoreHabits, writeHabits } from '#shared/run/delete-marks.ts';
import { assertStillOurs } from '#shared/run/lease.ts';
import type { ProbeEvent } from '#shared/run/messages.ts';
import type { Plan } from '#shared/run/plan.ts';
import { newNonce, RunArtefacts } from '#shared/run/run-artefacts.ts';
import type { StagePorts } from '#shared/runtime/stage-ports.ts';
import { stepAfterDenial } from '#shared/storage/denied.ts';
import { isStoreFault, type ObjectStore, type Versioning } from '#shared/storage/object-store.ts';

/** No object has this ETag. */
const IMPOSSIBLE_ETAG = '"icesweep-probe"';

export async function probeDelete(event: ProbeEvent, ports: StagePorts): Promise<{ readonly probed: true }> {
  const { run } = event;
  const plan = await assertStillOurs(ports, run);
  const store = await ports.deletingStore(plan.roots);
  const habits: Record<string, BucketHabits> = {};
  for (const root of plan.roots) {
    const versioning = habits[root.bucket]?.versioning ?? (await readVersioning(ports.tables, root.bucket));
    // A store of unknown habits would answer the probe with a delete marker; S3 itself is known to honour the condition.
    const harmless = versioning === 'Unversioned' || !ports.deployment.local;
    const single = harmless ? await probeRoot(store, plan, root.bucket, root.prefix) : false;
    // Some S3-compatible stores honour the condition of a single delete and pass over it in a batch.
    const honoured = single && (!ports.deployment.local || (await probeBatch(store, plan, root.bucket, root.prefix)));
    const before = habits[root.bucket]?.conditionalDeletes ?? true;
    habits[root.bucket] = { versioning, conditionalDeletes: before && honoured };
  }
  const artefacts = new RunArtefacts(ports.work, ports.workBucket, run.prefix);
  await writeHabits(artefacts, habits satisfies StoreHabits);
  return { probed: true };
}

/** Whether the condition counts inside DeleteObjects too. An absent key and an impossible ETag: nothing can be removed. */
async function probeBatch(store: ObjectStore, plan: Plan, bucket: string, prefix: string): Promise<boolean> {
  const key = `${prefix}.icesweep-probe-${plan.run_id}-${newNonce()}`;
  try {
    const reply = await store.deleteObjects(bucket, [{ key, etag: IMPOSSIBLE_ETAG }]);
    return reply.errors.some((error) => error.key === key);
  } catch (error) {
    // Without an answer its keys are looked at one by one, which needs no condition.
    if (isStoreFault(error, 'NotImplemented', 'BadRequest', 'Throttled', 'Unavailable')) return false;
    throw nameStoreError(error, 's3:DeleteObject', bucket, key);
  }
}

/** True where the store refused the impossible condition, false where it did as if there were none. */
async function probeRoot(store: ObjectStore, plan: Plan, bucket: string, prefix: string): Promise<boolean> {
  const key = `${prefix}.icesweep-probe-${plan.run_id}-${newNonce()}`;
  try {
    await store.deleteObject(bucket, key, { ifMatch: IMPOSSIBLE_ETAG });
    return false;
  } catch (error) {
    if (isStoreFault(error, 'NotFound', 'PreconditionFailed')) return true;
    if (isStoreFault(error, 'NotImplemented', 'BadRequest')) return false;
    if (isStoreFault(error, 'AccessDenied')) {
      const grant = `Grant s3:DeleteObject and s3:GetObject on s3://${bucket}/${prefix}*.`;
      throw new AccessDeniedError(
        `Deleting under ${recordedPath(bucket, prefix, plan.identity)} is not permitted; nothing was scanned or deleted.`,
        { cause: error, next: stepAfterDenial(error, grant) },
      );
    }
    throw nameStoreError(error, 's3:DeleteObject', bucket, key);
  }
}

async function readVersioning(tables: ObjectStore, bucket: string): Promise<Versioning> {
  try {
    return await tables.versioning(bucket);
  } catch (error) {
    if (isStoreFault(error, 'NotImplemented', 'BadRequest')) return 'Unversioned';
    throw nameStoreError(error, 's3:GetBucketVersioning', bucket, '');
  }
}
