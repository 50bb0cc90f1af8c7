/** The lease: who may take it, who has lost it, and what a lost reply or a dead holder changes (CO-10). */
import assert from 'node:assert/strict';
import test from 'node:test';
import { assertLease, LEASE_MS, leaseId, lockTable, releaseLease, takeLease, unlockTable } from '#shared/run/lease.ts';
import { consumedKey, takeOnce } from '#shared/run/once.ts';
import { MemoryItemTable } from '#test/support/memory-item-table.ts';

function world() {
  const state = { now: 1_000_000, status: 'running' as 'running' | 'ended' | 'unknown' };
  const items = new MemoryItemTable();
  const ports = {
    items,
    clock: { now: () => state.now, sleep: async () => undefined },
    executions: { status: async () => state.status },
  };
  const take = (owner: string) => takeLease(ports, 'u1', { owner, execution: `arn:${owner}`, table: 'db.t' });
  return { state, items, ports, take };
}

const held = { name: 'RunInProgressError' };
const lost = { name: 'LeaseLostError' };

test('CO-10 the second run is turned away, with the holder named', async () => {
  const { take } = world();
  const ticket = await take('a');
  assert.equal(ticket.token, 1);
  await assert.rejects(take('b'), { ...held, message: /held by a until/ });
});

test('a run that asks again gets its token again', async () => {
  const { take } = world();
  assert.deepEqual(await take('a'), await take('a'));
});

test('a write whose reply was lost is granted to the same run', async () => {
  const { items, take } = world();
  items.hooks = {
    after: (call) => {
      if (call === 'put') throw new Error('reply lost');
    },
  };
  await assert.rejects(take('a'), /reply lost/);
  items.hooks = {};
  assert.equal((await take('a')).token, 1);
  await assert.rejects(take('b'), held);
});

test('a dead holder is replaced at once, and its late writes fail by the fencing token', async () => {
  const { state, ports, take } = world();
  const old = await take('a');
  state.status = 'ended';
  const fresh = await take('b');
  assert.equal(fresh.token, 2);
  await assert.rejects(assertLease(ports, old), lost);
  await assertLease(ports, fresh);
  await releaseLease(ports, old);
  await assertLease(ports, fresh);
});

test('a holder of whom nothing is known keeps its lease until it expires', async () => {
  const { state, ports, take } = world();
  const old = await take('a');
  state.status = 'unknown';
  await assert.rejects(take('b'), held);
  state.now += LEASE_MS;
  await assert.rejects(take('b'), held);
  state.now += 1;
  assert.equal((await take('b')).token, 2);
  await assert.rejects(assertLease(ports, old), lost);
});

test('a holder that renews while another takes over an expired lease keeps it: the expiry is in the condition', async () => {
  const { state, items, ports, take } = world();
  const ticket = await take('a');
  state.now += LEASE_MS + 1;
  let renewed = false;
  items.hooks = {
    before: async (call) => {
      if (call !== 'put' || renewed) return;
      renewed = true;
      await assertLease(ports, ticket);
    },
  };
  await assert.rejects(take('b'), held);
  await assertLease(ports, ticket);
});

test('of two that take a free lease at the same time one gets it', async () => {
  const { take } = world();
  const outcomes = await Promise.allSettled([take('a'), take('b'), take('c')]);
  assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1);
});

test('every stage renews: a run that works on does not expire', async () => {
  const { state, ports, take } = world();
  const ticket = await take('a');
  for (let hour = 0; hour < 5; hour += 1) {
    state.now += LEASE_MS - 1;
    await assertLease(ports, ticket);
  }
  await assert.rejects(take('b'), held);
});

test('the token never falls, through release and take-over', async () => {
  const { ports, take } = world();
  await releaseLease(ports, await take('a'));
  const second = await take('b');
  assert.equal(second.token, 2);
  await releaseLease(ports, second);
  assert.equal((await take('a')).token, 3);
});

test('a lease whose item is gone is lost', async () => {
  const { items, ports, take } = world();
  const ticket = await take('a');
  items.items.clear();
  await assert.rejects(assertLease(ports, ticket), { ...lost, message: /item is gone/ });
});

test('other maintenance jobs lock and unlock by the same item', async () => {
  const { state, ports, take } = world();
  await lockTable(ports, 'u1', 'compaction', 'db.t', 60_000);
  state.status = 'ended';
  await assert.rejects(take('a'), held);
  assert.equal(await unlockTable(ports, 'u1', 'somebody'), false);
  assert.equal(await unlockTable(ports, 'u1', 'compaction'), true);
  assert.equal(await unlockTable(ports, 'u1'), false);
  assert.equal((await take('a')).token, 2);
});

test('tables are known by uuid in any letter case, v1 tables without one by their folded location', () => {
  assert.equal(leaseId('ABCD', 's3://b/t'), leaseId('abcd', 's3://c/u'));
  assert.equal(leaseId(null, 's3://b/t//x'), leaseId(undefined, 's3://b/t/x'));
});

test('a plan digest is consumed by one run, and again by that same run', async () => {
  const items = new MemoryItemTable();
  assert.equal(await takeOnce(items, consumedKey('d'), 'a', {}), true);
  assert.equal(await takeOnce(items, consumedKey('d'), 'a', {}), true);
  assert.equal(await takeOnce(items, consumedKey('d'), 'b', {}), false);
});
