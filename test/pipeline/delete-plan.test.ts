import assert from 'node:assert/strict';
import test from 'node:test';
import { artefact } from '#shared/run/artefacts.ts';
import { restoreRun } from '#shared/run/restore.ts';
import { RunArtefacts } from '#shared/run/run-artefacts.ts';
import { ALLOW_ALL, lostFiles, orphanWorld } from '#test/support/orphan-world.ts';
import { DAY_MS } from '#test/support/run-world.ts';

test('CA-07 a table that was dropped and created anew between plan and delete keeps every file', async () => {
  const { world, orphans } = await orphanWorld(3);
  world.onStage = async (stage) => {
    if (stage !== 'recheck') return;
    const again = await world.table({ tableUuid: '11111111-2222-4333-8444-555555555555', seed: 77, names: 'catalog' });
    await again.append(1);
    await again.append(1);
  };

  const { record, failure } = await world.run(ALLOW_ALL);

  assert.equal(record.verdict, 'FAILED', JSON.stringify(record.gates));
  assert.match(failure?.error ?? '', /TableChangedError|LocationConflictError/);
  assert.deepEqual(world.keys('wh/t/data/orphan'), orphans);
});

test('gc.enabled set to false between plan and delete stops the run', async () => {
  const { world, table, orphans } = await orphanWorld(3);
  world.onStage = async (stage) => {
    if (stage === 'recheck') await table.setProperties({ 'gc.enabled': 'false' });
  };

  const { failure } = await world.run(ALLOW_ALL);

  assert.equal(failure?.error, 'GcDisabledError');
  assert.deepEqual(world.keys('wh/t/data/orphan'), orphans);
});

test('a commit between plan and recheck that adopts an orphan keeps it, and the rest goes', async () => {
  const { world, table, orphans } = await orphanWorld(3);
  world.onStage = async (stage) => {
    if (stage === 'recheck') await table.append(1, { names: ['orphan-00001.parquet'] });
  };

  const { record } = await world.run(ALLOW_ALL);

  assert.deepEqual(lostFiles({ world, table }), []);
  assert.equal(record.deleted_files_count, 2);
  assert.ok(record.rescued_files_count + record.changed_files_count >= 1);
  assert.ok(world.keys().includes(orphans[1] as string));
});

test('a commit between two batches that adopts an orphan keeps it', async () => {
  const { world, table, orphans } = await orphanWorld(4);
  let requests = 0;
  world.onStage = async (stage) => {
    if (stage !== 'delete' || ++requests !== 2) return;
    await table.adopt([orphans[2] as string]);
  };

  const { record } = await world.run({ ...ALLOW_ALL, delete_batch_size: 2 });

  assert.deepEqual(lostFiles({ world, table }), []);
  assert.equal(record.rescued_files_count, 1);
  assert.equal(record.deleted_files_count, 3);
});

test('a lost lease ends the run by name, and nothing more is deleted', async () => {
  const { world, orphans } = await orphanWorld(4);
  let requests = 0;
  world.onStage = (stage) => {
    if (stage !== 'delete' || ++requests !== 2) return;
    for (const [name, item] of world.items.items) {
      if (item.pk.startsWith('LEASE#')) world.items.items.set(name, { ...item, owner: 'another-job', token: 99 });
    }
  };

  const { record, failure } = await world.run({ ...ALLOW_ALL, delete_batch_size: 2 });

  assert.equal(failure?.error, 'LeaseLostError');
  assert.equal(record.verdict, 'FAILED');
  assert.equal(record.deleted_files_count, 2);
  assert.deepEqual(world.keys('wh/t/data/orphan'), orphans.slice(2));
});

test('a candidate chunk that was altered after the seal is not deleted', async () => {
  const { world, orphans } = await orphanWorld(3);
  world.onStage = async (stage) => {
    if (stage !== 'recheck') return;
    const [chunk] = world.work.keys('work').filter((key) => key.includes('/candidates/'));
    const { body } = await world.work.get('work', chunk as string);
    body[body.length - 1] = (body[body.length - 1] as number) ^ 1;
    await world.work.put('work', chunk as string, body);
  };

  const { record, failure } = await world.run(ALLOW_ALL);

  assert.equal(failure?.error, 'PlanNotDeletableError');
  assert.equal(record.deleted_files_count, 0);
  assert.deepEqual(world.keys('wh/t/data/orphan'), orphans);
});

test('CS-02 an override is good for one run, only with the digest, and only while the plan is young', async () => {
  const { world, orphans } = await orphanWorld(200);
  const refused = await world.run({ max_orphan_percent: 20 }, 'refused');
  assert.equal(refused.record.error, 'ThresholdExceededError');
  const digest = refused.record.plan_digest as string;

  const without = await world.run({ plan: 'refused' });
  const wrong = await world.run({ plan: 'refused', override: 'f'.repeat(64) });
  const right = await world.run({ plan: 'refused', override: digest });
  const twice = await world.run({ plan: 'refused', override: digest });

  assert.equal(without.record.error, 'PlanNotDeletableError');
  assert.equal(wrong.record.error, 'PlanNotDeletableError');
  assert.equal(right.record.verdict, 'DELETED');
  assert.equal(right.record.deleted_files_count, orphans.length);
  assert.equal(twice.record.error, 'PlanNotDeletableError');
});

test('a plan older than max_plan_age is refused', async () => {
  const { world, orphans } = await orphanWorld(3);
  await world.run({ ...ALLOW_ALL, dry_run: true }, 'dry');
  world.nowMs += 8 * DAY_MS;

  const { record } = await world.run({ plan: 'dry' });

  assert.equal(record.error, 'PlanExpiredError');
  assert.deepEqual(world.keys('wh/t/data/orphan'), orphans);
});

