/**
 * `npm start`: writes a true Iceberg table with leavings of every kind, sweeps it through the command line's own functions,
 * and checks file by file that nothing referenced is gone and every planted orphan is.
 */
import { existsSync, mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import type { RunRecord } from '#shared/run/record.ts';
import { TableWriter } from '#test/support/table-writer.ts';
import { main } from './cli/main.ts';
import { processTerminal, type Terminal } from './cli/terminal.ts';

const FOLDER = resolve('.icesweep/demo');
const WAREHOUSE = join(FOLDER, 'warehouse');
const STATE = join(FOLDER, 'state');
const LOCATION = 's3://lake/sales/orders';
const TABLE = join(WAREHOUSE, 'sales/orders');

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

interface Demo {
  readonly referenced: ReadonlySet<string>;
  readonly orphans: ReadonlySet<string>;
  /** Why each of the others is kept. */
  readonly kept: ReadonlyMap<string, string>;
}

const fileOf = (key: string): string => join(WAREHOUSE, key);

function setAge(key: string, ageMs: number): void {
  const time = new Date(Date.now() - ageMs);
  utimesSync(fileOf(key), time, time);
}

const sink = {
  put(_bucket: string, key: string, bytes: Uint8Array): void {
    mkdirSync(dirname(fileOf(key)), { recursive: true });
    writeFileSync(fileOf(key), bytes);
  },
};

/** Five months of a table's life: appends, a branch, deletes, a compaction, statistics, expired snapshots. */
async function writeHistory(writer: TableWriter): Promise<void> {
  await writer.create();
  for (let day = 0; day < 6; day += 1) await writer.append(20);
  const [first] = await writer.append(6);
  await writer.branch('audit');
  await writer.append(4, { branch: 'audit' });
  await writer.positionDelete();
  await writer.equalityDelete();
  if (first !== undefined) await writer.deletionVector([first]);
  await writer.addStatistics();
  await writer.addPartitionStatistics();
  await writer.overwrite(30);
  await writer.append(30);
  await writer.stage(2);
  await writer.expire(3);
  await writer.append(20);
}

async function writeDemo(): Promise<Demo> {
  rmSync(FOLDER, { recursive: true, force: true });
  const startMs = Date.now() - 2 * DAY_MS;
  const writer = new TableWriter(sink, {
    location: LOCATION,
    place: { bucket: 'lake', prefix: 'sales/orders' },
    formatVersion: 3,
    startMs,
    partitionFields: ['region'],
  });
  await writeHistory(writer);
  await writer.plantOrphans();
  await writer.pendingFlinkManifest();
  const orphans = writer.unreferenced();
  for (const key of writer.written) setAge(key, 60 * DAY_MS);
  const kept = new Map<string, string>(
    [...writer.pending].map((key) => [key, 'a Flink job that has not committed yet']),
  );
  const later = [
    ['data/region=p0/being-written-now.parquet', HOUR_MS, 'younger than the cut-off'],
    ['data/_spark_metadata/0', 60 * DAY_MS, 'a hidden name'],
    ['notes/readme.txt', 60 * DAY_MS, 'outside data/ and metadata/'],
  ] as const;
  for (const [path, ageMs, why] of later) {
    const { key } = await writer.put(path, Buffer.from('x'));
    setAge(key, ageMs);
    kept.set(key, why);
  }
  return { referenced: writer.referenced(), orphans, kept };
}

function say(terminal: Terminal, text: string): Promise<void> {
  return terminal.out(`${text}\n`);
}

/** Runs a command as a person would, and says so. */
async function command(words: readonly string[], terminal: Terminal): Promise<number> {
  await say(
    terminal,
    `\n$ icesweep ${words.map((word) => (word.startsWith(FOLDER) ? relative(process.cwd(), word) : word)).join(' ')}`,
  );
  return main([...words, '--state', STATE, '--quiet'], terminal);
}

/** The run before `back - 1` others. */
async function lastRun(terminal: Terminal, back = 1): Promise<RunRecord> {
  const heard = { text: '' };
  const out = async (text: string): Promise<void> => {
    heard.text += text;
  };
  await main(['runs', '--limit', String(back), '--output', 'json', '--state', STATE, '--quiet'], { ...terminal, out });
  const run = (JSON.parse(heard.text) as RunRecord[]).at(-1);
  if (run === undefined) throw new Error('The run left no record.');
  return run;
}

/** What must be there and is not, and what must be gone and is not. */
function check(demo: Demo): string[] {
  const faults = [...demo.referenced]
    .filter((key) => !existsSync(fileOf(key)))
    .map((key) => `LOST: ${key} is referenced and gone`);
  for (const [key, why] of demo.kept) if (!existsSync(fileOf(key))) faults.push(`LOST: ${key} is gone (${why})`);
  for (const key of demo.orphans) if (existsSync(fileOf(key))) faults.push(`LEFT: ${key} is an orphan and still there`);
  return faults;
}

async function showCheck(demo: Demo, terminal: Terminal): Promise<boolean> {
  const faults = check(demo);
  for (const fault of faults) terminal.err(`${fault}\n`);
  if (faults.length > 0) return false;
  const whys = new Set(demo.kept.values());
  await say(terminal, `\nchecked: all ${demo.referenced.size} referenced files are still there`);
  await say(terminal, `checked: all ${demo.orphans.size} planted orphans are gone`);
  await say(terminal, `checked: all ${demo.kept.size} files kept for another reason are still there:`);
  for (const why of whys) await say(terminal, `  ${why}`);
  return true;
}

async function demo(terminal: Terminal): Promise<number> {
  const startedMs = performance.now();
  await say(terminal, `Writing an Iceberg table to ${relative(process.cwd(), TABLE)}`);
  const written = await writeDemo();
  // A demo table is small and mostly leavings: the limit that guards real tables would refuse it.
  const planned = await command(['plan', TABLE, '--max-orphan-percent', '80'], terminal);
  if (planned !== 0) return planned;
  const plan = await lastRun(terminal);
  const deleted = await command(['delete', plan.run_id, '--yes'], terminal);
  if (deleted !== 0) return deleted;
  const again = await command(['plan', TABLE], terminal);
  if (again !== 0 || !(await showCheck(written, terminal))) return 1;
  const deletion = await lastRun(terminal, 2);
  const page = join(FOLDER, 'report.html');
  await main(['report', deletion.run_id, '--html', page, '--state', STATE, '--quiet'], { ...terminal, err: () => {} });
  await say(terminal, `\nreport: ${relative(process.cwd(), page)}`);
  await say(terminal, `took ${((performance.now() - startedMs) / 1000).toFixed(1)} s`);
  return 0;
}

process.exitCode = await demo(processTerminal());
