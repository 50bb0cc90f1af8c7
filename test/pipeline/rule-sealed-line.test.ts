/** A batch believes the seal and nothing else, and of the seal no line that it could not hold. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { loadBatch, loadSeal, requireDeletable } from '#functions/delete/sealed-batch.ts';
import type { RunState } from '#shared/run/messages.ts';
import type { CandidateLine } from '#shared/run/receipts.ts';
import { RunArtefacts } from '#shared/run/run-artefacts.ts';
import { alterCandidates } from '#test/support/altered-run.ts';
import { ALLOW_ALL, orphanWorld } from '#test/support/orphan-world.ts';
import { DAY_MS, type RunWorld } from '#test/support/run-world.ts';

/** The line of an object that is there, in place of the first orphan's. */
async function replaceFirst(world: RunWorld, key: string, changes: Partial<CandidateLine> = {}): Promise<void> {
  const { etag, sizeBytes, lastModifiedMs } = await world.tables.head('b', key);
  alterCandidates(world, (line) => {
    if (!line.key.endsWith('orphan-00000.parquet')) return line;
    const last_modified = new Date(lastModifiedMs).toISOString();
    return { ...line, key, etag, size: sizeBytes, last_modified, ...changes };
  });
}

async function refuses(world: RunWorld, why: RegExp): Promise<void> {
  const before = world.keys();
  const { failure } = await world.run(ALLOW_ALL);
  assert.equal(failure?.error, 'PlanNotDeletableError');
  assert.match(failure?.cause ?? '', why);
  assert.deepEqual(world.keys(), before);
}

test('a line of the pinned metadata file', async () => {
  const { world, table } = await orphanWorld(2);
  await replaceFirst(world, table.metadataFile?.key as string);

  await refuses(world, /is its metadata file/);
});

test('a line of a young file', async () => {
  const { world } = await orphanWorld(2);
  world.tables.seed('b', 'wh/t/data/young.parquet', Buffer.from('young'), world.nowMs - DAY_MS / 2);
  await replaceFirst(world, 'wh/t/data/young.parquet');

  await refuses(world, /is not older than its cut-offs/);
});

test('a line of a file exactly at the cut-off', async () => {
  const { world } = await orphanWorld(2);
  world.tables.seed('b', 'wh/t/data/edge.parquet', Buffer.from('edge'), world.nowMs - DAY_MS);
  await replaceFirst(world, 'wh/t/data/edge.parquet');

  await refuses(world, /is not older than its cut-offs/);
});

test('a line of a file that waits for its writer', async () => {
  const { world } = await orphanWorld(2);
  world.tables.seed('b', 'wh/t/data/late.parquet', Buffer.from('late'), world.nowMs - 4 * DAY_MS);
  await replaceFirst(world, 'wh/t/data/late.parquet');

  await refuses(world, /is not older than its cut-offs/);
});

test('a line of a file outside the roots', async () => {
  const { world } = await orphanWorld(2);
  world.tables.seed('b', 'wh/t2/data/x.parquet', Buffer.from('x'), world.writeMs);
  await replaceFirst(world, 'wh/t2/data/x.parquet');

  await refuses(world, /lies outside its roots/);
});

test('a line of another bucket', async () => {
  const { world, orphans } = await orphanWorld(2);
  await replaceFirst(world, orphans[0] as string, { bucket: 'c' });

  await refuses(world, /lies outside its roots/);
});

test('a line of a metadata file that is current beside the pinned one is rescued', async () => {
  const { world, table } = await orphanWorld(2);
  const pinned = table.metadataFile?.key as string;
  const twin = pinned.replace(/-[0-9a-f]{8}-/, '-00000000-');
  world.tables.seed('b', twin, (await world.tables.get('b', pinned)).body, world.writeMs);
  await replaceFirst(world, twin);
  const before = world.keys();

  const { record } = await world.run(ALLOW_ALL);

  // The twin may be the one that was pinned: then the seal is refused, which keeps it as well.
  assert.ok(record.rescued_files_count === 1 || record.error === 'PlanNotDeletableError');
  assert.deepEqual(
    before.filter((key) => key.endsWith('.metadata.json')),
    world.keys().filter((key) => key.endsWith('.metadata.json')),
  );
});

test('a chunk of the same length whose bytes are others', async () => {
  const { world, orphans } = await orphanWorld(2);
  world.onStage = async (stage) => {
    if (stage !== 'delete') return;
    const key = world.work.keys('work').find((name) => name.includes('/candidates/')) as string;
    const { body } = await world.work.get('work', key);
    // The operating system in a gzip header: the lines stay readable, and the same.
    body[9] = (body[9] as number) ^ 1;
    await world.work.put('work', key, body);
  };

  const { failure } = await world.run(ALLOW_ALL);

  assert.equal(failure?.error, 'PlanNotDeletableError');
  assert.deepEqual(world.keys('wh/t/data/orphan'), orphans);
});

async function sealedRun() {
  const { world } = await orphanWorld(3);
  const { record, state } = await world.run({ ...ALLOW_ALL, dry_run: true });
  const artefacts = new RunArtefacts(world.work, 'work', record.artefacts);
  const digest = record.plan_digest as string;
  const seal = await loadSeal(artefacts, digest);
  const run = { ...(state as RunState), deleting: true };
  return { artefacts, digest, seal, run, plan: await artefacts.readPlan(seal.plan_hash) };
}

const refused = { name: 'PlanNotDeletableError' };

test('a seal of another digest, or none', async () => {
  const { artefacts } = await sealedRun();

  await assert.rejects(loadSeal(artefacts, 'f'.repeat(64)), refused);
  await assert.rejects(loadSeal(artefacts, ''), refused);
});

test('a batch that has not the number of lines that was sealed, or is not in the seal', async () => {
  const { artefacts, seal, plan } = await sealedRun();
  const [batch] = seal.batches;

  await assert.doesNotReject(loadBatch(artefacts, seal, plan, 0));
  const more = { ...seal, batches: [{ ...batch!, files: batch!.files + 1 }] };
  await assert.rejects(loadBatch(artefacts, more, plan, 0), refused);
  await assert.rejects(loadBatch(artefacts, seal, plan, 1), refused);
});

test('a verdict that is not the run’s to act on', async () => {
  const { seal, run, plan } = await sealedRun();
  const own = { ...run, run_id: seal.run_id };
  const later = { ...run, run_id: 'later' };

  assert.doesNotThrow(() => requireDeletable({ ...seal, verdict: 'DELETE' }, own, plan));
  assert.doesNotThrow(() => requireDeletable(seal, later, plan));
  assert.throws(() => requireDeletable(seal, own, plan), refused);
  assert.throws(() => requireDeletable({ ...seal, verdict: 'REFUSED' }, own, plan), refused);
  assert.throws(() => requireDeletable({ ...seal, verdict: 'DELETE' }, later, plan), refused);
  assert.throws(() => requireDeletable({ ...seal, verdict: 'NOTHING_TO_DO' }, later, plan), refused);
  assert.throws(() => requireDeletable(seal, { ...later, deleting: false }, plan), refused);
  assert.throws(() => requireDeletable({ ...seal, plan_hash: 'another' }, later, plan), refused);
  assert.throws(() => requireDeletable(seal, later, { ...plan, run_id: 'another' }), refused);
});
