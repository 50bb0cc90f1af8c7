/** The evaluation of a table with several key ranges, by workers that have time for one range each. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { evaluateRun, type StoredEvaluation } from '#functions/evaluate/evaluate-run.ts';
import { ScanIncompleteError } from '#shared/errors.ts';
import { artefact } from '#shared/run/artefacts.ts';
import type { EvaluationState, WorkerStep } from '#shared/run/messages.ts';
import { MarkWorld, OLD_MS } from '#test/support/mark-world.ts';
import { plannedManifest, statManifest } from '#test/support/stat-manifest.ts';

const MANIFEST = 'wh/t/metadata/m-m0.avro';
const FIRST: WorkerStep = { done: false, next: '', wait_seconds: 0 };
/** Files that are named and not there, by range. */
const MISSING = [1, 0, 2, 1];
const FILES_PER_RANGE = 25;
/** A letter for each of four key ranges. */
const LETTERS = ['b', 'h', 'p', 'w'];

/** A marked and listed table of four key ranges, each of which misses so many of its 25 files and has two orphans. */
async function markedWorld(missing: readonly number[]): Promise<MarkWorld> {
  const names = LETTERS.map((letter) => Array.from({ length: FILES_PER_RANGE }, (_, at) => `wh/t/data/${letter}${at}`));
  const cuts = ['wh/t/data/e', 'wh/t/data/m', 'wh/t/data/t'].map((cut) => Buffer.from(cut).toString('hex'));
  const ranges = [null, ...cuts].map((from, at) => ({ from, to: cuts[at] ?? null }));
  const world = await MarkWorld.open({ manifests: [[plannedManifest(MANIFEST)]], plan: { ranges } });
  world.seed(
    MANIFEST,
    OLD_MS,
    statManifest(
      names.flat().map((key) => ({ path: `s3://b/${key}` })),
      { columns: 2 },
    ),
  );
  names.forEach((keys, range) => {
    for (const key of keys.slice(missing[range])) world.seed(key);
    for (const letter of ['x', 'y']) world.seed(`wh/t/data/${LETTERS[range]}-${letter}`);
  });
  await world.mark();
  await world.listAll();
  return world;
}

/** Calls evaluate until it is done, each call with time for one range; `times`: how often each step is asked for. */
async function byOneRange(world: MarkWorld, times = 1): Promise<EvaluationState[]> {
  world.remainingMs = () => 30_000;
  const states: EvaluationState[] = [];
  let step: WorkerStep = FIRST;
  do {
    let state: EvaluationState | undefined;
    for (let time = 0; time < times; time++) state = await evaluateRun({ run: world.run, step }, world.ports);
    // What travels through the state machine is JSON.
    step = JSON.parse(JSON.stringify(state)) as EvaluationState;
    states.push(step as EvaluationState);
  } while (!step.done);
  return states;
}

/** What evaluate left behind, which is then removed, so that it can be done anew. */
async function takeEvaluation(world: MarkWorld): Promise<{ stored: StoredEvaluation; seal: string }> {
  const stored = (await world.artefacts.readJson<StoredEvaluation>(artefact.evaluation)) as StoredEvaluation;
  const seal = String(await world.artefacts.read(artefact.seal));
  for (const name of [artefact.evaluation, artefact.seal, artefact.batches])
    await world.store.bucket('work').delete(world.artefacts.absoluteKey(name), {});
  return { stored, seal };
}

test('OR-16 an evaluation in four calls is that of one call', async () => {
  const world = await markedWorld(MISSING);
  await evaluateRun({ run: world.run, step: FIRST }, world.ports);
  const whole = await takeEvaluation(world);

  const states = await byOneRange(world);

  assert.deepEqual(
    states.map(({ done, verdict }) => [done, verdict]),
    [
      [false, 'MORE'],
      [false, 'MORE'],
      [false, 'MORE'],
      [true, 'DRY_RUN'],
    ],
  );
  assert.deepEqual(await takeEvaluation(world), whole);
  assert.equal(whole.stored.missing_files, 4);
});

test('OR-16 a call whose answer was lost is made again, and counts no range twice', async () => {
  const world = await markedWorld(MISSING);
  await evaluateRun({ run: world.run, step: FIRST }, world.ports);
  const whole = await takeEvaluation(world);

  const states = await byOneRange(world, 3);

  assert.equal(states.length, LETTERS.length);
  assert.deepEqual(await takeEvaluation(world), whole);
});

test('an evaluation does not go on from progress that is gone', async () => {
  const world = await markedWorld([0, 0, 0, 0]);
  world.remainingMs = () => 30_000;
  const { next } = await evaluateRun({ run: world.run, step: FIRST }, world.ports);
  await world.store.bucket('work').delete(world.artefacts.absoluteKey(next), {});

  const goingOn = evaluateRun({ run: world.run, step: { ...FIRST, next } }, world.ports);

  await assert.rejects(goingOn, ScanIncompleteError);
});
