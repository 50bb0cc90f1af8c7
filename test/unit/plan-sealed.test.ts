/** Deleting a plan later: which seals may be opened, once, and what is judged again first. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { artefact } from '#shared/run/artefacts.ts';
import { parseDeployment } from '#shared/run/deployment.ts';
import { sha256Hex } from '#shared/run/run-artefacts.ts';
import { recordKey, runPointerKey } from '#shared/run/run-keys.ts';
import type { Seal } from '#shared/run/seal.ts';
import { DAY_MS, PlanWorld } from '#test/support/plan-world.ts';

/** A planned dry run whose seal and record are written as the later stages would. */
async function sealed(changes: Partial<Seal> = {}, record: object = {}) {
  const world = new PlanWorld();
  const writer = await world.table();
  const { plan, state } = await world.plan({}, 'dry-1');
  const seal: Seal = {
    version: 1,
    run_id: 'dry-1',
    table: plan.table,
    prefix: plan.prefix,
    plan_hash: state.plan_hash,
    t0: plan.t0,
    cutoff: plan.cutoff,
    writer_time: plan.writer_time,
    roots: plan.roots,
    metadata_location: plan.pin.metadata_location,
    table_uuid: plan.pin.table_uuid,
    verdict: 'DRY_RUN',
    refusals: [],
    gates: [],
    batches: [],
    orphan_files: 0,
    orphan_bytes: 0,
    ...changes,
  };
  const bytes = Buffer.from(JSON.stringify(seal));
  await world.artefacts(state).write(artefact.seal, bytes);
  const digest = sha256Hex(bytes);
  const key = recordKey(plan.input, plan.t0, 'dry-1');
  const [record_pk, record_sk] = [key.pk, key.sk];
  await world.items.put({
    ...key,
    table: plan.table,
    verdict: 'DRY_RUN',
    artefacts: plan.prefix,
    plan_digest: digest,
    ...record,
  });
  await world.items.put({ ...runPointerKey('dry-1'), record_pk, record_sk });
  world.nowMs += DAY_MS;
  const open = (input: object = {}, runId = 'del-1') =>
    world.run({ plan: 'dry-1', dry_run: undefined, ...input }, runId);
  return { world, writer, plan, state, digest, open };
}

const refused = { name: 'PlanNotDeletableError' };
const threshold = { error: 'ThresholdExceededError', rule: 'orphan_percent', message: 'too many' };
const mixed = { error: 'ReferencedFilesMissingError', rule: 'coverage_mixed', message: 'mixed' };
const missing = { error: 'ReferencedFilesMissingError', rule: 'coverage_missing', message: 'missing' };

test('a dry run is opened for deletion, under the lease, with its own plan and batches', async () => {
  const { open, plan, state, digest } = await sealed();
  const run = await open();
  assert.equal(run.outcome, 'SEALED_PLAN');
  assert.equal(run.deleting, true);
  assert.equal(run.fencing_token, 1);
  assert.equal(run.plan_hash, state.plan_hash);
  assert.equal(run.seal_prefix, plan.prefix);
  assert.equal(run.batches_key, `${plan.prefix}/evaluate/batches.jsonl`);
  assert.equal(run.plan_digest, digest);
  assert.equal(run.prefix, plan.prefix.replace('dry-1', 'del-1'));
});

test('NR a digest is good for one run, and again for that run where its answer was lost', async () => {
  const { world, open } = await sealed();
  const first = await open();
  assert.deepEqual(await open(), first);
  world.executionStatus = 'ended';
  await assert.rejects(open({}, 'del-2'), { ...refused, message: /one run/ });
});

test('NR a seal other than that of the record is refused', async () => {
  const { world, state, open } = await sealed();
  await world.artefacts(state).write(artefact.seal, Buffer.from('{}'));
  await assert.rejects(open(), { ...refused, message: /not the one in its record/ });
});

test('NR a table that was dropped and created anew is not the plan’s', async () => {
  const { world, open } = await sealed();
  for (const key of world.store.keys('b')) await world.store.bucket('b').delete(key, {});
  await world.table({ seed: 7 });
  await assert.rejects(open(), { name: 'TableChangedError', message: /table-uuid/ });
});

test('a plan older than max_plan_age has expired, a seal that was removed too', async () => {
  const { world, state, open } = await sealed();
  await assert.rejects(open({ max_plan_age: '23h' }), { name: 'PlanExpiredError' });
  world.nowMs += 7 * DAY_MS;
  await assert.rejects(open(), { name: 'PlanExpiredError' });
  await world.store.bucket('work').delete(`${state.prefix}/${artefact.seal}`, {});
  await assert.rejects(open(), { name: 'PlanExpiredError', message: /gone/ });
});

test('CS-02 a plan refused by a threshold needs its digest as override', async () => {
  const { open, digest } = await sealed({ verdict: 'REFUSED', refusals: [threshold, mixed] });
  await assert.rejects(open(), { ...refused, message: new RegExp(digest) });
  await assert.rejects(open({ override: 'b'.repeat(64) }), refused);
  assert.equal((await open({ override: digest })).outcome, 'SEALED_PLAN');
});

for (const refusals of [
  [missing],
  [threshold, missing],
  [{ error: 'PrefixMismatchError', rule: 'identity', message: '' }],
  [],
]) {
  test(`a refusal by ${refusals.map(({ rule }) => rule).join(' and ') || 'nothing on record'} is not overruled`, async () => {
    const { open, digest } = await sealed({ verdict: 'REFUSED', refusals });
    await assert.rejects(open({ override: digest }), refused);
  });
}

for (const verdict of ['DELETE', 'NOTHING_TO_DO'] as const) {
  test(`a plan with the verdict ${verdict} is not deleted later`, async () => {
    const { open } = await sealed({ verdict });
    await assert.rejects(open(), refused);
  });
}

test('a run that never sealed, an unknown run, and one of another table are told apart', async () => {
  const unsealed = await sealed({}, { plan_digest: null, verdict: 'FAILED' });
  await assert.rejects(unsealed.open(), { ...refused, message: /FAILED.*before its plan was sealed/ });
  const { open } = await sealed();
  await assert.rejects(open({ plan: 'nope' }), { ...refused, message: /no record/ });
  await assert.rejects(open({ table: 's3://b/wh/u' }), { name: 'InvalidInputError' });
});

test('the gates are judged again on the table as it is now', async () => {
  const { writer, open } = await sealed();
  await writer.setProperties({ 'gc.enabled': 'false' });
  await assert.rejects(open(), { name: 'GcDisabledError' });
});

test('FF-01 a table that has come to share the location since refuses', async () => {
  const { world, open } = await sealed();
  world.seed('wh/t/metadata/00000-z.metadata.json', Buffer.from('{"table-uuid":"other","location":"s3://b/wh/t"}'));
  await assert.rejects(open(), { name: 'LocationConflictError' });
});

test('a floor that was raised since holds', async () => {
  const { world, open } = await sealed();
  world.deployment = parseDeployment({ floor_ms: 5 * DAY_MS, defaults: { older_than: 'P5D' } });
  await assert.rejects(open(), { name: 'OlderThanTooRecentError' });
});

test('CO-10 the lease of another run keeps a sealed plan off', async () => {
  const { world, open } = await sealed();
  await world.run({ dry_run: false }, 'other');
  assert.equal((await open()).outcome, 'SKIPPED');
});
