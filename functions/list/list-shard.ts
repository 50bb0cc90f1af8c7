/** The list stage: lists one raw interval of a root and leaves a class for every file, and the candidates in chunks. */
import { ListingIncompleteError, UnsupportedTableError } from '#shared/errors.ts';
import { artefact } from '#shared/run/artefacts.ts';
import { NO_FRAGMENTS } from '#shared/run/fragments.ts';
import { assertStillOurs } from '#shared/run/lease.ts';
import type { ListEvent, WorkerStep } from '#shared/run/messages.ts';
import type { ListItem, Plan } from '#shared/run/plan.ts';
import type { ListReceipt, RequestCounts } from '#shared/run/receipts.ts';
import { newNonce, RunArtefacts } from '#shared/run/run-artefacts.ts';
import { TimeLeft } from '#shared/run/time-left.ts';
import type { StagePorts } from '#shared/runtime/stage-ports.ts';
import type { ListedObject } from '#shared/storage/object-store.ts';
import { FilterShards } from './filter-shards.ts';
import { IntervalLanes, MOST_LANES } from './interval-lanes.ts';
import type { Interval } from './interval-pages.ts';
import { ShardSink, type SinkState } from './shard-sink.ts';
import { type ShardCounts, ShardTallies } from './shard-tallies.ts';

interface Progress extends SinkState {
  readonly plan_hash: string;
  /** What no call has read yet. Every file outside is counted once in `counts`. */
  readonly unread: readonly Interval[];
  readonly pages: number;
  readonly requests: RequestCounts;
}

/**
 * Lists one shard, or a part of it when time runs short: then `done` is false and `next` names the progress.
 * A repeated worker that finds the shard's receipt answers at once; one that does not, counts in objects of its own.
 */
export async function listShard(event: ListEvent, ports: StagePorts): Promise<WorkerStep> {
  const { run, item, step } = event;
  const time = new TimeLeft(ports.budget);
  const artefacts = new RunArtefacts(ports.work, ports.workBucket, run.prefix);
  const plan = await assertStillOurs(ports, run);
  const name = artefact.listReceipt(item.shard);
  if (await artefacts.readReceipt<ListReceipt>(name, run.plan_hash, ListingIncompleteError)) return finished();

  const rootPrefix = rootOf(plan, item);
  const before = await progressOf(artefacts, step.next, run.plan_hash, item);
  const filters = new FilterShards(plan, run.plan_hash, artefacts);
  const sink = await ShardSink.open({ plan, item, rootPrefix, tables: ports.tables, artefacts, filters }, before);
  const paced = plan.input.pause_after_files !== undefined;
  const lanes = new IntervalLanes(
    {
      store: ports.tables,
      place: { bucket: item.bucket, prefix: item.prefix },
      time,
      mostLanes: paced ? 1 : MOST_LANES,
      take: pacedTake(plan, sink, ports),
    },
    before.unread,
    before.pages,
  );
  const unread = await lanes.run();
  const state = await sink.close();
  const after: Progress = {
    ...state,
    plan_hash: run.plan_hash,
    unread,
    pages: before.pages + lanes.pages,
    requests: {
      get: before.requests.get + sink.requests.get,
      list: before.requests.list + lanes.pages + lanes.probes,
      put: before.requests.put + sink.requests.put + 1,
      delete: 0,
    },
  };
  if (unread.length > 0) {
    const next = artefact.listProgress(item.shard, newNonce());
    await artefacts.writeJson(next, after);
    return { done: false, next, wait_seconds: 0 };
  }
  const receipt = await artefacts.writeOnce<ListReceipt>(name, receiptOf(item, after));
  ports.metrics.add('ObjectsListed', receipt.listed.files);
  const { young } = receipt.classes;
  ports.metrics.add('YoungObjectsSkipped', young.content.files + young.metadata.files);
  return finished();
}

function finished(): WorkerStep {
  return { done: true, next: '', wait_seconds: 0 };
}

/** The root that the shard lies under: the deepest, since "below the root" then means least. */
function rootOf(plan: Plan, item: ListItem): string {
  const { bucket, prefix } = item;
  // A bucket of S3 Express lists in no order, so that no interval of it could be told to be complete.
  if (bucket.endsWith('--x-s3')) {
    throw new UnsupportedTableError(`Bucket ${bucket} is a directory bucket (S3 Express), which lists in no order.`, {
      next: 'icesweep does not clean tables in directory buckets.',
    });
  }
  const roots = plan.roots.filter((root) => root.bucket === bucket && prefix.startsWith(root.prefix));
  const deepest = roots.map((root) => root.prefix).sort((a, b) => b.length - a.length)[0];
  // Without its final slash a prefix would take in siblings: `t/data` lists `t/data_old/` too (FF-04).
  if (deepest === undefined || !deepest.endsWith('/')) {
    throw new ListingIncompleteError(
      `Listing shard ${item.shard}, s3://${bucket}/${prefix}, lies under no root of the plan.`,
    );
  }
  return deepest;
}

async function progressOf(artefacts: RunArtefacts, next: string, planHash: string, item: ListItem): Promise<Progress> {
  if (next === '') {
    return {
      plan_hash: planHash,
      unread: [{ after: item.after, through: item.through }],
      counts: null,
      chunks: [],
      seen: NO_FRAGMENTS,
      pages: 0,
      requests: { get: 0, list: 0, put: 0, delete: 0 },
    };
  }
  const progress = await artefacts.readJson<Progress>(next);
  if (progress === undefined || progress.plan_hash !== planHash) {
    throw new ListingIncompleteError(`The progress ${artefacts.absoluteKey(next)} is gone or of another plan.`, {
      next: 'Start a new run.',
    });
  }
  return progress;
}

/** Spares shared storage: after so many files the listing rests. */
function pacedTake(
  plan: Plan,
  sink: ShardSink,
  ports: StagePorts,
): (objects: readonly ListedObject[]) => Promise<void> {
  const every = plan.input.pause_after_files;
  if (every === undefined) return (objects) => sink.take(objects);
  let rested = Math.floor(sink.files / every);
  return async (objects) => {
    await sink.take(objects);
    const due = Math.floor(sink.files / every);
    const pauses = due - rested;
    rested = due;
    if (pauses > 0) await ports.clock.sleep(pauses * (plan.input.pause_ms ?? 100));
  };
}

function receiptOf(item: ListItem, after: Progress): ListReceipt {
  const counts: ShardCounts = after.counts ?? new ShardTallies().counts();
  return {
    plan_hash: after.plan_hash,
    shard: item.shard,
    bucket: item.bucket,
    prefix: item.prefix,
    after: item.after,
    through: item.through,
    reached_end: true,
    ...counts,
    chunks: after.chunks,
    seen: { objects: after.seen.objects, sections: after.seen.sections },
    pages: after.pages,
    requests: after.requests,
  };
}
