/** The evaluate stage: every rule of the verdict, then the seal. Nothing is decided here that an earlier stage decided. */
import { ScanIncompleteError } from '#shared/errors.ts';
import { artefact } from '#shared/run/artefacts.ts';
import type { CompleteReceipts } from '#shared/run/judge-books.ts';
import { judgeCoverage } from '#shared/run/judge-coverage.ts';
import { type Judgement, judgeForeigners, judgeIdentity, type Refusal } from '#shared/run/judge-identity.ts';
import { judgeThresholds } from '#shared/run/judge-thresholds.ts';
import { assertStillOurs } from '#shared/run/lease.ts';
import type { EvaluateEvent, EvaluationState, RunState } from '#shared/run/messages.ts';
import type { Plan } from '#shared/run/plan.ts';
import type { FileClass, FileGroup, Tally } from '#shared/run/receipts.ts';
import { newNonce, RunArtefacts } from '#shared/run/run-artefacts.ts';
import type { Seal } from '#shared/run/seal.ts';
import type { StagePorts } from '#shared/runtime/stage-ports.ts';
import { collectReceipts } from './collect-receipts.ts';
import { missingOfRange, vanishedEntries, without } from './count-missing.ts';
import { packBatches, sealPlan } from './seal-plan.ts';

const RESERVE_MS = 60_000;
const MOST_CAUSE = 4000;

interface Progress {
  readonly ranges_done: number;
  readonly missing: number;
}

/** `evaluate/evaluation.json`: the answer of a finished evaluation, and the counts that the record needs. */
export interface StoredEvaluation {
  readonly plan_hash: string;
  readonly state: EvaluationState;
  readonly missing_files: number;
}

export async function evaluateRun(event: EvaluateEvent, ports: StagePorts): Promise<EvaluationState> {
  const { run, step } = event;
  const artefacts = new RunArtefacts(ports.work, ports.workBucket, run.prefix);
  const plan = await assertStillOurs(ports, run);
  const stored = await artefacts.readReceipt<StoredEvaluation>(artefact.evaluation, run.plan_hash, ScanIncompleteError);
  if (stored !== undefined) return stored.state;

  const receipts = await collectReceipts(artefacts, plan, run.plan_hash);
  const before = step.next === '' ? { ranges_done: 0, missing: 0 } : await artefacts.readJson<Progress>(step.next);
  if (before === undefined) throw new ScanIncompleteError(`The progress ${step.next} of run ${run.run_id} is gone.`);
  const counted = await countMissing(artefacts, receipts, before, ports);
  if (counted.ranges_done < receipts.builds.length) {
    const next = artefact.evaluateProgress(newNonce());
    await artefacts.writeJson(next, counted);
    return {
      done: false,
      next,
      wait_seconds: 0,
      verdict: 'MORE',
      error: '',
      cause: '',
      batches_key: '',
      plan_digest: '',
    };
  }
  const coverage = await judgeMissing(plan, receipts, counted.missing, artefacts, ports);
  return conclude({ run, plan, receipts, coverage, artefacts, ports });
}

async function countMissing(
  artefacts: RunArtefacts,
  receipts: CompleteReceipts,
  before: Progress,
  ports: StagePorts,
): Promise<Progress> {
  let { ranges_done, missing } = before;
  while (ranges_done < receipts.builds.length) {
    missing += (await missingOfRange(artefacts, receipts, ranges_done)).length;
    ranges_done++;
    if (ports.budget.remainingMs() < RESERVE_MS) break;
  }
  return { ranges_done, missing };
}

interface JudgedCoverage extends Judgement {
  readonly missing: number;
}

/** Coverage, judged again without the entries of vanished snapshots where the pointer has moved since the pin. */
async function judgeMissing(
  plan: Plan,
  receipts: CompleteReceipts,
  missing: number,
  artefacts: RunArtefacts,
  ports: StagePorts,
): Promise<JudgedCoverage> {
  const judge = (count: number): Judgement =>
    judgeCoverage({
      covered: sum(receipts.builds.map((build) => build.distinct.covered)),
      missing: count,
      named: sum(receipts.builds.map((build) => build.distinct.content)),
      contentCandidates: candidates(receipts).content.files,
      narrowed: plan.input.location !== undefined,
      maxMissingPercent: plan.input.max_missing_percent,
    });
  const first = judge(missing);
  if (first.refusals.length === 0 || missing === 0) return { ...first, missing };
  const vanished = await vanishedEntries(plan, ports);
  if (vanished === null) return { ...first, missing };
  let left = 0;
  for (let range = 0; range < receipts.builds.length; range++) {
    left += without(await missingOfRange(artefacts, receipts, range), vanished).length;
  }
  const second = judge(left);
  const refusals = second.refusals.map((refusal): Refusal => ({ ...refusal, error: 'TableChangedError' }));
  return { gates: second.gates, refusals, missing: left };
}

