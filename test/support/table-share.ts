/**
 * What one worker of each stage needs for its share of a table of any size. The plan is the plan stage's own; the first piece of
 * work of every stage is done by its worker, and the others leave what theirs would: receipts like the first one's, with
 * fragments, coverage and candidates of the sizes that the plan gives them.
 */
import { randomFillSync } from 'node:crypto';
import { fromBytes, toBytes } from '#shared/filter/fingerprints.ts';
import { artefact } from '#shared/run/artefacts.ts';
import { FragmentBuffer, NO_FRAGMENTS, type WrittenFragments } from '#shared/run/fragments.ts';
import type { EvaluationState, RunState } from '#shared/run/messages.ts';
import type { ListItem, Plan, ScanShard } from '#shared/run/plan.ts';
import type { BuildReceipt, CandidateLine, ListReceipt, ScanReceipt } from '#shared/run/receipts.ts';
import type { RunArtefacts } from '#shared/run/run-artefacts.ts';
import type { FunctionName } from '#shared/runtime/env.ts';
import { MadeUpBucket } from './made-up-bucket.ts';
import { MadeUpTable } from './made-up-table.ts';
import { OLD_MS } from './mark-world.ts';
import { type Seen, WorkerProcesses } from './worker-processes.ts';

export interface ShareOptions {
  readonly files: number;
  /** Candidates in the lists that the record reads. */
  readonly candidates: number;
  /** Key ranges whose coverage is judged in full; the others are nearly empty. */
  readonly fullRanges: number;
}

export interface Share {
  readonly seen: ReadonlyMap<FunctionName, Seen>;
  readonly plan: Plan;
  readonly verdict: string;
}

const EVERY = 100;
const LINES = 1000;
const ENTRIES_PER_MANIFEST = 10_000;
const isOrphan = (index: number) => index % EVERY === 7;

export async function measureShare(options: ShareOptions): Promise<Share> {
  const table = new MadeUpTable({
    files: options.files,
    layout: 'hashed',
    isOrphan,
    entriesPerManifest: ENTRIES_PER_MANIFEST,
    columns: 2,
    codec: 'deflate',
    level: 1,
  });
  await using workers = await WorkerProcesses.open({ tables: new MadeUpBucket(table) });
  const input = { dry_run: false, older_than: '1d', max_missing_percent: 5 };
  const run = await workers.plan(input);
  const artefacts = workers.artefacts(run);
  const plan = await artefacts.readPlan(run.plan_hash);
  await workers.call('delete', { run, probe: true });
  await workers.work('scan', run, { shard: 0 });
  await leaveScans(artefacts, plan);
  await workers.work('build', run, { range: 0 });
  const coverages = await leaveBuilds(artefacts, plan, options.fullRanges);
  const items = ((await artefacts.read(artefact.listItems)) as Buffer).toString().trim().split('\n');
  await workers.work('list', run, JSON.parse(items[0] as string));
  await leaveLists(artefacts, table, { items: items.map((item) => JSON.parse(item)), coverages, options });
  const step = { done: false, next: '', wait_seconds: 0 };
  const evaluation = await evaluate(workers, run, step);
  const sealed = { ...run, plan_digest: evaluation.plan_digest, batches_key: evaluation.batches_key };
  if (evaluation.verdict === 'DELETE') {
    await workers.call('recheck', { run: sealed, evaluation });
    await workers.work('delete', sealed, { batch: 0 });
  }
  const whole = { table: 's3://b/wh/t', catalog: { type: 'path' }, ...input };
  const state = { run: sealed, evaluation };
  await workers.call('record', { input: whole, execution: workers.execution, state, record: 'run' });
  return { seen: workers.seen, plan, verdict: evaluation.verdict };
}

async function evaluate(workers: WorkerProcesses, run: RunState, first: unknown): Promise<EvaluationState> {
  let step = first;
  for (;;) {
    const answer = await workers.call<EvaluationState>('evaluate', { run, step });
    if (answer.done) return answer;
    step = answer;
  }
}

function random(count: number): BigUint64Array {
  return randomFillSync(new BigUint64Array(count));
}

async function receiptOf<T>(artefacts: RunArtefacts, name: string): Promise<T> {
  const receipt = await artefacts.readJson<T>(name);
  if (receipt === undefined) throw new Error(`${name} is not there.`);
  return receipt;
}

/** Shards of a table whose manifests follow its keys: each lies in one range. Those of range 0 have fragments, the others say so. */
async function leaveScans(artefacts: RunArtefacts, plan: Plan): Promise<void> {
  const first = await receiptOf<ScanReceipt>(artefacts, artefact.scanReceipt(0));
  const { shards } = plan.scan;
  for (let shard = 1; shard < shards; shard++) {
    const { manifests } = (await artefacts.readScanShard(plan, shard)) as ScanShard;
    const entries = manifests.reduce((sum, { entries: promised = 0 }) => sum + promised, 0);
    const range = Math.floor((shard * plan.ranges.length) / shards);
    const written = range === 0 ? await fragment(artefacts, shard, entries) : claimed(shard, range, entries);
    await artefacts.writeOnce<ScanReceipt>(artefact.scanReceipt(shard), {
      ...first,
      shard,
      manifests_planned: manifests.length,
      manifests_read: manifests.length,
      fingerprints: written.entries,
      objects: written.objects,
      sections: written.sections,
    });
  }
}

