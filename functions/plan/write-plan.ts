/**
 * The plan's artefacts, written so that a repeated attempt either writes the same bytes or is told apart: two attempts whose
 * listings differ must not be mixed into one plan.
 */
import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { inOrder } from '#shared/catalog/table-objects.ts';
import { TableChangedError } from '#shared/errors.ts';
import { artefact } from '#shared/run/artefacts.ts';
import type { ListItem, ObjectRef, Plan, ScanShard } from '#shared/run/plan.ts';
import { type RunArtefacts, sha256Hex } from '#shared/run/run-artefacts.ts';
import type { StagePorts } from '#shared/runtime/stage-ports.ts';
import { isStoreFault } from '#shared/storage/object-store.ts';
import type { ShardWork } from './scan-shards.ts';

const WRITES_AT_ONCE = 16;

type WritePorts = Pick<StagePorts, 'work' | 'workBucket'>;

async function writeSame(ports: WritePorts, artefacts: RunArtefacts, name: string, body: Buffer): Promise<void> {
  const key = artefacts.absoluteKey(name);
  try {
    await ports.work.put(ports.workBucket, key, body, { ifNoneMatch: '*' });
  } catch (error) {
    if (!isStoreFault(error, 'PreconditionFailed')) throw error;
    const stored = await artefacts.read(name);
    if (stored?.equals(body)) return;
    throw new TableChangedError(`An earlier attempt of this run planned something else (${key}).`, {
      cause: error,
      next: 'The table changed between the attempts; start a new run.',
    });
  }
}

const lines = (items: readonly unknown[]): Buffer =>
  Buffer.from(items.map((item) => `${JSON.stringify(item)}\n`).join(''));

/** Named by its content, so that a repeated attempt writes the same object. */
async function writeReferences(
  ports: WritePorts,
  artefacts: RunArtefacts,
  shard: number,
  work: ShardWork,
): Promise<ObjectRef> {
  const body = gzipSync(lines(work.references));
  const sha256 = sha256Hex(body);
  const name = artefact.planReferences(shard, sha256.slice(0, 16));
  await writeSame(ports, artefacts, name, body);
  return { name, bytes: body.length, entries: work.references.length, sha256 };
}

/** Answers the digest of the body. */
async function writeShard(ports: WritePorts, artefacts: RunArtefacts, shard: number, work: ShardWork): Promise<string> {
  const references = work.references.length === 0 ? undefined : await writeReferences(ports, artefacts, shard, work);
  const content: ScanShard = { shard, manifests: work.manifests, ...(references === undefined ? {} : { references }) };
  const body = Buffer.from(JSON.stringify(content));
  await writeSame(ports, artefacts, artefact.scanShard(shard), body);
  return sha256Hex(body);
}

/** Writes shards, work items and, last, the plan with the shards' digests; answers the plan hash. */
export async function writePlan(
  ports: WritePorts,
  artefacts: RunArtefacts,
  plan: Plan,
  shards: readonly ShardWork[],
  listItems: readonly ListItem[],
): Promise<string> {
  const digests = await inOrder(shards, WRITES_AT_ONCE, (work, shard) => writeShard(ports, artefacts, shard, work));
  await writeSame(ports, artefacts, artefact.scanItems, lines(shards.map((_, shard) => ({ shard }))));
  await writeSame(ports, artefacts, artefact.buildItems, lines(plan.ranges.map((_, range) => ({ range }))));
  await writeSame(ports, artefacts, artefact.listItems, lines(listItems));
  const body = Buffer.from(JSON.stringify({ ...plan, scan: { ...plan.scan, digests } } satisfies Plan));
  await writeSame(ports, artefacts, artefact.plan, body);
  return sha256Hex(body);
}

/** The seed of the key hash: another one for every run, the same for every attempt of one. 16 hex digits. */
export function saltOf(runId: string, t0: string): string {
  return createHash('sha256').update(`salt ${runId} ${t0}`).digest('hex').slice(0, 16);
}
