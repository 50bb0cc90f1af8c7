/** Opens the state folder for a command: its lock, its stores, its state machine; and closes all of it again. */

import { InvalidInputError, MisconfiguredError } from '#shared/errors.ts';
import { runPrefix } from '#shared/run/artefacts.ts';
import { stopDeleting } from '#shared/run/delete-marks.ts';
import { resolveInput } from '#shared/run/input.ts';
import { RunArtefacts } from '#shared/run/run-artefacts.ts';
import { findRecord } from '#shared/run/run-store.ts';
import { ExecutionRegister } from '../machine/executions.ts';
import { startMachine } from '../machine/machine.ts';
import { hasRunTable } from '../machine/run-table.ts';
import type { Machine } from '../machine/types.ts';
import { type Connection, readConnection } from '../state/connections.ts';
import { takeProcessLock } from '../state/process-lock.ts';
import type { CommandContext } from './context.ts';
import { namingStoreFaults, openFleet } from './fleet/open-fleet.ts';
import { handlerEnvironment } from './handler-environment.ts';
import { STOPPED_BY_PERSON } from './interrupt.ts';
import { listRecords } from './records.ts';
import type { ExecutionObserver, RunHistory, RunningExecution, RunReader, Runtime } from './runtime.ts';
import { assertReachable, type LocalStorage, openStorage, WORK_BUCKET } from './storage.ts';
import { LOCAL_DEPLOYMENT } from './target.ts';

const NO_TABLE: Connection = { directories: [] };
/** How long a batch may take to end after Ctrl-C before its worker is ended too. */
const BATCH_END_MS = 30_000;

class StoppedByPerson extends Error {
  override readonly name = STOPPED_BY_PERSON;
}

/** Lets the running batch end: no other begins once the marker is there. */
async function afterTheBatch(artefacts: RunArtefacts, batchEnded: Promise<void>): Promise<void> {
  await stopDeleting(
    artefacts,
    new StoppedByPerson('The run was stopped by the person who started it.'),
    Date.now(),
  ).catch(() => {});
  await Promise.race([batchEnded, new Promise((resolve) => setTimeout(resolve, BATCH_END_MS).unref())]);
}

function startExecution(
  machine: Machine,
  storage: LocalStorage,
  input: Record<string, unknown>,
  name: string,
  observer: ExecutionObserver,
): RunningExecution {
  const execution = machine.run(input, { name });
  let state = '';
  let batchEnds: () => void = () => {};
  const batchEnded = new Promise<void>((resolve) => {
    batchEnds = resolve;
  });
  execution.onEvent((event) => {
    if (event.type === 'progress') {
      observer.counted(event.state, event.done, event.total, event.failed);
      if (event.state === 'DeleteOrphans' && event.done > 0) batchEnds();
    } else if (event.type === 'entered') {
      state = event.state;
      observer.entered(event.state);
    } else {
      observer.left(event.state);
    }
  });
  const stop = async (): Promise<void> => {
    if (state === 'DeleteOrphans') {
      await afterTheBatch(
        new RunArtefacts(storage.work, WORK_BUCKET, runPrefix(resolveInput(input, LOCAL_DEPLOYMENT).table, name)),
        batchEnded,
      );
    }
    execution.stop();
  };
  return { end: execution.result, stop: () => void stop() };
}

async function openMachine(
  { stateFolder }: CommandContext,
  connection: Connection,
): Promise<{ readonly storage: LocalStorage; readonly machine: Machine; close(): Promise<void> }> {
  const storage = await openStorage(stateFolder, connection);
  const machine = await startMachine({
    stateDir: stateFolder,
    tableS3: storage.tableS3,
    workS3: storage.workS3,
    deployment: LOCAL_DEPLOYMENT,
    environment: handlerEnvironment(connection),
  });
  const close = async (): Promise<void> => {
    await machine.close();
    await storage.close();
  };
  return { storage, machine, close };
}

async function reachableConnection(name: string, stateFolder: string): Promise<Connection | undefined> {
  try {
    const connection = readConnection(stateFolder, name) ?? NO_TABLE;
    await assertReachable(connection);
    return connection;
  } catch {
    return undefined;
  }
}

