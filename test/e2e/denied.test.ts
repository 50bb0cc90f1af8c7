import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { MemoryBucket } from '#infra/local/s3/memory-bucket.ts';
import { startS3Server } from '#infra/local/s3/server.ts';
import { BIN } from '#test/support/cli-world.ts';
import { TableWriter } from '#test/support/table-writer.ts';

const DAY_MS = 86_400_000;

async function exitOf(args: readonly string[], cwd: string): Promise<{ code: number | null; err: string }> {
  const env = { ...process.env, AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' };
  const child = spawn(process.execPath, [BIN, ...args], { cwd, env, stdio: ['ignore', 'ignore', 'pipe'] });
  let err = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text;
  });
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, err })));
}

describe('a bucket that denies', () => {
  const denials = [
    ['s3:DeleteObject', ['DeleteObjects', 'DeleteObject']],
    ['s3:ListBucket', ['ListObjectsV2']],
    ['s3:GetObject', ['GetObject']],
  ] as const;
  for (const [action, operations] of denials) {
    test(`${action} ends the run by name, and everything is still there`, async () => {
      const bucket = new MemoryBucket();
      const server = await startS3Server({ buckets: { lake: bucket } });
      const folder = mkdtempSync(join(tmpdir(), 'icesweep-denied-'));
      try {
        const put = (_: string, key: string, bytes: Uint8Array): void =>
          bucket.seed(key, Buffer.from(bytes), Date.now() - 60 * DAY_MS);
        const writer = new TableWriter({ put }, { location: 's3://lake/orders', startMs: Date.now() - 2 * DAY_MS });
        await writer.create();
        await writer.append(4);
        await writer.plantOrphans();
        for (const operation of operations)
          server.fault({ bucket: 'lake', operation, effect: { error: { status: 403, code: 'AccessDenied' } } });

        const flags = ['--endpoint-url', server.endpoint, '--max-orphan-percent', '100', '--yes', '--quiet'];
        const { code, err } = await exitOf(['run', 's3://lake/orders', ...flags], folder);

        assert.match(err, new RegExp(`^AccessDeniedError: .*${action}`, 'm'));
        assert.equal(code, 1);
        // Told by two cheap requests, before anything is listed for it or scanned.
        if (action === 's3:DeleteObject') {
          const asked = server.requests().map(({ operation }) => operation);
          assert.ok(asked.filter((operation) => operation === 'GetObject').length <= 3, asked.join());
        }
        const standing = new Set<string>();
        for await (const { key } of bucket.scan('', undefined)) standing.add(key);
        assert.deepEqual(standing, writer.written);
      } finally {
        await server.close();
        rmSync(folder, { recursive: true, force: true });
      }
    });
  }
});
