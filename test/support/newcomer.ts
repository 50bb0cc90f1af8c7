/** A fresh folder with the checkout's files, real tables and a store beside it, in which a document's commands are typed. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { MemoryBucket } from '#infra/local/s3/memory-bucket.ts';
import { type S3Server, startS3Server } from '#infra/local/s3/server.ts';
import { oldFiles, PROJECT, writeSmallTable } from './cli-world.ts';
import { onTerminal } from './pty.ts';

/** Asked for on a terminal, and what is typed. */
export type Question = readonly [question: RegExp, answer: string];

/** All that git has, by its top folders; packages come from this checkout, so that no network is needed. */
const PARTS = [
  'functions',
  'infra',
  'shared',
  'test/support',
  'cdk.json',
  'package.json',
  'tsconfig.json',
  'README.md',
];

export class Newcomer {
  folder = '';
  readonly lake = new MemoryBucket({ versioning: 'Enabled' });
  #server: S3Server | undefined;
  #run = '';

  async open(): Promise<void> {
    this.folder = mkdtempSync(join(tmpdir(), 'icesweep-newcomer-'));
    for (const part of PARTS) cpSync(join(PROJECT, part), join(this.folder, part), { recursive: true });
    symlinkSync(join(PROJECT, 'node_modules'), join(this.folder, 'node_modules'));
    await writeSmallTable(oldFiles(this.folder), 's3://lake/db/orders', 'warehouse/db/orders');
    await writeSmallTable(oldFiles(this.folder), 'hdfs://nn/wh/t', 'copy');
    const old = Date.now() - 60 * 86_400_000;
    const bucket = {
      put: (_bucket: string, key: string, bytes: Uint8Array) => this.lake.seed(key, Buffer.from(bytes), old),
    };
    await writeSmallTable(bucket, 's3://lake/db/orders', 'db/orders');
    this.#server = await startS3Server({ buckets: { lake: this.lake } });
  }

  async close(): Promise<void> {
    await this.#server?.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Puts there what the document says that a reader puts there. */
  #filledIn(command: string): string {
    return command
      .replace('http://127.0.0.1:9000', this.#server?.endpoint as string)
      .replace('<run>', this.#run)
      .replace('<path>', 'data/empty.parquet');
  }

  get #environment(): Record<string, string> {
    const credentials = { AWS_ACCESS_KEY_ID: 'newcomer', AWS_SECRET_ACCESS_KEY: 'newcomer', AWS_REGION: 'us-east-1' };
    const path = [dirname(process.execPath), process.env['PATH'] ?? ''].join(delimiter);
    return { ...credentials, PATH: path, NO_COLOR: '1', npm_config_update_notifier: 'false' };
  }

  /** What the command shows; it must end well. */
  async type(command: string, asks?: Question): Promise<string> {
    const shown = await (asks === undefined ? this.#plain(command) : this.#asked(command, asks));
    this.#run = /^run +(\S+)/m.exec(shown)?.[1] ?? this.#run;
    return shown;
  }

  #plain(command: string): Promise<string> {
    const child = spawn('sh', ['-c', this.#filledIn(command)], {
      cwd: this.folder,
      env: { ...process.env, ...this.#environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const text = { out: '', err: '' };
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      text.out += chunk;
    });
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      text.err += chunk;
    });
    return new Promise((done, fail) =>
      child.on('close', (code) =>
        code === 0 ? done(text.out || text.err) : fail(new Error(`${command} ended with ${code}: ${text.err}`)),
      ),
    );
  }

  async #asked(command: string, [question, answer]: Question): Promise<string> {
    const session = onTerminal(this.#filledIn(command), { cwd: this.folder, environment: this.#environment });
    await session.shows(question);
    session.type(`${answer}\r`);
    const code = await session.exit;
    // biome-ignore lint/suspicious/noControlCharactersInRegex: a terminal's own.
    const shown = session.text().replace(/\u001b\[[0-9;]*[A-Za-z]/g, '');
    assert.equal(code, 0, shown);
    return shown;
  }
}
