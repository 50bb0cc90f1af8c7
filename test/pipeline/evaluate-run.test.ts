import assert from 'node:assert/strict';
import test from 'node:test';
import { evaluateRun } from '#functions/evaluate/evaluate-run.ts';
import { packBatches } from '#functions/evaluate/seal-plan.ts';
import { artefact } from '#shared/run/artefacts.ts';
import type { RunState } from '#shared/run/messages.ts';
import type { ListReceipt } from '#shared/run/receipts.ts';
import { sha256Hex } from '#shared/run/run-artefacts.ts';
import { ALLOW_ALL, orphanWorld } from '#test/support/orphan-world.ts';

const FIRST = { done: false, next: '', wait_seconds: 0 };

test('an evaluation that is repeated answers the first one, and seals nothing anew', async () => {
  const { world } = await orphanWorld(3);
  const { record, state } = await world.run({ ...ALLOW_ALL, dry_run: true });
  const seal = `${record.artefacts}/${artefact.seal}`;
  const before = (await world.work.get('work', seal)).body;

  const again = await evaluateRun({ run: state as RunState, step: FIRST }, world.ports);

  assert.equal(again.verdict, 'DRY_RUN');
  assert.equal(again.plan_digest, record.plan_digest);
  assert.equal(sha256Hex((await world.work.get('work', seal)).body), sha256Hex(before));
});

test('an evaluation whose answer was lost after the seal was written finds that seal', async () => {
  const { world } = await orphanWorld(3);
  const { record, state } = await world.run({ ...ALLOW_ALL, dry_run: true });
  await world.work.bucket('work').delete(`${record.artefacts}/${artefact.evaluation}`, {});

  const again = await evaluateRun({ run: state as RunState, step: FIRST }, world.ports);

  assert.equal(again.plan_digest, record.plan_digest);
});

test('the plan digest is the SHA-256 of the seal, and a refused plan is sealed too', async () => {
  const { world } = await orphanWorld(200);

  const { record } = await world.run({ max_orphan_percent: 20 });

  const { body } = await world.work.get('work', `${record.artefacts}/${artefact.seal}`);
  assert.equal(sha256Hex(body), record.plan_digest);
});

/** Listing shards with chunks of so many lines each. */
function shards(...all: readonly { readonly bucket: string; readonly chunks: readonly number[] }[]): ListReceipt[] {
  return all.map(({ bucket, chunks }, shard) => {
    const refs = chunks.map((entries, index) => ({
      name: `${shard}-${index}`,
      bytes: 1,
      entries,
      sha256: '',
      candidate_bytes: entries * 10,
    }));
    return { bucket, chunks: refs } as unknown as ListReceipt;
  });
}

test('DA-13 chunks are packed into full batches across shards, never across buckets', () => {
  const lists = shards(
    { bucket: 'a', chunks: [400, 300] },
    { bucket: 'a', chunks: [300, 1] },
    { bucket: 'b', chunks: [5] },
  );

  const batches = packBatches(lists, 1000);

  assert.deepEqual(
    batches.map(({ batch, bucket, files, bytes }) => [batch, bucket, files, bytes]),
    [
      [0, 'a', 1000, 10_000],
      [1, 'a', 1, 10],
      [2, 'b', 5, 50],
    ],
  );
});

test('a chunk that is larger than a batch stays whole', () => {
  assert.deepEqual(
    packBatches(shards({ bucket: 'a', chunks: [1000, 2, 3] }), 10).map((batch) => batch.files),
    [1000, 5],
  );
});
