/**
 * The lease of a table: one item of the run table, by which deleting runs and other maintenance jobs keep out of each
 * other's way (DESIGN section 9). Documented protocol:
 *
 *   pk `LEASE#<table-uuid>` (tables without uuid: `LEASE#<folded location>`), sk `LEASE`
 *   owner          run id or the job's own name; '' while nobody holds it
 *   execution      `$$.Execution.Id` of a run, '' for other jobs
 *   token          fencing token; grows by one with every new holder, never falls
 *   expires_at_ms  epoch milliseconds; after it anyone may take the lease
 *
 * The item is never deleted, since the token must outlive its holders. Every write states owner, token and, where one
 * takes over, the expiry that it saw.
 */
import { LeaseLostError, RunInProgressError } from '#shared/errors.ts';
import { foldKey } from '#shared/identity/fold-key.ts';
import type { StagePorts } from '#shared/runtime/stage-ports.ts';
import type { Condition, Item, ItemKey } from './item-table.ts';
import type { RunState } from './messages.ts';
import type { Plan } from './plan.ts';
import { RunArtefacts } from './run-artefacts.ts';

/** Longer than any single call of a worker, all of which renew. */
export const LEASE_MS = 3_600_000;
const ATTEMPTS = 5;

type LeasePorts = Pick<StagePorts, 'items' | 'clock' | 'executions'>;

export interface LeaseHolder {
  readonly owner: string;
  /** '' for jobs that are no execution of ours: their lease ends by expiry or release only. */
  readonly execution: string;
  readonly table: string;
}

/** What a holder shows to be believed. */
export interface LeaseTicket {
  readonly leaseId: string;
  readonly owner: string;
  readonly token: number;
}

/** What a lease is about: the table-uuid, or the folded location of a table that has none. */
export function leaseId(tableUuid: string | null | undefined, location: string, ignoreCase = false): string {
  return tableUuid ? tableUuid.toLowerCase() : foldKey(location, ignoreCase);
}

export function leaseIdOfPlan(plan: Plan): string {
  return leaseId(plan.pin.table_uuid, plan.location, plan.identity.ignoreCase);
}

function leaseKey(id: string): ItemKey {
  return { pk: `LEASE#${id}`, sk: 'LEASE' };
}

const tokenOf = (item: Item | undefined): number => (typeof item?.['token'] === 'number' ? item['token'] : 0);
const expiryOf = (item: Item | undefined): number =>
  typeof item?.['expires_at_ms'] === 'number' ? item['expires_at_ms'] : 0;

function heldItem(id: string, holder: LeaseHolder, token: number, now: number, ttlMs: number): Item {
  return {
    ...leaseKey(id),
    owner: holder.owner,
    execution: holder.execution,
    table: holder.table,
    token,
    taken_at: new Date(now).toISOString(),
    expires_at_ms: now + ttlMs,
  };
}

/** The condition under which `stored` may be replaced at `now`, or undefined while its holder must be left alone. */
async function takeOverCondition(ports: LeasePorts, stored: Item, now: number): Promise<Condition | undefined> {
  const same = { attribute: 'token', equals: tokenOf(stored) } as const;
  if (stored['owner'] === '') return [[same, { attribute: 'owner', equals: '' }]];
  // Compared in the condition too: a holder that renews at this moment keeps the lease.
  if (expiryOf(stored) < now) return [[same, { attribute: 'expires_at_ms', lessThan: now }]];
  const execution = stored['execution'];
  if (typeof execution !== 'string' || execution === '') return undefined;
  if ((await ports.executions.status(execution)) !== 'ended') return undefined;
  return [[same, { attribute: 'expires_at_ms', equals: expiryOf(stored) }]];
}

function inProgress(stored: Item): RunInProgressError {
  const until = new Date(expiryOf(stored)).toISOString();
  return new RunInProgressError(`The table's lease is held by ${String(stored['owner'])} until ${until}.`, {
    next: 'Nothing was done; the next run will do, or `icesweep unlock` if that holder is known to be gone.',
  });
}

/**
 * Takes the lease, or answers the token again to the owner that has it. Throws RunInProgressError while another holds it.
 */
