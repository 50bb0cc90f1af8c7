/** A further root of the plan (a commit of unknown outcome) that becomes current between plan and delete. */
import assert from 'node:assert/strict';
import test from 'node:test';
import type { Catalog, CurrentPointer } from '#shared/catalog/catalog.ts';
import { createKeyHasher } from '#shared/filter/key-hash.ts';
import { artefact } from '#shared/run/artefacts.ts';
import { leaseIdOfPlan, takeLease } from '#shared/run/lease.ts';
import type { Plan } from '#shared/run/plan.ts';
import { Rechecker } from '#shared/run/recheck.ts';
import { RunArtefacts } from '#shared/run/run-artefacts.ts';
import { RunWorld } from '#test/support/run-world.ts';

type Commit = (world: RunWorld, table: Awaited<ReturnType<RunWorld['table']>>) => Promise<void>;

/** Plans over the older of two metadata files; the newer one is a further root. Answers a recheck in which it is current. */
async function recheckOf(commit: Commit, harm?: (world: RunWorld, added: readonly string[]) => () => Promise<void>) {
  const world = new RunWorld();
  const table = await world.table();
  await table.append(2);
  const pinned = table.metadataFile as { recorded: string };
  const before = new Set(world.keys());
  await commit(world, table);
  const latest = table.metadataFile as { recorded: string };
  const mend = harm?.(
    world,
    world.keys().filter((key) => !before.has(key)),
  );
  const { record, state } = await world.run({
    metadata_location: pinned.recorded,
    dry_run: true,
    max_orphan_percent: 100,
  });
  await mend?.();

  const artefacts = new RunArtefacts(world.work, 'work', record.artefacts);
  const plan = (await artefacts.readJson<Plan>(artefact.plan)) as Plan;
  assert.deepEqual(plan.metadata_roots, [pinned.recorded, latest.recorded]);
  const pointer: CurrentPointer = { ...plan.pointer, metadata_location: latest.recorded, further: [] };
  const catalog: Catalog = { currentMetadata: async () => pointer, reread: async () => pointer };
  const holder = { owner: 'run', execution: 'run', table: plan.table };
  const rechecker = new Rechecker({
    plan,
    planHash: state?.plan_hash ?? '',
    ticket: await takeLease(world.ports, leaseIdOfPlan(plan), holder),
    ports: world.ports,
    catalog,
    hasher: await createKeyHasher(plan.salt),
    artefacts,
    planArtefacts: artefacts,
  });
  return { rechecker, table, before };
}

test('its gates are judged: gc.enabled that it sets to false stops the run', async () => {
  const { rechecker } = await recheckOf((_world, table) => table.setProperties({ 'gc.enabled': 'false' }));

  await assert.rejects(rechecker.look(), { name: 'GcDisabledError' });
});

test('a manifest of it that was gone during the scan is read by the recheck', async () => {
  let file = '';
  const { rechecker } = await recheckOf(
    async (_world, table) => {
      const [added] = await table.append(1);
      file = (added as { key: string }).key;
    },
    (world, added) => {
      const manifest = added.find((key) => /-m\d+\.avro$/.test(key)) as string;
      const bucket = world.tables.bucket('b');
      let body: Buffer;
      const gone = bucket.read(manifest, 0, Number.MAX_SAFE_INTEGER).then(async (bytes) => {
        body = Buffer.from(bytes);
        await bucket.delete(manifest, {});
      });
      return async () => {
        await gone;
        world.tables.seed('b', manifest, body, world.writeMs);
      };
    },
  );

  const look = await rechecker.look();

  assert.ok(look.isRescued(file));
});
