/** Tables with long histories and what the stages that read metadata need for them, at any size. */
import assert from 'node:assert/strict';
import { artefact } from '#shared/run/artefacts.ts';
import type { EvaluationState } from '#shared/run/messages.ts';
import type { ScanShard } from '#shared/run/plan.ts';
import type { FunctionName } from '#shared/runtime/env.ts';
import { HistoryBucket, type HistoryOptions } from './made-up-history.ts';
import { MOST_STATE_BYTES, WorkerProcesses } from './worker-processes.ts';

export interface PlannedHistory {
  /** Manifests planned, by distinct path, and in how many scan shards. */
  readonly manifests: number;
  readonly shards: number;
  readonly calls: number;
  /** For people: `plan 405 of 3008 MB`. */
  readonly peaks: string;
}

/** Plans a history in a worker with its stated limits; each manifest must be in exactly one scan shard. */
export async function planHistory(options: HistoryOptions): Promise<PlannedHistory> {
  await using workers = await WorkerProcesses.open({ tables: new HistoryBucket(options) });
  const run = await workers.plan();
  assert.equal(run.outcome, 'PLANNED');
  const artefacts = workers.artefacts(run);
  const plan = await artefacts.readPlan(run.plan_hash);
  const paths = new Set<string>();
  let given = 0;
  for (let shard = 0; shard < plan.scan.shards; shard++) {
    const { manifests } = (await artefacts.readScanShard(plan, shard)) as ScanShard;
    for (const { path } of manifests) paths.add(path);
    given += manifests.length;
  }
  assert.equal(given, paths.size);
  assert.equal(given, plan.scan.manifests);
  assertBounds(workers);
  const calls = workers.seen.get('plan')?.calls ?? 0;
  return { manifests: paths.size, shards: plan.scan.shards, calls, peaks: peaksOf(workers) };
}

/**
 * Plans a deleting run over a history whose metadata file is large, scans it, and makes the recheck and one delete batch meet a
 * commit that made the file anew. Answers the peaks.
 */
export async function deleteFromHistory(options: HistoryOptions): Promise<string> {
  const bucket = new HistoryBucket(options);
  bucket.orphan();
  await using workers = await WorkerProcesses.open({ tables: bucket });
  const run = await workers.plan({ dry_run: false, max_orphan_percent: 100, older_than: '1d' });
  const artefacts = workers.artefacts(run);
  await workers.call('delete', { run, probe: true });
  const { scan, list, ranges } = await artefacts.readPlan(run.plan_hash);
  for (let shard = 0; shard < scan.shards; shard++) await workers.work('scan', run, { shard });
  for (let range = 0; range < ranges.length; range++) await workers.work('build', run, { range });
  const items = ((await artefacts.read(artefact.listItems)) as Buffer).toString().trim().split('\n');
  assert.equal(items.length, list.shards);
  for (const item of items) await workers.work('list', run, JSON.parse(item));
  const step = { done: false, next: '', wait_seconds: 0 };
  const evaluation = await workers.call<EvaluationState>('evaluate', { run, step });
  assert.equal(evaluation.verdict, 'DELETE', evaluation.cause);
  const sealed = { ...run, plan_digest: evaluation.plan_digest, batches_key: evaluation.batches_key };
  bucket.commit();
  await workers.call('recheck', { run: sealed, evaluation });
  bucket.commit();
  await workers.work('delete', sealed, { batch: 0 });
  assert.equal(bucket.orphanIsThere(), false);
  assertBounds(workers);
  return peaksOf(workers);
}

function assertBounds(workers: WorkerProcesses): void {
  for (const [name, { peakMb, limitMb, largestStateBytes }] of workers.seen) {
    // A worker over its limit is killed; a measurement that saw nothing proves nothing.
    if (process.platform === 'linux') assert.ok(peakMb > 0 && peakMb < limitMb, `${name}: ${peakMb} of ${limitMb} MB`);
    assert.ok(largestStateBytes <= MOST_STATE_BYTES, `${name} answered ${largestStateBytes} bytes`);
  }
}

function peaksOf(workers: WorkerProcesses): string {
  const order: readonly FunctionName[] = ['plan', 'scan', 'build', 'list', 'evaluate', 'recheck', 'delete'];
  return order
    .flatMap((name) => {
      const seen = workers.seen.get(name);
      return seen === undefined ? [] : [`${name} ${seen.peakMb} of ${seen.limitMb} MB`];
    })
    .join(', ');
}
