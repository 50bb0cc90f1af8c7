/** The table behind a target as it stands now: for its lease, and for what a deletion would meet. */
import { createCatalog } from '#shared/catalog/catalog.ts';
import { TableNotFoundError } from '#shared/errors.ts';
import type { TableMetadata } from '#shared/iceberg/types.ts';
import { resolveLocation } from '#shared/identity/references.ts';
import { resolveInput } from '#shared/run/input.ts';
import { identityRules } from '#shared/run/input-identity.ts';
import { assertFree, leaseId } from '#shared/run/lease.ts';
import type { Folder } from '#shared/run/plan.ts';
import { probeRoot, readVersioning } from '#shared/run/probe-root.ts';
import { loadMetadata } from '#shared/run/table-reader.ts';
import type { Clock } from '#shared/runtime/stage-ports.ts';
import type { Runtime } from './runtime.ts';
import { LOCAL_DEPLOYMENT, type Target } from './target.ts';

export const clock: Clock = {
  now: () => Date.now(),
  sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
};
/** This process holds the state folder, so that no other execution of it runs. */
const executions = { status: async () => 'ended' as const };

async function currentTable(target: Target, runtime: Runtime): Promise<TableMetadata> {
  const resolved = resolveInput(target.input, LOCAL_DEPLOYMENT);
  const secrets = { read: async (name: string) => process.env[name.replace(/^env:/, '')] ?? '' };
  const pointer = await createCatalog(resolved, { tables: runtime.tables, secrets }).currentMetadata();
  const meta = await loadMetadata(runtime.tables, pointer.metadata_location, identityRules(resolved, resolved.table));
  if (meta === undefined)
    throw new TableNotFoundError(`The metadata file ${pointer.metadata_location} does not exist.`);
  return meta;
}

/** Id of the table's lease. */
export async function leaseOf(target: Target, runtime: Runtime): Promise<string> {
  const meta = await currentTable(target, runtime);
  return leaseId(meta.tableUuid, meta.location);
}

/** Folders that every run of the whole table deletes in. */
function placesOf(target: Target, meta: TableMetadata): readonly (Folder & { readonly named: string })[] {
  if (target.input['location'] !== undefined) return [];
  const rules = identityRules(resolveInput(target.input, LOCAL_DEPLOYMENT), meta.location);
  return ['data', 'metadata'].map((name) => {
    const named = `${meta.location.replace(/\/+$/, '')}/${name}/`;
    return { ...resolveLocation(named, rules), named };
  });
}

async function whatToAsk(target: Target, runtime: Runtime) {
  const meta = await currentTable(target, runtime);
  return { id: leaseId(meta.tableUuid, meta.location), places: placesOf(target, meta) };
}

/**
 * What would end the deletion after the plan is told before it, where it can be known cheaply. The run itself takes the lease,
 * probes every root, and records what it meets: a table that cannot even be read is for it to tell.
 *
 * @throws RunInProgressError, AccessDeniedError
 */
export async function assertDeletable(target: Target, runtime: Runtime): Promise<void> {
  const table = await whatToAsk(target, runtime).catch(() => undefined);
  if (table === undefined) return;
  await assertFree({ items: runtime.items, clock, executions }, table.id);
  for (const place of table.places) {
    // Where versioning is on, a store of unknown habits might answer with a delete marker.
    if ((await readVersioning(runtime.tables, place.bucket)) !== 'Unversioned') return;
    await probeRoot(runtime.tables, place, place.named);
  }
}
