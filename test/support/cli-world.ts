/** A small table in a temporary folder and the command line as a process of its own, for tests of what a person meets. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { TableWriter } from './table-writer.ts';
import type { Sink } from './table-writer-options.ts';

export const PROJECT = resolve(import.meta.dirname, '../..');
export const BIN = join(PROJECT, 'infra/local/bin.js');
export const LOCATION = 's3://lake/sales/orders';

export interface CliResult {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export interface CliWorld {
  readonly folder: string;
  /** The table's directory. */
  readonly table: string;
  readonly state: string;
  readonly writer: TableWriter;
  /** Paths below the table's location. */
  readonly orphans: readonly string[];
  readonly referenced: readonly string[];
  run(...args: readonly string[]): Promise<CliResult>;
  remaining(): readonly string[];
  remove(): void;
}

const DAY_MS = 86_400_000;

/** A few files of every kind, and orphans of every kind; below `prefix` of whatever the sink puts into. */
export async function writeSmallTable(sink: Sink, location: string, prefix: string): Promise<TableWriter> {
  const startMs = Date.now() - 2 * DAY_MS;
  const writer = new TableWriter(sink, { location, place: { bucket: 'lake', prefix }, startMs });
  await writer.create();
  await writer.append(4);
  await writer.append(3);
  await writer.plantOrphans();
  return writer;
}

/** Puts files, all of them 60 days old, below a folder. */
export function oldFiles(folder: string): Sink {
  const old = new Date(Date.now() - 60 * DAY_MS);
  return {
    put(_bucket: string, key: string, bytes: Uint8Array): void {
      const file = join(folder, key);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, bytes);
      utimesSync(file, old, old);
    },
  };
}

/** Everything is 60 days old, orphans included. `extra` plants more plain orphans. */
export async function cliWorld(extra = 0): Promise<CliWorld> {
  const folder = mkdtempSync(join(tmpdir(), 'icesweep-e2e-'));
  const place = (key: string): string => join(folder, key);
  const writer = await writeSmallTable(oldFiles(folder), LOCATION, 'orders');
  for (let at = 0; at < extra; at += 1) await writer.put(`data/lost-${at}.parquet`, Buffer.from('lost'));
  const below = (keys: ReadonlySet<string>): string[] => [...keys].map((key) => key.slice('orders/'.length)).sort();
  const [table, state] = [place('orders'), place('state')];
  return {
    folder,
    table,
    state,
    writer,
    orphans: below(writer.unreferenced()),
    referenced: below(writer.referenced()),
    run: (...args) => runCli([...args, '--state', state], folder),
    remaining: () => filesBelow(table),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

export function filesBelow(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
}

export interface CliOptions {
  /** In place of this process's own. */
  readonly env?: NodeJS.ProcessEnv;
  readonly started?: (child: ChildProcess) => void;
}

/** Without a terminal on any stream. */
export function runCli(args: readonly string[], cwd: string, options: CliOptions = {}): Promise<CliResult> {
  const { env = process.env, started } = options;
  const child = spawn(process.execPath, [BIN, ...args], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  started?.(child);
  const text = { out: '', err: '' };
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text.out += chunk;
  });
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    text.err += chunk;
  });
  return new Promise((done) => child.on('close', (code) => done({ code, ...text })));
}