/**
 * Runs whose process was killed get the record that they could not write, over the storage that they had. Where that cannot
 * be reached, a later command does it.
 */
async function recordKilledRuns(context: CommandContext): Promise<void> {
  for (const name of new ExecutionRegister(context.stateFolder).killed()) {
    const connection = await reachableConnection(name, context.stateFolder);
    if (connection === undefined) continue;
    const opened = await openMachine(context, connection);
    try {
      await opened.machine.recordKilled(name);
    } finally {
      await opened.close();
    }
  }
}

async function openRuntime(context: CommandContext, connection: Connection): Promise<Runtime> {
  const { storage, machine, close } = await openMachine(context, connection);
  const artefacts = (prefix: string): RunArtefacts => new RunArtefacts(storage.work, WORK_BUCKET, prefix);
  return {
    items: machine.items,
    tables: storage.tables,
    artefacts,
    find: (runId) => findRecord(machine.items, runId),
    list: (table, limit) => listRecords(machine.items, table, limit, context),
    start: async (input, name, observer) => startExecution(machine, storage, input, name, observer),
    close,
  };
}

/** Runs `body` with the state folder held by this process. */
export async function withRuntime<T>(
  context: CommandContext,
  connection: Connection,
  body: (runtime: Runtime) => Promise<T>,
): Promise<T> {
  await assertReachable(connection);
  const lock = takeProcessLock(context.stateFolder, context.commandLine);
  try {
    await recordKilledRuns(context);
    const runtime = await openRuntime(context, connection);
    try {
      return await body(runtime);
    } finally {
      await runtime.close();
    }
  } catch (error) {
    throw stateFault(error, context.stateFolder);
  } finally {
    lock.release();
  }
}

/** What the file system says of a file of ours, or of a disk without room, in words. */
function stateFault(error: unknown, folder: string): unknown {
  const { code, path, message } = error as NodeJS.ErrnoException;
  const isFull = code === 'ENOSPC' || code === 'EDQUOT';
  if (!isFull && !(code !== undefined && path?.startsWith(`${folder}/`))) return error;
  return new MisconfiguredError(`The state folder ${folder} cannot be written: ${message}.`, {
    cause: error,
    next: isFull
      ? 'Make room, or keep the run elsewhere with --state DIR.'
      : 'Keep the run elsewhere with --state DIR.',
  });
}

/**
 * The records alone, of this machine or (with `--run-table`) of a deployed fleet: no table is reached, and no state is made.
 *
 * @throws InvalidInputError where the state folder holds no records
 */
export async function withHistory<T>(context: CommandContext, body: (history: RunHistory) => Promise<T>): Promise<T> {
  const fleet = openFleet(context);
  if (fleet !== undefined) return namingStoreFaults(body(fleet));
  if (!hasRunTable(context.stateFolder)) {
    throw new InvalidInputError(`There are no runs: ${context.stateFolder} holds no records.`, {
      next: 'icesweep plan <table> makes the first; --state DIR looks elsewhere.',
    });
  }
  return withRuntime(context, NO_TABLE, body);
}

/** @throws InvalidInputError a run that was not started from this state folder */
export function connectionOfRun(runId: string, context: CommandContext): Connection {
  const connection = readConnection(context.stateFolder, runId);
  if (connection !== undefined) return connection;
  throw new InvalidInputError(`There is no run ${JSON.stringify(runId)} in ${context.stateFolder}.`, {
    next: 'icesweep runs lists them; a deployed fleet is read with --run-table NAME --work-bucket NAME.',
  });
}

/** One run with its table's storage: of this machine, or (with `--run-table`) of a deployed fleet. */
export async function withRunReader<T>(
  runId: string,
  context: CommandContext,
  body: (reader: RunReader) => Promise<T>,
): Promise<T> {
  const fleet = openFleet(context);
  return fleet === undefined
    ? withRuntime(context, connectionOfRun(runId, context), body)
    : namingStoreFaults(body(fleet));
}
