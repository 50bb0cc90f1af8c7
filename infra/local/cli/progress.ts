/**
 * Tells how far a run is: on a terminal one line that is redrawn, elsewhere a line every 10 seconds. Everything goes to
 * standard error.
 */

import { humanCount, humanDuration } from '#shared/report/format.ts';
import type { Terminal } from './terminal.ts';
import { shortened } from './text/layout.ts';

/** States of the machine → what a person calls them. States without a word are passed over in silence. */
const STAGES: Readonly<Record<string, { readonly words: string; readonly unit: string }>> = {
  PlanRun: { words: 'plan', unit: 'metadata files' },
  ProbeDelete: { words: 'probe', unit: 'roots' },
  ScanManifests: { words: 'scan', unit: 'scan shards' },
  BuildFilters: { words: 'build', unit: 'key ranges' },
  ListStorage: { words: 'list', unit: 'listing shards' },
  EvaluateRun: { words: 'evaluate', unit: 'receipts' },
  RecheckTable: { words: 'recheck', unit: 'tables' },
  DeleteOrphans: { words: 'delete', unit: 'batches' },
  RecordRun: { words: 'record', unit: 'records' },
  RecordFailure: { words: 'record', unit: 'records' },
};

const REDRAW_MS = 100;
const QUIET_LINE_MS = 10_000;
const BAR = 20;

interface Stage {
  readonly state: string;
  readonly startedMs: number;
  done: number;
  failed: number;
  total: number;
  /** Of `done` and `total`; absent: the state's own. */
  unit?: string;
}

export interface ProgressOptions {
  readonly quiet?: boolean;
  readonly now?: () => number;
  /** Calls back now and then so that time goes on between events; returns what stops it. */
  readonly every?: (ms: number, tick: () => void) => () => void;
}

function unrefInterval(ms: number, tick: () => void): () => void {
  const timer = setInterval(tick, ms);
  timer.unref();
  return () => clearInterval(timer);
}

function bar(done: number, total: number): string {
  const filled = total === 0 ? 0 : Math.min(BAR, Math.floor((done / total) * BAR));
  return `[${'#'.repeat(filled)}${'.'.repeat(BAR - filled)}]`;
}

/** `scan     [####......] 4/10 scan shards, 2.1/s, 3 s left`, or without counts the time so far. */
export function stageText(stage: Stage, nowMs: number, withBar: boolean): string {
  const known = STAGES[stage.state];
  const words = (known?.words ?? stage.state).padEnd(8);
  const elapsedMs = nowMs - stage.startedMs;
  if (stage.total === 0) return `${words} ${humanDuration(elapsedMs)}`;
  const parts = [`${humanCount(stage.done)}/${humanCount(stage.total)} ${stage.unit ?? known?.unit ?? 'items'}`];
  const failed = humanCount(stage.failed);
  if (stage.failed > 0) parts.push(stage.unit === undefined ? `${failed} failed` : `failed batches: ${failed}`);
  const perSecond = elapsedMs > 0 ? (stage.done * 1000) / elapsedMs : 0;
  if (stage.done > 0 && elapsedMs >= 1000) {
    parts.push(`${perSecond >= 10 ? humanCount(perSecond) : perSecond.toFixed(1)}/s`);
    if (stage.done < stage.total) parts.push(`${humanDuration(((stage.total - stage.done) / perSecond) * 1000)} left`);
  } else {
    parts.push(humanDuration(elapsedMs));
  }
  return `${words} ${withBar ? `${bar(stage.done, stage.total)} ` : ''}${parts.join(', ')}`;
}

/** Follows one execution. `enter`, `count` and `leave` come from its events; `say` writes a line between redraws. */
export class Progress {
  readonly #terminal: Terminal;
  readonly #quiet: boolean;
  readonly #now: () => number;
  readonly #stop: () => void;
  #stage: Stage | undefined;
  #drawn = false;
  #lastMs = 0;

  constructor(terminal: Terminal, options: ProgressOptions = {}) {
    this.#terminal = terminal;
    this.#quiet = options.quiet ?? false;
    this.#now = options.now ?? Date.now;
    this.#lastMs = this.#now();
    this.#stop = this.#quiet ? () => {} : (options.every ?? unrefInterval)(REDRAW_MS, () => this.#tick());
  }

  enter(state: string): void {
    if (STAGES[state] === undefined || this.#stage?.state === state) return;
    this.#finish();
    this.#stage = { state, startedMs: this.#now(), done: 0, failed: 0, total: 0 };
    this.#tick();
  }

  count(state: string, done: number, total: number, failed = 0, unit?: string): void {
    if (this.#stage?.state !== state) this.enter(state);
    if (this.#stage === undefined) return;
    Object.assign(this.#stage, { done, total, failed }, unit === undefined ? {} : { unit });
    this.#tick();
  }

  /**
   * Of a deletion, in files: how many batches ended is known, and how many files each was sealed with. Where batches run side
   * by side, the ones that ended are taken for the first ones.
   */
  countFiles(batchFiles: readonly number[], done: number, failed: number): void {
    const sum = (files: readonly number[]): number => files.reduce((total, count) => total + count, 0);
    this.count('DeleteOrphans', sum(batchFiles.slice(0, done)), sum(batchFiles), failed, 'files');
  }

  leave(state: string): void {
    if (this.#stage?.state === state) this.#finish();
  }

  say(text: string): void {
    this.#clear();
    this.#terminal.err(`${text}\n`);
  }

  close(): void {
    this.#finish();
    this.#stop();
  }

  #tick(): void {
    const stage = this.#stage;
    if (this.#quiet || stage === undefined) return;
    const nowMs = this.#now();
    if (
      nowMs - this.#lastMs < (this.#terminal.live ? REDRAW_MS : QUIET_LINE_MS) &&
      (this.#drawn || !this.#terminal.live)
    )
      return;
    this.#lastMs = nowMs;
    if (!this.#terminal.live) {
      this.#terminal.err(`${stageText(stage, nowMs, false)}\n`);
      return;
    }
    const width = this.#terminal.columns();
    const text = stageText(stage, nowMs, width >= 60);
    // One column is left free: a full line would wrap and the next redraw would leave half of it behind.
    const fitting = text.length < width ? text : `${text.slice(0, width - 2)}…`;
    this.#terminal.err(`\r\u001b[K${fitting}`);
    this.#drawn = true;
  }

  /** On a terminal the finished stage's last line stays, with its time. */
  #finish(): void {
    const stage = this.#stage;
    if (stage === undefined) return;
    this.#stage = undefined;
    this.#clear();
    if (this.#quiet || !this.#terminal.live) return;
    const time = humanDuration(this.#now() - stage.startedMs);
    const known = STAGES[stage.state];
    const counts = stage.total > 0 ? `${humanCount(stage.done)} ${stage.unit ?? known?.unit ?? 'items'}, ` : '';
    this.#terminal.err(
      `${shortened(`${(known?.words ?? stage.state).padEnd(8)} ${counts}${time}`, this.#terminal.columns() - 1)}\n`,
    );
  }

  #clear(): void {
    if (this.#drawn) this.#terminal.err('\r\u001b[K');
    this.#drawn = false;
  }
}
