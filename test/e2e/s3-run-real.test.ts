/**
 * Whole runs of the command line against another S3 server: `S3_ENDPOINT=http://… node --test test/e2e/s3-run-real.test.ts`,
 * with credentials in the SDK's own variables. Buckets are made and left behind. No run deletes what is younger than 24 hours,
 * so that files must be old: MinIO takes their time from a header, `moto_old_clock.py` is a server with an old clock. Against
 * any other, orphans must all be kept.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import {
  CreateBucketCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutBucketVersioningCommand,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import type { RunRecord } from '#shared/run/record.ts';
import { createS3Client } from '#shared/storage/s3-client.ts';
import { runCli } from '#test/support/cli-world.ts';
import { TableWriter } from '#test/support/table-writer.ts';

const endpoint = process.env['S3_ENDPOINT'];
const DAY_MS = 86_400_000;
/** Servers that do not know it pass over it. */
const MINIO_TIME = 'x-minio-source-mtime';
/** Names that lose their identity where a key is decoded or encoded once too often. */
const ODD = [
  'a b+c.parquet',
  '50%.parquet',
  'a%2Bb.parquet',
  'é.parquet',
  'e\u0301.parquet',
  '😀.parquet',
  'a&lt;b.parquet',
];

class RealTable {
  readonly client = createS3Client({ endpoint: endpoint as string });
  readonly bucket: string;
  readonly state = mkdtempSync(join(tmpdir(), 'icesweep-real-'));
  readonly writer: TableWriter;

  constructor(bucket: string) {
    this.bucket = bucket;
    this.client.middlewareStack.add(
      (next, { commandName }) =>
        (step) => {
          const { headers } = step.request as { headers: Record<string, string> };
          if (commandName === 'PutObjectCommand')
            headers[MINIO_TIME] = new Date(Date.now() - 60 * DAY_MS).toISOString();
          return next(step);
        },
      { step: 'build' },
    );
    const sink = {
      put: (Bucket: string, Key: string, Body: Uint8Array) =>
        this.client.send(new PutObjectCommand({ Bucket, Key, Body })),
    };
    this.writer = new TableWriter(sink, { location: `s3://${bucket}/sales/orders`, startMs: Date.now() - 2 * DAY_MS });
  }

  async write(versioned: boolean): Promise<void> {
    await this.client.send(new CreateBucketCommand({ Bucket: this.bucket }));
    if (versioned) {
      const VersioningConfiguration = { Status: 'Enabled' } as const;
      await this.client.send(new PutBucketVersioningCommand({ Bucket: this.bucket, VersioningConfiguration }));
    }
    await this.writer.create();
    await this.writer.append(4);
    await this.writer.append(3);
    await this.writer.plantOrphans();
    for (const name of ODD) await this.writer.put(`data/${name}`, Buffer.from('lost'));
  }

  async keys(): Promise<string[]> {
    const found = await this.client.send(new ListObjectsV2Command({ Bucket: this.bucket }));
    return (found.Contents ?? []).map(({ Key }) => Key as string).sort();
  }

  /** The store's clock says that what was written now is older than the floor. */
  async isOld(): Promise<boolean> {
    const key = [...this.writer.referenced()][0] as string;
    const { LastModified } = await this.client.send(new HeadObjectCommand({ Bucket: this.bucket, Key: key }));
    return Date.now() - (LastModified as Date).getTime() > 4 * DAY_MS;
  }

  cli(...args: readonly string[]): ReturnType<typeof runCli> {
    return runCli([...args, '--state', this.state, '--quiet', '--output', 'json'], this.state);
  }

  async sweep(command: 'plan' | 'run'): Promise<RunRecord> {
    const table = `s3://${this.bucket}/sales/orders`;
    const limits = ['--max-orphan-percent', '100', '--yes'].slice(0, command === 'run' ? 3 : 2);
    const { out, err, code } = await this.cli(command, table, '--endpoint-url', endpoint as string, ...limits);
    assert.equal(code, 0, err);
    return JSON.parse(out) as RunRecord;
  }
}

if (endpoint === undefined) {
  test('whole runs against another S3 server', { skip: 'S3_ENDPOINT is not set' }, () => {});
} else {
  for (const versioned of [false, true]) {
    describe(`whole runs against another S3 server (versioned: ${versioned})`, () => {
      test('a dry run finds the orphans, a deleting run removes them and nothing else', async (context) => {
        const table = new RealTable(`icesweep-run-${versioned ? 'v' : 'p'}-${Date.now().toString(36)}`);
        try {
          await table.write(versioned);
          const [before, orphans] = [await table.keys(), table.writer.unreferenced()];
          const planned = await table.sweep('plan');
          assert.deepEqual(await table.keys(), before);
          if (!(await table.isOld())) {
            context.diagnostic('the server has the true time: only that everything is kept was tested');
            assert.equal((await table.sweep('run')).verdict, 'NOTHING_TO_DO');
            assert.equal(planned.kept.young, orphans.size);
            assert.deepEqual(await table.keys(), before);
            return;
          }
          assert.equal(planned.orphan_files_count, orphans.size);
          const deleted = await table.sweep('run');
          assert.equal(deleted.verdict, 'DELETED');
          assert.equal(deleted.deleted_files_count, orphans.size);
          assert.deepEqual(await table.keys(), [...table.writer.referenced()].sort());
          assert.equal((await table.sweep('run')).verdict, 'NOTHING_TO_DO');
          if (!versioned) return;
          const restored = await table.cli('restore', deleted.run_id, '--yes');
          assert.equal(restored.code, 0, restored.err);
          assert.deepEqual(await table.keys(), before);
        } finally {
          rmSync(table.state, { recursive: true, force: true });
        }
      });
    });
  }
}