test('delete then restore on a versioned bucket: the listing and the bytes are those of before', async () => {
  const { world, orphans } = await orphanWorld(5, { versioned: true });
  const before = await Promise.all(world.keys().map(async (key) => [key, (await world.tables.get('b', key)).etag]));
  const { record } = await world.run(ALLOW_ALL, 'swept');
  assert.equal(record.bytes_reclaimed, false);
  assert.equal(record.deleted_files_count, orphans.length);

  const restored = await restoreRun(world.tables, new RunArtefacts(world.work, 'work', record.artefacts), 10);

  assert.equal(restored.restored, orphans.length);
  const after = await Promise.all(world.keys().map(async (key) => [key, (await world.tables.get('b', key)).etag]));
  assert.deepEqual(after, before);
});

test('restore leaves a key alone that was written again after the run', async () => {
  const { world, orphans } = await orphanWorld(2, { versioned: true });
  const { record } = await world.run(ALLOW_ALL);
  world.tables.seed('b', orphans[0] as string, Buffer.from('new'), world.nowMs);

  const restored = await restoreRun(world.tables, new RunArtefacts(world.work, 'work', record.artefacts), 10);

  assert.deepEqual(restored, { restored: 1, alreadyGone: 0, covered: 1, unversioned: 0 });
  assert.equal((await world.tables.get('b', orphans[0] as string)).body.toString(), 'new');
});

test('CO-10 a second run while the first holds the lease ends SKIPPED and changes nothing', async () => {
  const { world, orphans } = await orphanWorld(3);
  let second: Awaited<ReturnType<typeof world.run>> | undefined;
  world.onStage = async (stage) => {
    if (stage !== 'list' || second !== undefined) return;
    world.onStage = () => undefined;
    second = await world.run(ALLOW_ALL, 'second');
  };

  const first = await world.run(ALLOW_ALL, 'first');

  assert.equal(second?.record.verdict, 'SKIPPED');
  assert.equal(first.record.verdict, 'DELETED');
  assert.equal(first.record.deleted_files_count, orphans.length);
});

test('SM-13 a lost, emptied or foreign filter shard ends the run before anything is listed', async () => {
  for (const harm of ['lost', 'empty', 'cut'] as const) {
    const { world } = await orphanWorld(3);
    world.onStage = async (stage) => {
      if (stage !== 'list') return;
      const [shard] = world.work.keys('work').filter((key) => key.endsWith('.bloom'));
      const bytes = (await world.work.get('work', shard as string)).body;
      if (harm === 'lost') await world.work.bucket('work').delete(shard as string, {});
      else await world.work.put('work', shard as string, harm === 'empty' ? Buffer.alloc(0) : bytes.subarray(0, -8));
    };
    const before = world.keys();

    const { failure } = await world.run(ALLOW_ALL);

    assert.equal(failure?.error, 'FilterMismatchError', harm);
    assert.deepEqual(world.keys(), before);
  }
});

test('a receipt of another plan, or one that is lost, ends the run', async () => {
  for (const [receipt, error] of [
    ['scan/0/receipt.json', 'ScanIncompleteError'],
    ['filters/0/receipt.json', 'FilterMismatchError'],
    ['list/0/receipt.json', 'ListingIncompleteError'],
  ] as const) {
    for (const harm of ['lost', 'foreign'] as const) {
      const { world } = await orphanWorld(3);
      world.onStage = async (stage) => {
        if (stage !== 'evaluate') return;
        const key = world.work.keys('work').find((candidate) => candidate.endsWith(receipt)) as string;
        if (harm === 'lost') return void (await world.work.bucket('work').delete(key, {}));
        const body = JSON.parse((await world.work.get('work', key)).body.toString());
        await world.work.put('work', key, Buffer.from(JSON.stringify({ ...body, plan_hash: 'another' })));
      };
      const before = world.keys();

      const { failure } = await world.run(ALLOW_ALL);

      assert.equal(failure?.error, error, `${receipt} ${harm}`);
      assert.deepEqual(world.keys(), before);
    }
  }
});

test('ET-09 files newer than the last data commit wait for their writer, and the rest goes on', async () => {
  const { world, orphans } = await orphanWorld(3);
  world.tables.seed('b', 'wh/t/data/late.parquet', Buffer.from('late'), world.nowMs - 4 * DAY_MS);

  const { record } = await world.run(ALLOW_ALL);

  assert.equal(record.kept.waiting, 1);
  assert.equal(record.deleted_files_count, orphans.length);
  assert.ok(world.keys().includes('wh/t/data/late.parquet'));
  assert.match(record.warnings.join(' '), /late/);
});

test('CS-10 one sighting is enough: a run needs no earlier one', async () => {
  const { world, orphans } = await orphanWorld(3);

  assert.equal((await world.run(ALLOW_ALL)).record.deleted_files_count, orphans.length);
});

test('a refused run writes its full record: counts, reasons, candidates, next step', async () => {
  const { world } = await orphanWorld(200);

  const { record, failure } = await world.run({ max_orphan_percent: 20 });

  assert.equal(failure?.error, 'ThresholdExceededError');
  assert.equal(record.verdict, 'REFUSED');
  assert.equal(record.orphan_files_count, 200);
  assert.ok(record.next_step);
  assert.ok(record.gates.some((gate) => gate.name === 'orphan_percent_content_files' && !gate.passed));
  const names = world.work.keys('work', record.artefacts);
  assert.ok(names.some((name) => name.endsWith(artefact.orphansJsonl(0))));
  assert.ok(names.some((name) => name.endsWith(artefact.report)));
});
