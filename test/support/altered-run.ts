/** A run whose artefacts are altered in the middle, as a fault of one stage would leave them for the next. */
import { gunzipSync, gzipSync } from 'node:zlib';
import type { CandidateLine, ListReceipt } from '#shared/run/receipts.ts';
import { sha256Hex } from '#shared/run/run-artefacts.ts';
import type { RunWorld, StageName } from './run-world.ts';

type Json = Record<string, unknown>;

export async function alterArtefact(
  world: RunWorld,
  suffix: string,
  change: (value: Json) => Json | Promise<Json>,
): Promise<void> {
  const key = world.work.keys('work').find((candidate) => candidate.endsWith(suffix));
  if (key === undefined) throw new Error(`There is no artefact ${suffix}.`);
  const value = JSON.parse((await world.work.get('work', key)).body.toString()) as Json;
  await world.work.put('work', key, Buffer.from(JSON.stringify(await change(value))));
}

/** Alters one artefact right before the first call of a stage. */
export function alterBefore(
  world: RunWorld,
  stage: StageName,
  suffix: string,
  change: (value: Json) => Json | Promise<Json>,
): void {
  let done = false;
  world.onStage = async (called) => {
    if (called !== stage || done) return;
    done = true;
    await alterArtefact(world, suffix, change);
  };
}

/** Makes the lister of shard 0 have listed other lines than it did, with its books in order, before they are sealed. */
export function alterCandidates(world: RunWorld, change: (line: CandidateLine) => CandidateLine): void {
  alterBefore(world, 'evaluate', 'list/0/receipt.json', async (value) => {
    const receipt = value as unknown as ListReceipt;
    const [chunk] = receipt.chunks;
    if (chunk === undefined) throw new Error('Shard 0 has no candidates.');
    const key = world.work.keys('work').find((candidate) => candidate.endsWith(chunk.name)) as string;
    const lines = gunzipSync((await world.work.get('work', key)).body)
      .toString()
      .trimEnd()
      .split('\n');
    const altered = lines.map((line) => `${JSON.stringify(change(JSON.parse(line) as CandidateLine))}\n`).join('');
    const bytes = gzipSync(altered);
    await world.work.put('work', key, bytes);
    return { ...value, chunks: [{ ...chunk, bytes: bytes.length, sha256: sha256Hex(bytes) }] };
  });
}

/** The newest metadata file of a catalog table at `wh/t`, as a new version with changes. */
export async function commitAltered(world: RunWorld, change: (metadata: Json) => Json): Promise<void> {
  const newest = world
    .keys('wh/t/metadata/')
    .filter((key) => key.endsWith('.metadata.json'))
    .at(-1) as string;
  const metadata = JSON.parse((await world.tables.get('b', newest)).body.toString()) as Json;
  const [, version, rest] = /(\d{5})(-[^/]+)$/.exec(newest) as unknown as [string, string, string];
  const next = `wh/t/metadata/${String(Number(version) + 1).padStart(5, '0')}${rest}`;
  world.tables.seed('b', next, Buffer.from(JSON.stringify(change(metadata))), world.nowMs);
}
