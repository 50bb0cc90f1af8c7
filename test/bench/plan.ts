/** Subjects: a whole dry run on the embedded runtime over a made-up table, and one process that remembers every path. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startMachine } from '#infra/local/machine/machine.ts';
import { MemoryBucket } from '#infra/local/s3/memory-bucket.ts';
import { startS3Server } from '#infra/local/s3/server.ts';
import { readManifest } from '#shared/iceberg/manifest.ts';
import { parseDeployment } from '#shared/run/deployment.ts';
import type { RunRecord } from '#shared/run/record.ts';
import { MadeUpBucket } from '../support/made-up-bucket.ts';
import { MadeUpStore, MadeUpTable } from '../support/made-up-table.ts';
import { childPeaks } from '../support/process-peaks.ts';
import { type Subject, serveSubjects } from './measure.ts';

const isOrphan = (index: number) => index % 20 === 7;

function tableOf(files: number): MadeUpTable {
  // Blocks that cost little to make: what is measured is the run, not the making of its input.
  return new MadeUpTable({ files, layout: 'hive', isOrphan, columns: 4, codec: 'deflate', level: 1 });
}

/** Wall microseconds a file. The workers' peak is that of the largest process that the runtime started. */
const ours: Subject = async (files) => {
  const buckets = { b: new MadeUpBucket(tableOf(files)), work: new MemoryBucket() };
  const server = await startS3Server({ buckets });
  const stateDir = mkdtempSync(join(tmpdir(), 'icesweep-bench-'));
  const machine = await startMachine({
    stateDir,
    tableS3: { endpoint: server.endpoint, region: 'us-east-1' },
    workS3: { endpoint: server.endpoint, bucket: 'work' },
    deployment: parseDeployment({ local: true }),
    environment: { AWS_ACCESS_KEY_ID: 'local', AWS_SECRET_ACCESS_KEY: 'local' },
  });
  const peaks = watchWorkers();
  try {
    const start = performance.now();
    const run = machine.run({ table: 's3://b/wh/t', catalog: { type: 'path' }, dry_run: true }, { name: 'bench' });
    let largestState = 0;
    const end = await run.result;
    const microseconds = ((performance.now() - start) * 1000) / files;
    if (end.status !== 'SUCCEEDED') throw new Error(`The run ended ${end.status}: ${end.error} ${end.cause}`);
    largestState = JSON.stringify(end.output).length;
    const record = end.output as RunRecord;
    const planted = Math.ceil((files - 7) / 20);
    if (record.orphan_files_count > planted || record.orphan_files_count < planted * 0.999) {
      throw new Error(`${record.orphan_files_count} orphans found, ${planted} planted.`);
    }
    const facts = { orphans: record.orphan_files_count, planted, output_bytes: largestState, ...peaks.stop() };
    return { value: microseconds, facts };
  } finally {
    await machine.close();
    await server.close();
    rmSync(stateDir, { recursive: true, force: true });
  }
};

/** What peers do: every referenced path in a set, one listing from one place. No network in between, to its favour. */
const naive: Subject = async (files) => {
  const table = tableOf(files);
  const store = new MadeUpStore(table).asStore();
  const start = performance.now();
  const referenced = new Set<string>();
  for (const { bucket, key, path } of table.plannedManifests()) {
    const { body } = await store.get(bucket, key);
    for (const entry of readManifest(body, path)) if (entry.status !== 2) referenced.add(entry.filePath);
  }
  const orphans: string[] = [];
  for (let token: string | undefined, more = true; more; ) {
    const page = await store.list({
      bucket: 'b',
      prefix: 'wh/t/data/',
      ...(token === undefined ? {} : { continuationToken: token }),
    });
    for (const { key } of page.objects) if (!referenced.has(`s3://b/${key}`)) orphans.push(key);
    token = page.continuationToken;
    more = page.truncated;
  }
  return { value: ((performance.now() - start) * 1000) / files, facts: { orphans: orphans.length } };
};

/** Peak resident sizes of the functions' processes. */
function watchWorkers(): { stop(): Readonly<Record<string, number>> } {
  const peaks = new Map<string, number>();
  const look = () => {
    for (const [stage, peak] of childPeaks()) {
      const name = `${stage}_rss_mb`;
      peaks.set(name, Math.max(peaks.get(name) ?? 0, peak));
    }
  };
  const timer = setInterval(look, 100);
  return {
    stop() {
      look();
      clearInterval(timer);
      return { worker_rss_mb: Math.max(0, ...peaks.values()), ...Object.fromEntries(peaks) };
    },
  };
}

if (import.meta.main) await serveSubjects({ ours, naive });
