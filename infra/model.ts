/**
 * What a run costs and how long it takes, from named constants: `npm run model`. Times are of the stages alone; a cold start
 * and a state transition add seconds to any run. Prices are those of us-east-1, in USD.
 */
import { parseArgs } from 'node:util';

/** Measured or assumed; `npm run bench` measures the rates again on any machine. */
export const ASSUMED = {
  /** Of a manifest of the usual 8 MB, with statistics of 20 columns. */
  bytesPerEntry: 492,
  manifestBytes: 8 * 1024 * 1024,
  orphanShare: 0.05,
  /** A Lambda with one vCPU runs at half the speed of the machine that was measured. */
  scanEntriesPerSecond: 125_000,
  buildEntriesPerSecond: 800_000,
  /** One page after the other: what S3 takes to answer. */
  pageSeconds: 0.075,
  /** The best rate seen in public for one bucket; a bucket of many partitions may do better. */
  bucketPagesPerSecond: 3125,
  deleteRequestSeconds: 0.5,
  keysPerPage: 1000,
} as const;

/** Of a run with the default input and the construct's default sizes. */
export const DEFAULTS = {
  entriesPerScanShard: 1_000_000,
  oneRangeUpTo: 10_000_000,
  entriesPerRange: 4_000_000,
  keysPerListShard: 100_000,
  mostListShards: 2000,
  lanesOfLargeShard: 8,
  scans: 100,
  builds: 20,
  lists: 100,
  deletes: 1,
  deleteBatch: 1000,
  cooldownSeconds: 1,
  scanGigabytes: 2,
  buildGigabytes: 2,
  listGigabytes: 1.728,
  deleteGigabytes: 2,
} as const;

export const PRICES = {
  getPerThousand: 0.0004,
  listOrPutPerThousand: 0.005,
  lambdaGigabyteSecond: 0.0000133334,
  lambdaPerMillion: 0.2,
  transitionPerThousand: 0.025,
  /** A child execution of a distributed map: start, task, choice, end. */
  transitionsPerItem: 4,
} as const;

export interface Modelled {
  readonly files: number;
  readonly manifests: number;
  readonly scanShards: number;
  readonly ranges: number;
  readonly listShards: number;
  readonly seconds: Readonly<Record<'scan' | 'build' | 'list' | 'delete', number>>;
  readonly usd: Readonly<Record<'requests' | 'lambda' | 'transitions', number>>;
}

/** The model for a table with so many files in storage. */
export function modelRun(files: number): Modelled {
  const entries = files * (1 - ASSUMED.orphanShare);
  const orphans = files * ASSUMED.orphanShare;
  const manifests = Math.ceil((entries * ASSUMED.bytesPerEntry) / ASSUMED.manifestBytes);
  const scanShards = Math.ceil(entries / DEFAULTS.entriesPerScanShard);
  const ranges = entries <= DEFAULTS.oneRangeUpTo ? 1 : Math.ceil(entries / DEFAULTS.entriesPerRange);
  const listShards = Math.min(DEFAULTS.mostListShards, Math.ceil(files / DEFAULTS.keysPerListShard));
  const batches = Math.ceil(orphans / DEFAULTS.deleteBatch);
  const pages = Math.ceil(files / ASSUMED.keysPerPage);
  const scanWork = entries / ASSUMED.scanEntriesPerSecond;
  const buildWork = entries / ASSUMED.buildEntriesPerSecond;
  const list = listing(files, listShards, pages);
  const batchSeconds = ASSUMED.deleteRequestSeconds;
  const seconds = {
    scan: waves(scanShards, DEFAULTS.scans) * (scanWork / scanShards),
    build: waves(ranges, DEFAULTS.builds) * (buildWork / ranges),
    list: list.seconds,
    delete: waves(batches, DEFAULTS.deletes) * (batchSeconds + DEFAULTS.cooldownSeconds),
  };
  const gigabyteSeconds =
    scanWork * DEFAULTS.scanGigabytes +
    buildWork * DEFAULTS.buildGigabytes +
    list.workerSeconds * DEFAULTS.listGigabytes +
    batches * batchSeconds * DEFAULTS.deleteGigabytes;
  const items = scanShards + ranges + listShards + batches;
  return {
    files,
    manifests,
    scanShards,
    ranges,
    listShards,
    seconds,
    usd: {
      requests: requestCost({ manifests, scanShards, ranges, listShards, batches, pages }),
      lambda: gigabyteSeconds * PRICES.lambdaGigabyteSecond + (items / 1e6) * PRICES.lambdaPerMillion,
      transitions: (items * PRICES.transitionsPerItem * PRICES.transitionPerThousand) / 1000,
    },
  };
}

