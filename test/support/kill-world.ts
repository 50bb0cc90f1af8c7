/** Copies of one table with many orphans, and command lines over them that are killed in the middle. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunRecord } from '#shared/run/record.ts';
import { BIN, type CliWorld, cliWorld, filesBelow, runCli } from './cli-world.ts';

/** Nearly all is waste, deleted in many small requests, so that a kill meets every part of the stage. */
const FLAGS = [
  '--max-orphan-percent',
  '100',
  '--delete-batch-size',
  '200',
  '--delete-cooldown-seconds',
  '0',
  '--quiet',
];
const POLL_MS = 5;

/** Asked again and again while a command line runs, with its age; true: it is killed now. */
export type KillMoment = (ageMs: number, table: string, state: string) => boolean;

export interface Survivor {
  /** How many command lines lived until their signal. */
  readonly killed: number;
  /** Orphans that the last killed one left. */
  readonly left: number;
}

export class KillWorld {
  readonly #template: CliWorld;

  private constructor(template: CliWorld) {
    this.#template = template;
  }

  /** With so many orphans and a few more of every kind. */
  static async open(orphans: number): Promise<KillWorld> {
    return new KillWorld(await cliWorld(orphans));
  }

  get orphans(): number {
    return this.#template.orphans.length;
  }

  close(): void {
    this.#template.remove();
  }

  /**
   * Over a fresh copy starts `run --yes` once for each moment, kills it then, and asserts what must hold: nothing live is
   * lost, a new run at once finishes the work, the one after that finds nothing to do, and the records tell of every killed run and of
   * every deleted file once.
   */
  async kill(...moments: readonly KillMoment[]): Promise<Survivor> {
    const folder = mkdtempSync(join(tmpdir(), 'icesweep-kill-'));
    const [table, state] = [join(folder, 'orders'), join(folder, 'state')];
    const { referenced, orphans } = this.#template;
    try {
      cpSync(this.#template.table, table, { recursive: true, preserveTimestamps: true });
      const args = ['run', table, '--yes', ...FLAGS, '--state', state];
      let [killed, left] = [0, orphans.length];
      for (const moment of moments) {
        killed += (await runAndKill(args, folder, (ageMs) => moment(ageMs, table, state))) ? 1 : 0;
        const standing = new Set(filesBelow(table));
        assert.deepEqual(
          referenced.filter((path) => !standing.has(path)),
          [],
        );
        left = orphans.filter((path) => standing.has(path)).length;
      }
      const second = await verdictOf(args, folder);
      assert.ok(['DELETED', 'NOTHING_TO_DO'].includes(second), second);
      assert.deepEqual(filesBelow(table), [...referenced].sort());
      assert.equal(await verdictOf(args, folder), 'NOTHING_TO_DO');
      await assertRecorded(state, orphans.length);
      return { killed, left };
    } finally {
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    }
  }
}

/** SIGKILL to the command line's own process alone, as from the system when memory runs out. */
function runAndKill(args: readonly string[], cwd: string, due: (ageMs: number) => boolean): Promise<boolean> {
  const startedMs = performance.now();
  const child = spawn(process.execPath, [BIN, ...args], { cwd, stdio: 'ignore' });
  const timer = setInterval(() => {
    if (due(performance.now() - startedMs)) child.kill('SIGKILL');
  }, POLL_MS);
  return new Promise((resolve) =>
    child.on('exit', (_code, signal) => {
      clearInterval(timer);
      resolve(signal === 'SIGKILL');
    }),
  );
}

async function assertRecorded(state: string, orphans: number): Promise<void> {
  const { code, out, err } = await runCli(['runs', '--output', 'json', '--state', state], state);
  assert.equal(code, 0, err);
  const records = JSON.parse(out) as RunRecord[];
  const deleted = records.reduce((total, record) => total + record.deleted_files_count, 0);
  assert.equal(deleted, orphans);
  const recorded = new Set(records.map((record) => `${record.run_id}.json`));
  const unrecorded = readdirSync(join(state, 'executions')).filter((file) => !recorded.has(file));
  assert.deepEqual(unrecorded, []);
}

async function verdictOf(args: readonly string[], cwd: string): Promise<string> {
  const { code, out, err } = await runCli([...args, '--output', 'json'], cwd);
  assert.equal(code, 0, err);
  return (JSON.parse(out) as RunRecord).verdict;
}
