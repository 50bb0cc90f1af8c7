/** Runs in which one artefact is harmed between the call that wrote it and the next: which kinds there are is found by a run. */
import { newNonce } from '#shared/run/run-artefacts.ts';
import { RunWorld } from './run-world.ts';

export const MANNERS = ['lost', 'emptied', 'cut', 'foreign'] as const;
export type Manner = (typeof MANNERS)[number];

/** A kind of artefact: its name with numbers and nonces replaced. */
export interface ArtefactKind {
  readonly kind: string;
  /** The stage call, counted from the start of the run, before which it was there for the first time. */
  readonly call: number;
}

export interface HarmedRun {
  /** Keys of the table's bucket afterwards. */
  readonly keys: readonly string[];
  readonly deleted: number;
  readonly verdict: string;
  readonly error: string | undefined;
  /** False where both runs wrote the same bytes, so that nothing was harmed. */
  readonly wasHarmed: boolean;
}

export interface Undisturbed extends Omit<HarmedRun, 'wasHarmed'> {
  readonly kinds: readonly ArtefactKind[];
}

const NAME = 'harmed';
const HEX = newNonce().length;

function kindOf(key: string): string {
  return key
    .replace(/^runs\/[^/]+\/[^/]+\//, '')
    .replace(new RegExp(`[0-9a-f]{64}|[0-9a-f]{${HEX}}`, 'g'), '*')
    .replace(/\d+/g, 'N');
}

/** Orphans of several pages, chunks and batches, and calls that hand on after each step. */
async function harmWorld(salt = ''): Promise<RunWorld> {
  const world = new RunWorld();
  const table = await world.table();
  for (let commit = 0; commit < 4; commit++) await table.append(salt === '' ? 3 : 4);
  for (let index = 0; index < 2100; index++) {
    world.tables.seed('b', `wh/t/data/orphan-${salt}${index}.parquet`, 10, world.writeMs);
  }
  return world;
}

/** Tells `before` of each stage call, and makes time short after the first looks: what can hand on does. */
function follow(world: RunWorld, before: (call: number) => void | Promise<void>): void {
  let call = 0;
  world.onStage = async (stage) => {
    await before(call++);
    // Deleting counts on a minute for each request.
    const long = stage === 'delete' ? Number.POSITIVE_INFINITY : stage === 'plan' ? 2 : 1;
    let looks = 0;
    world.remainingMs = () => (looks++ < long ? 900_000 : 1000);
  };
}

const workKeys = (world: RunWorld): string[] => world.work.keys('work').filter((key) => key.startsWith('runs/'));

async function runOf(world: RunWorld): Promise<Omit<HarmedRun, 'wasHarmed'>> {
  const { record, failure } = await world.run({ max_orphan_percent: 100 }, NAME);
  const { verdict, deleted_files_count: deleted } = record;
  return { keys: world.keys(), deleted, verdict, error: failure?.error };
}

/** The artefacts that any call finds, by kind; those that the last stage writes are read by nobody. */
export async function undisturbed(): Promise<Undisturbed> {
  const world = await harmWorld();
  const kinds = new Map<string, number>();
  follow(world, (call) => {
    for (const key of workKeys(world)) if (!kinds.has(kindOf(key))) kinds.set(kindOf(key), call);
  });
  const run = await runOf(world);
  return { ...run, kinds: Array.from(kinds, ([kind, at]) => ({ kind, call: at })) };
}

/** Artefacts of another run over another table, by kind: whole, and of a plan that is not ours. */
export async function foreignArtefacts(): Promise<ReadonlyMap<string, Buffer>> {
  const world = await harmWorld('other-');
  const bodies = new Map<string, Buffer>();
  follow(world, async () => {
    for (const key of workKeys(world)) {
      const { body } = await world.work.get('work', key);
      if (!bodies.has(kindOf(key))) bodies.set(kindOf(key), Buffer.from(body));
    }
  });
  await world.run({ max_orphan_percent: 100 }, 'another');
  return bodies;
}

export async function harmedRun(
  { kind, call }: ArtefactKind,
  manner: Manner,
  foreign: ReadonlyMap<string, Buffer>,
): Promise<HarmedRun> {
  const world = await harmWorld();
  let wasHarmed = false;
  follow(world, async (now) => {
    if (now !== call) return;
    for (const key of workKeys(world).filter((each) => kindOf(each) === kind)) {
      const { body } = await world.work.get('work', key);
      const harmed = harm(body, manner, foreign.get(kind));
      if (harmed === undefined) world.work.bucket('work').delete(key, {});
      else if (!harmed.equals(body)) await world.work.put('work', key, harmed);
      else continue;
      wasHarmed = true;
    }
  });
  return { ...(await runOf(world)), wasHarmed };
}

function harm(body: Buffer, manner: Manner, foreign: Buffer | undefined): Buffer | undefined {
  if (manner === 'lost') return undefined;
  if (manner === 'emptied') return Buffer.alloc(0);
  return manner === 'cut' ? body.subarray(0, Math.floor(body.length / 2)) : (foreign ?? body);
}
