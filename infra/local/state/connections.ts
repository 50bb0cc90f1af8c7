/**
 * How each run reached its table's storage, kept beside the records so that `delete`, `explain` and `restore` reach the same
 * storage later without being told again. No secret is kept: a profile's name, never its keys.
 */

import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MisconfiguredError } from '#shared/errors.ts';

export interface Connection {
  /** Directories of this machine that the embedded store serves; none for a real store. */
  readonly directories: readonly string[];
  readonly endpoint_url?: string;
  readonly region?: string;
  readonly path_style?: boolean;
  readonly profile?: string;
  /** Name of the variable that holds a catalog's token. */
  readonly token_env?: string;
}

/** Run ids come from people and machines alike; a hash keeps any of them from becoming a path. */
function fileOf(stateFolder: string, runId: string): string {
  return join(stateFolder, 'connections', `${createHash('sha256').update(runId).digest('hex').slice(0, 32)}.json`);
}

/** Written before the run starts, whole or not at all. */
export function saveConnection(stateFolder: string, runId: string, connection: Connection): void {
  const file = fileOf(stateFolder, runId);
  mkdirSync(join(stateFolder, 'connections'), { recursive: true });
  writeFileSync(`${file}.${process.pid}`, JSON.stringify(connection));
  renameSync(`${file}.${process.pid}`, file);
}

/** Undefined where the run was not started from this state folder. */
export function readConnection(stateFolder: string, runId: string): Connection | undefined {
  const file = fileOf(stateFolder, runId);
  try {
    const connection = JSON.parse(readFileSync(file, 'utf8')) as Connection | null;
    if (!Array.isArray(connection?.directories)) throw new SyntaxError('No connection.');
    return connection;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    if (!(error instanceof SyntaxError)) throw error;
    throw new MisconfiguredError(`How run ${runId} reached its table cannot be read any more: ${file} is damaged.`, {
      cause: error,
      next: 'Plan again.',
    });
  }
}
