import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { after } from 'node:test';
import { openRunTable } from '#infra/local/machine/run-table.ts';
import { fromAttribute, toAttribute } from '#shared/run/dynamo-item-table.ts';
import type { Item } from '#shared/run/item-table.ts';
import { scriptedMachineFile } from '#test/infra/scripted-machine.ts';

const folder = mkdtempSync(join(tmpdir(), 'icesweep-items-'));
const table = await openRunTable(folder, (await scriptedMachineFile()).runTable);
after(async () => {
  await table.close();
  rmSync(folder, { recursive: true, force: true });
});
const { items } = table;
const key = { pk: 'LEASE#1', sk: 'LEASE' };

test('a write where nothing may be succeeds once', async () => {
  assert.equal(await items.put({ ...key, owner: 'a', token: 1 }, [[{ absent: true }]]), true);
  assert.equal(await items.put({ ...key, owner: 'b', token: 1 }, [[{ absent: true }]]), false);
  assert.equal((await items.get(key))?.['owner'], 'a');
});

test('a condition is met by any of its alternatives, each in full', async () => {
  await items.put({ ...key, owner: 'a', expires_at_ms: 100 });
  const free = [
    [
      { attribute: 'owner', equals: 'b' },
      { attribute: 'expires_at_ms', lessThan: 50 },
    ],
    [
      { attribute: 'owner', equals: 'a' },
      { attribute: 'expires_at_ms', lessThan: 200 },
    ],
  ];

  assert.equal(await items.put({ ...key, owner: 'c', expires_at_ms: 300 }, free), true);
  assert.equal(await items.put({ ...key, owner: 'd', expires_at_ms: 300 }, free), false);
});

test('a delete keeps its condition', async () => {
  await items.put({ ...key, owner: 'a' });

  assert.equal(await items.delete(key, [[{ attribute: 'owner', equals: 'b' }]]), false);
  assert.equal(await items.delete(key, [[{ attribute: 'owner', equals: 'a' }]]), true);
  assert.equal(await items.get(key), undefined);
});

test('OR-11: extremes are stored and read back equal, undefined is left out, a bigint keeps its digits', async () => {
  const extremes = {
    ...key,
    bytes: Number.MAX_SAFE_INTEGER,
    bytes_reclaimed: 9007199254740993n,
    reason: undefined,
    snapshot_id: '5184430069070270604',
    empty: '',
    nothing: null,
    nested: [{ flag: false, list: [] }, 0.25, 'ü€😀'],
  };

  await items.put(extremes as unknown as Item);

  const { reason: _left, ...stored } = extremes;
  assert.deepEqual(await items.get(key), { ...stored, bytes_reclaimed: '9007199254740993' });
  assert.deepEqual(toAttribute(9007199254740993n), { S: '9007199254740993' });
  assert.throws(() => toAttribute(Number.NaN), /cannot be stored/);
  assert.throws(() => fromAttribute({ SS: ['a'] }), /unknown type: SS/);
});

test('queries page through everything, in order, from either end, by prefix and with a limit', async () => {
  const filler = 'x'.repeat(100_000);
  for (let i = 0; i < 25; i++) {
    await items.put({
      pk: 'TABLE#t',
      sk: `RUN#${String(i).padStart(2, '0')}`,
      filler,
      status_pk: 'RUNS',
      status_sk: String(i + 10),
    });
  }
  await items.put({ pk: 'TABLE#t', sk: 'SCHEDULED#1' });

  const all = await items.query({ pk: 'TABLE#t', skPrefix: 'RUN#' });
  const newest = await items.query({ pk: 'TABLE#t', skPrefix: 'RUN#', descending: true, limit: 15 });
  const recent = await items.queryByStatus({ statusPk: 'RUNS', limit: 2 });

  assert.equal(all.length, 25);
  assert.deepEqual(newest.map(({ sk }) => sk).slice(0, 2), ['RUN#24', 'RUN#23']);
  assert.equal(newest.length, 15);
  assert.deepEqual(
    recent.map(({ sk }) => sk),
    ['RUN#24', 'RUN#23'],
  );
  assert.equal((await items.query({ pk: 'TABLE#t' })).length, 26);
});
