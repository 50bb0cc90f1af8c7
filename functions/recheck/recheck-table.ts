/** The recheck stage: one look at the table before the first batch, so that what changed since the plan is read once. */
import { createCatalog } from '#shared/catalog/catalog.ts';
import { createKeyHasher } from '#shared/filter/key-hash.ts';
import { assertStillOurs, ticketOf } from '#shared/run/lease.ts';
import type { RecheckEvent } from '#shared/run/messages.ts';
import { Rechecker } from '#shared/run/recheck.ts';
import { RunArtefacts } from '#shared/run/run-artefacts.ts';
import type { StagePorts } from '#shared/runtime/stage-ports.ts';

export async function recheckTable(event: RecheckEvent, ports: StagePorts): Promise<{ readonly checked: true }> {
  const { run } = event;
  const plan = await assertStillOurs(ports, run);
  const rechecker = new Rechecker({
    plan,
    planHash: run.plan_hash,
    ticket: ticketOf(run, plan),
    ports,
    catalog: createCatalog(plan.input, ports),
    hasher: await createKeyHasher(plan.salt),
    artefacts: new RunArtefacts(ports.work, ports.workBucket, run.prefix),
    planArtefacts: new RunArtefacts(ports.work, ports.workBucket, run.seal_prefix),
    first: true,
  });
  await rechecker.look();
  return { checked: true };
}