export async function takeLease(
  ports: LeasePorts,
  id: string,
  holder: LeaseHolder,
  ttlMs: number = LEASE_MS,
): Promise<LeaseTicket> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const now = ports.clock.now();
    const stored = await ports.items.get(leaseKey(id));
    const mine = stored?.['owner'] === holder.owner;
    const condition: Condition | undefined =
      stored === undefined
        ? [[{ absent: true }]]
        : mine
          ? ownCondition(holder.owner, tokenOf(stored))
          : await takeOverCondition(ports, stored, now);
    if (condition === undefined) throw inProgress(stored!);
    const token = mine ? tokenOf(stored) : tokenOf(stored) + 1;
    if (await ports.items.put(heldItem(id, holder, token, now, ttlMs), condition)) {
      return { leaseId: id, owner: holder.owner, token };
    }
  }
  throw new RunInProgressError("The table's lease is contended by other holders.", {
    next: 'Nothing was done; the next run will do.',
  });
}

/** Throws RunInProgressError where takeLease would; takes nothing. */
export async function assertFree(ports: LeasePorts, id: string): Promise<void> {
  const stored = await ports.items.get(leaseKey(id));
  if (stored !== undefined && (await takeOverCondition(ports, stored, ports.clock.now())) === undefined)
    throw inProgress(stored);
}

function ownCondition(owner: string, token: number): Condition {
  return [
    [
      { attribute: 'owner', equals: owner },
      { attribute: 'token', equals: token },
    ],
  ];
}

function lost(ticket: LeaseTicket, stored: Item | undefined): LeaseLostError {
  const holder = stored === undefined ? 'nobody: its item is gone' : String(stored['owner'] || 'nobody');
  return new LeaseLostError(
    `The lease of this run (token ${ticket.token}) is no longer its own: it is held by ${holder} with token ${tokenOf(stored)}.`,
    { next: 'Nothing more is deleted; start a new run.' },
  );
}

/**
 * Checks the fencing token and renews the lease once half of its time is gone. Throws LeaseLostError.
 */
export async function assertLease(ports: Pick<LeasePorts, 'items' | 'clock'>, ticket: LeaseTicket): Promise<void> {
  const stored = await ports.items.get(leaseKey(ticket.leaseId));
  if (stored === undefined || stored['owner'] !== ticket.owner || tokenOf(stored) !== ticket.token) {
    throw lost(ticket, stored);
  }
  const now = ports.clock.now();
  if (expiryOf(stored) - now > LEASE_MS / 2) return;
  const renewed = { ...stored, expires_at_ms: now + LEASE_MS };
  if (!(await ports.items.put(renewed, ownCondition(ticket.owner, ticket.token)))) {
    throw lost(ticket, await ports.items.get(leaseKey(ticket.leaseId)));
  }
}

/** The ticket of a run, as every stage can make it from plan and state. */
export function ticketOf(run: RunState, plan: Plan): LeaseTicket {
  return { leaseId: leaseIdOfPlan(plan), owner: run.run_id, token: run.fencing_token };
}

/**
 * What every later stage checks first: the plan is the one that this run started with and, for a deleting run, the lease
 * is still its own. Answers the plan, so that it is read once.
 */
export async function assertStillOurs(
  ports: Pick<StagePorts, 'items' | 'clock' | 'work' | 'workBucket'>,
  run: RunState,
): Promise<Plan> {
  const plan = await new RunArtefacts(ports.work, ports.workBucket, run.seal_prefix || run.prefix).readPlan(
    run.plan_hash,
  );
  if (run.deleting) await assertLease(ports, ticketOf(run, plan));
  return plan;
}

/** Gives the lease back. Quiet where it is another's by now. The token stays. */
export async function releaseLease(ports: Pick<LeasePorts, 'items'>, ticket: LeaseTicket): Promise<void> {
  const free: Item = { ...leaseKey(ticket.leaseId), owner: '', execution: '', token: ticket.token, expires_at_ms: 0 };
  await ports.items.put(free, ownCondition(ticket.owner, ticket.token));
}

/** For other maintenance jobs: holds the table for `ttlMs`; called again by the same owner it prolongs. */
export function lockTable(
  ports: LeasePorts,
  id: string,
  owner: string,
  table: string,
  ttlMs: number,
): Promise<LeaseTicket> {
  return takeLease(ports, id, { owner, execution: '', table }, ttlMs);
}

/** Ends a lock. With an owner only that owner's; without, whoever holds it. False where nothing was held by them. */
export async function unlockTable(ports: Pick<LeasePorts, 'items'>, id: string, owner?: string): Promise<boolean> {
  const stored = await ports.items.get(leaseKey(id));
  if (stored === undefined || stored['owner'] === '' || (owner !== undefined && stored['owner'] !== owner))
    return false;
  const ticket = { leaseId: id, owner: String(stored['owner']), token: tokenOf(stored) };
  await releaseLease(ports, ticket);
  return true;
}