/** A shard of more than twice its planned keys is listed in lanes by its worker. */
function listing(files: number, shards: number, pages: number): { seconds: number; workerSeconds: number } {
  const isLarge = files / shards > 2 * DEFAULTS.keysPerListShard;
  const lanes = isLarge ? DEFAULTS.lanesOfLargeShard : 1;
  const shardSeconds = (pages / shards / lanes) * ASSUMED.pageSeconds;
  const atOnce = Math.min(shards, DEFAULTS.lists);
  const seconds = Math.max(waves(shards, DEFAULTS.lists) * shardSeconds, pages / ASSUMED.bucketPagesPerSecond);
  return { seconds, workerSeconds: Math.max(shards * shardSeconds, seconds * atOnce) };
}

function waves(items: number, atOnce: number): number {
  return Math.ceil(items / atOnce);
}

interface Work {
  readonly manifests: number;
  readonly scanShards: number;
  readonly ranges: number;
  readonly listShards: number;
  readonly batches: number;
  readonly pages: number;
}

function requestCost(work: Work): number {
  // A range is read out of every scan shard's fragments; evaluate reads it once more out of every listing shard's.
  const gets =
    work.manifests +
    work.ranges * 2 * work.scanShards +
    work.listShards * 3 +
    work.ranges * work.listShards +
    work.batches * 6;
  const puts = work.scanShards * 2 + work.ranges * 3 + work.listShards * 2 + work.batches * 4;
  return (gets * PRICES.getPerThousand + (work.pages + puts) * PRICES.listOrPutPerThousand) / 1000;
}

/** Deleting itself is free of charge. */
export function totalUsd({ usd }: Modelled): number {
  return usd.requests + usd.lambda + usd.transitions;
}

/** The table as Markdown, one row a size. */
export function modelTable(sizes: readonly number[]): string {
  const header = [
    'files',
    'manifests',
    'scan',
    'build',
    'list',
    'until the verdict',
    'delete 5 %',
    'cost',
    'of which LIST, GET, PUT',
  ];
  const rows = sizes.map(modelRun).map((run) => {
    const { scan, build, list } = run.seconds;
    return [
      spell(run.files),
      run.manifests.toLocaleString('en'),
      `${run.scanShards.toLocaleString('en')} × ${duration(scan)}`,
      `${run.ranges.toLocaleString('en')} × ${duration(build)}`,
      `${run.listShards.toLocaleString('en')} × ${duration(list)}`,
      duration(scan + build + list),
      duration(run.seconds.delete),
      dollars(totalUsd(run)),
      dollars(run.usd.requests),
    ];
  });
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(header), line(header.map(() => '---')), ...rows.map(line)].join('\n');
}

function spell(files: number): string {
  for (const [unit, word] of [
    [1e9, 'B'],
    [1e6, 'M'],
    [1e3, 'k'],
  ] as const) {
    if (files >= unit) return `${files / unit}${word}`;
  }
  return String(files);
}

function duration(seconds: number): string {
  if (seconds < 90) return `${Math.max(1, Math.round(seconds))} s`;
  return seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}

function dollars(usd: number): string {
  return `$${usd < 0.1 ? usd.toFixed(3) : usd.toFixed(2)}`;
}

function main(): void {
  const { values } = parseArgs({ options: { json: { type: 'boolean', default: false } } });
  const sizes = [1e6, 1e7, 1e8, 1e9];
  if (values.json) {
    process.stdout.write(
      `${JSON.stringify({ assumed: ASSUMED, defaults: DEFAULTS, prices: PRICES, runs: sizes.map(modelRun) }, null, 2)}\n`,
    );
    return;
  }
  process.stdout.write(
    `${modelTable(sizes)}\n\nWorkers × time of the stage with the default input. Inputs of the model:\n`,
  );
  for (const [name, value] of Object.entries({ ...ASSUMED, ...DEFAULTS, ...PRICES })) {
    process.stdout.write(`  ${name} = ${value}\n`);
  }
}

if (import.meta.main) main();
