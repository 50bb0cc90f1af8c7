/**
 * One process at a time per state folder (DESIGN section 11). The lock is a file that names its holder; a holder that no
 * longer lives is replaced. Linking a finished file makes taking it atomic: nobody ever reads a half-written one.
 */
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { MisconfiguredError, RunInProgressError } from '#shared/errors.ts';
import { isProcessAlive, startedTicks } from './processes.ts';

export interface LockHolder {
  readonly pid: number;
  readonly host: string;
  /** Start of the process in clock ticks since boot, where the system tells; a reused pid differs in it. */
  readonly started_ticks: string | null;
  readonly command: string;
  /** ISO 8601. */
  readonly since: string;
}

export interface ProcessLock {
  release(): void;
}

const ATTEMPTS = 5;

/** A holder on another machine that shares the folder cannot be asked, so it counts as alive. */
function isAlive(holder: LockHolder): boolean {
  if (holder.host !== hostname()) return true;
  return isProcessAlive(holder.pid, holder.started_ticks ?? '');
}

function readHolder(file: string): { readonly text: string; readonly holder: LockHolder | undefined } | undefined {
  try {
    const text = readFileSync(file, 'utf8');
    try {
      const holder = JSON.parse(text) as LockHolder;
      return { text, holder: Number.isInteger(holder?.pid) && holder.pid > 0 ? holder : undefined };
    } catch {
      return { text, holder: undefined };
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Puts the dead holder's file aside; if another process was faster and it is no longer the same file, it goes back. */
function putAside(file: string, text: string, aside: string): void {
  try {
    renameSync(file, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  if (readFileSync(aside, 'utf8') !== text) {
    try {
      linkSync(aside, file);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
  rmSync(aside, { force: true });
}

function heldBy(folder: string, holder: LockHolder): RunInProgressError {
  const where = holder.host === hostname() ? '' : ` on ${holder.host}`;
  return new RunInProgressError(
    `The state folder ${folder} is in use by process ${holder.pid}${where} (${holder.command}, since ${holder.since}).`,
    { next: 'Wait for it, or keep this run elsewhere with --state DIR.' },
  );
}

function tryToTake(file: string, own: string, folder: string): boolean {
  try {
    linkSync(own, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  const found = readHolder(file);
  if (found === undefined) return false;
  if (found.holder !== undefined && isAlive(found.holder)) throw heldBy(folder, found.holder);
  putAside(file, found.text, `${own}.dead`);
  return false;
}

/**
 * Takes the folder for this process; makes it where it is not there.
 *
 * @param command what the holder is doing, shown to whoever comes second
 * @throws RunInProgressError naming the process that holds it
 */
export function takeProcessLock(folder: string, command: string): ProcessLock {
  const file = join(folder, 'lock');
  const own = join(folder, `lock.${process.pid}`);
  const holder: LockHolder = {
    pid: process.pid,
    host: hostname(),
    started_ticks: startedTicks(process.pid) ?? null,
    command,
    since: new Date().toISOString(),
  };
  const text = JSON.stringify(holder);
  try {
    mkdirSync(folder, { recursive: true });
    writeFileSync(own, text);
  } catch (error) {
    throw new MisconfiguredError(`The state folder ${folder} cannot be written: ${(error as Error).message}.`, {
      cause: error,
      next: 'Keep the run elsewhere with --state DIR.',
    });
  }
  try {
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      if (tryToTake(file, own, folder) && readFileSync(file, 'utf8') === text) {
        return { release: () => release(file, text) };
      }
    }
  } finally {
    rmSync(own, { force: true });
  }
  throw new MisconfiguredError(
    `The lock of the state folder ${folder} could not be taken in ${ATTEMPTS} attempts; run the command again.`,
  );
}

function release(file: string, text: string): void {
  try {
    if (readFileSync(file, 'utf8') === text) rmSync(file, { force: true });
  } catch {
    // The folder itself may be gone by now; then there is nothing to give back.
  }
}
