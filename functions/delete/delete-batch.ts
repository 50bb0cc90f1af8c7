/** The delete stage, one batch: deletes exactly what the seal lists, after a look at the table before every request. */
import { createCatalog } from '#shared/catalog/catalog.ts';
import { PlanNotDeletableError, ServiceUnavailableError } from '#shared/errors.ts';
import { createKeyHasher } from '#shared/filter/key-hash.ts';
import { artefact } from '#shared/run/artefacts.ts';
import { readHabits, readStopMarker, StageStoppedError, stopDeleting } from '#shared/run/delete-marks.ts';
import { assertStillOurs, ticketOf } from '#shared/run/lease.ts';
import type { DeleteEvent, WorkerStep } from '#shared/run/messages.ts';
import type { BatchOutcome } from '#shared/run/outcomes.ts';
import { Rechecker, stopsTheStage } from '#shared/run/recheck.ts';
import { RunArtefacts } from '#shared/run/run-artefacts.ts';
import type { StagePorts } from '#shared/runtime/stage-ports.ts';
import { isStoreFault } from '#shared/storage/object-store.ts';
import { BatchKeys } from './batch-keys.ts';
import { BatchRun } from './batch-run.ts';
import { loadBatch, loadSeal, requireDeletable } from './sealed-batch.ts';

const DAY_MS = 86_400_000;

/**
 * Works on a batch until it is settled, the store asks for a pause, or time runs short; the Wait state makes the pause.
 * Everything that was asked and answered lies in S3, so that a repeated, late or killed call goes on where it stood.
 */
export async function deleteBatch(event: DeleteEvent, ports: StagePorts): Promise<WorkerStep> {
  const { run, item } = event;
  const artefacts = new RunArtefacts(ports.work, ports.workBucket, run.prefix);
  const planArtefacts = new RunArtefacts(ports.work, ports.workBucket, run.seal_prefix);
  const name = artefact.outcome(item.batch);
  const done = await artefacts.readReceipt<BatchOutcome>(name, run.plan_hash, PlanNotDeletableError);
  if (done !== undefined) return { done: true, next: '', wait_seconds: 0 };
  try {
    const marker = await readStopMarker(artefacts);
    if (marker !== undefined) throw new StageStoppedError(marker);
    const plan = await assertStillOurs(ports, run);
    const seal = await loadSeal(planArtefacts, run.plan_digest);
    requireDeletable(seal, run, plan);
    const { sealed, lines } = await loadBatch(planArtefacts, seal, plan, item.batch);
    const hasher = await createKeyHasher(plan.salt);
    const rechecker = new Rechecker({
      plan,
      planHash: run.plan_hash,
      ticket: ticketOf(run, plan),
      ports,
      catalog: createCatalog(plan.input, ports),
      hasher,
      artefacts,
      planArtefacts,
    });
    const before = seal.batches.slice(0, item.batch).reduce((total, batch) => total + batch.files, 0);
    const habits = (await readHabits(artefacts))?.[sealed.bucket];
    const keys = new BatchKeys(lines);
    const allowed = Math.max(0, (plan.input.max_files_per_run ?? Number.POSITIVE_INFINITY) - before);
    for (const { key } of lines.slice(Math.min(allowed, lines.length))) keys.settle({ key, result: 'left' });
    const batch = new BatchRun({
      run,
      plan,
      sealed,
      keys,
      versioned: (habits?.versioning ?? 'Unversioned') === 'Enabled',
      conditional: habits?.conditionalDeletes ?? false,
      lookAlways: ports.clock.now() - Date.parse(seal.t0) > DAY_MS,
      rechecker,
      artefacts,
      store: await ports.deletingStore(seal.roots),
      ports,
    });
    return await batch.work();
  } catch (error) {
    if (stopsTheStage(error)) await stopDeleting(artefacts, error, ports.clock.now());
    if (isStoreFault(error, 'Throttled', 'Unavailable')) {
      throw new ServiceUnavailableError(`The store failed during batch ${item.batch}: ${error.message}`, {
        cause: error,
      });
    }
    throw error;
  }
}
