/** Subjects: listing over HTTP and classing every key. A stub in a second process answers pages of 1,000 keys. */
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { listShard } from '#functions/list/list-shard.ts';
import { createS3Client } from '#shared/storage/s3-client.ts';
import { S3Store, type S3StoreOptions } from '#shared/storage/s3-store.ts';
import { MarkWorld } from '../support/mark-world.ts';
import { cpuPerItem, median, type Subject, serveSubjects } from './measure.ts';

export const PAGES = 150;
const ROUNDS = 5;
const STEP = { done: false, next: '', wait_seconds: 0 };

async function startStub(): Promise<{ readonly endpoint: string; stop(): void }> {
  const stub = fork(fileURLToPath(new URL('./list-stub.ts', import.meta.url)), [String(PAGES)], { execArgv: [] });
  const port = await new Promise<number>((resolve) => stub.once('message', (message) => resolve(message as number)));
  return { endpoint: `http://127.0.0.1:${port}`, stop: () => void stub.kill() };
}

/** CPU microseconds of this process per page, listing and classing, median of five rounds. */
async function listing(options: S3StoreOptions) {
  const stub = await startStub();
  try {
    const credentials = { accessKeyId: 'bench', secretAccessKey: 'bench' };
    const client = createS3Client({ endpoint: stub.endpoint, credentials });
    const store = new S3Store(client, client, options);
    const rounds: number[] = [];
    for (let round = 0; round <= ROUNDS; round++) {
      const world = await MarkWorld.open({
        tables: store,
        list: [{ bucket: 'b', prefix: 'wh/t/data/', after: null, through: null }],
      });
      await world.mark();
      const item = world.items[0]!;
      const cpu = await cpuPerItem(PAGES, () => listShard({ run: world.run, item, step: STEP }, world.ports));
      if ((await world.list()).listed.files !== PAGES * 1000) throw new Error('The listing lost keys.');
      // The first round warms up.
      if (round > 0) rounds.push(cpu / 1000);
    }
    return { value: median(rounds) };
  } finally {
    stub.stop();
  }
}

const ours: Subject = () => listing({ listParser: 'strict' });
const sdk: Subject = () => listing({ listParser: 'sdk' });

if (import.meta.main) await serveSubjects({ ours, sdk });