async function fragment(artefacts: RunArtefacts, shard: number, entries: number): Promise<WrittenFragments> {
  const buffer = new FragmentBuffer();
  for (const fingerprint of random(entries)) buffer.add(0, 'content_covered', fingerprint);
  return buffer.flush(artefacts, artefact.scanFragment(shard, 'share', 0), NO_FRAGMENTS);
}

function claimed(shard: number, range: number, entries: number): WrittenFragments {
  const name = artefact.scanFragment(shard, 'share', 0);
  return {
    objects: [{ name, bytes: entries * 8, entries, sha256: '0'.repeat(64) }],
    sections: [{ object: 0, range, group: 'content_covered', offset: 0, entries, crc32: 0 }],
    entries,
  };
}

/** Answers the covered fingerprints of each range, sorted. */
async function leaveBuilds(artefacts: RunArtefacts, plan: Plan, fullRanges: number): Promise<BigUint64Array[]> {
  const merged = new Array<number>(plan.ranges.length).fill(0);
  for (let shard = 0; shard < plan.scan.shards; shard++) {
    const { sections } = await receiptOf<ScanReceipt>(artefacts, artefact.scanReceipt(shard));
    for (const { range, entries } of sections) merged[range] = (merged[range] as number) + entries;
  }
  const first = await receiptOf<BuildReceipt>(artefacts, artefact.buildReceipt(0));
  const coverages = [fromBytes((await artefacts.read(first.coverage.name)) as Buffer)];
  for (let range = 1; range < plan.ranges.length; range++) {
    const covered = random(range < fullRanges ? (merged[range] as number) : 10).sort();
    const name = artefact.coverageKeys(range, 'share');
    const coverage = await artefacts.write(name, toBytes(covered), covered.length);
    const distinct = { ...first.distinct, covered: covered.length };
    await artefacts.writeOnce<BuildReceipt>(artefact.buildReceipt(range), {
      ...first,
      range,
      entries_merged: merged[range] as number,
      distinct,
      coverage,
    });
    coverages.push(covered);
  }
  return coverages;
}

interface Lists {
  readonly items: readonly ListItem[];
  readonly coverages: readonly BigUint64Array[];
  readonly options: ShareOptions;
}

/** Each shard saw its part of the coverage, and has its part of the candidates. */
async function leaveLists(artefacts: RunArtefacts, table: MadeUpTable, lists: Lists): Promise<void> {
  const { items, coverages, options } = lists;
  const first = await receiptOf<ListReceipt>(artefacts, artefact.listReceipt(0));
  const perRange = Math.ceil(items.length / coverages.length);
  const chunks = Math.ceil(options.candidates / LINES);
  for (let shard = 1; shard < items.length; shard++) {
    const range = Math.min(coverages.length - 1, Math.floor(shard / perRange));
    const covered = coverages[range] as BigUint64Array;
    // The first shard of range 0 is the worker's own.
    const place = range === 0 ? shard - 1 : shard % perRange;
    const places = range === 0 ? perRange - 1 : Math.min(perRange, items.length - range * perRange);
    const [from, to] = [place, place + 1].map((at) => Math.floor((at * covered.length) / places));
    const seen = await seenOf(artefacts, shard, range, covered.subarray(from, to));
    const mine = shard <= chunks ? [await chunkOf(artefacts, table, shard)] : [];
    const files = mine.length * LINES;
    const { after, through, bucket, prefix } = items[shard] as ListItem;
    const candidate = { ...first.classes.candidate, content: { files, bytes: files * 1000 } };
    await artefacts.writeOnce<ListReceipt>(artefact.listReceipt(shard), {
      ...first,
      ...{ shard, bucket, prefix, after, through, seen },
      classes: { ...first.classes, candidate },
      chunks: mine,
    });
  }
}

async function seenOf(
  artefacts: RunArtefacts,
  shard: number,
  range: number,
  part: BigUint64Array,
): Promise<ListReceipt['seen']> {
  const buffer = new FragmentBuffer();
  for (const fingerprint of part) buffer.add(range, 'content_covered', fingerprint);
  return buffer.flush(artefacts, artefact.seenFragment(shard, 'share', 0), NO_FRAGMENTS);
}

async function chunkOf(
  artefacts: RunArtefacts,
  table: MadeUpTable,
  shard: number,
): Promise<ListReceipt['chunks'][number]> {
  const lines = Array.from({ length: LINES }, (_, at): CandidateLine => {
    const key = table.key((shard * LINES + at) * EVERY + 7);
    const last_modified = new Date(OLD_MS).toISOString();
    return { key, bucket: 'b', size: 1000, last_modified, etag: '"d41d8cd9"', kind: 'data', group: 'content' };
  });
  const ref = await artefacts.writeLines(artefact.candidateChunk(shard, 'share', 0), lines);
  return { ...ref, candidate_bytes: LINES * 1000 };
}