interface Conclusion {
  readonly run: RunState;
  readonly plan: Plan;
  readonly receipts: CompleteReceipts;
  readonly coverage: JudgedCoverage;
  readonly artefacts: RunArtefacts;
  readonly ports: StagePorts;
}

async function conclude({ run, plan, receipts, coverage, artefacts, ports }: Conclusion): Promise<EvaluationState> {
  const tallies = candidates(receipts);
  const judgements = [
    judgeIdentity(plan, receipts),
    judgeForeigners(receipts),
    coverage,
    judgeThresholds(
      {
        referenced: {
          content: classTally(receipts, 'referenced', 'content'),
          metadata: classTally(receipts, 'referenced', 'metadata'),
        },
        candidates: tallies,
        all: add(classTally(receipts, 'candidate', 'content'), classTally(receipts, 'candidate', 'metadata')),
      },
      plan.input,
    ),
  ];
  const refusals = judgements.flatMap((judgement) => judgement.refusals);
  const gates = [...plan.gates, ...judgements.flatMap((judgement) => judgement.gates)];
  const batches = packBatches(receipts.lists, plan.input.delete_batch_size);
  const verdict = verdictOf(refusals, batches.length, plan.input.dry_run);
  const { digest, seal } = await sealPlan(artefacts, {
    plan,
    planHash: run.plan_hash,
    verdict,
    refusals,
    gates,
    batches,
  });
  const state = answer(seal, digest, artefacts);
  ports.metrics.add('OrphanFiles', seal.orphan_files);
  ports.metrics.add('OrphanBytes', seal.orphan_bytes);
  const stored = await artefacts.writeOnce<StoredEvaluation>(artefact.evaluation, {
    plan_hash: run.plan_hash,
    state,
    missing_files: coverage.missing,
  });
  return stored.state;
}

function verdictOf(refusals: readonly Refusal[], batches: number, dryRun: boolean): Seal['verdict'] {
  if (refusals.length > 0) return 'REFUSED';
  if (batches === 0) return 'NOTHING_TO_DO';
  return dryRun ? 'DRY_RUN' : 'DELETE';
}

function answer(seal: Seal, digest: string, artefacts: RunArtefacts): EvaluationState {
  const [first] = seal.refusals;
  return {
    done: true,
    next: '',
    wait_seconds: 0,
    verdict: seal.verdict,
    error: first?.error ?? '',
    cause: seal.refusals
      .map((refusal) => refusal.message)
      .join(' ')
      .slice(0, MOST_CAUSE),
    batches_key: seal.batches.length > 0 ? artefacts.absoluteKey(artefact.batches) : '',
    plan_digest: digest,
  };
}

/** Candidates by group, our own superseded metadata files left out: they count in neither part of a ratio. */
function candidates(receipts: CompleteReceipts): Readonly<Record<FileGroup, Tally>> {
  const superseded = receipts.lists.reduce((total, { superseded: tally }) => add(total, tally), { files: 0, bytes: 0 });
  const metadata = classTally(receipts, 'candidate', 'metadata');
  return {
    content: classTally(receipts, 'candidate', 'content'),
    metadata: { files: metadata.files - superseded.files, bytes: metadata.bytes - superseded.bytes },
  };
}

function classTally({ lists }: CompleteReceipts, fileClass: FileClass, group: FileGroup): Tally {
  return lists.reduce((total, receipt) => add(total, receipt.classes[fileClass][group]), { files: 0, bytes: 0 });
}

function add(left: Tally, right: Tally): Tally {
  return { files: left.files + right.files, bytes: left.bytes + right.bytes };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, value) => total + value, 0);
}
