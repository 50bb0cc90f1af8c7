/** The run table on disk: dynalite with the key schema and index of the synthesized template. */
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import type { AddressInfo, Server } from 'node:net';
import { join } from 'node:path';
import {
  CreateTableCommand,
  DescribeTableCommand,
  DynamoDBClient,
  ResourceNotFoundException,
} from '@aws-sdk/client-dynamodb';
import dynalite from 'dynalite';
import { STATUS_INDEX } from '#infra/constructs/names.ts';
import { MisconfiguredError } from '#shared/errors.ts';
import { DynamoItemTable } from '#shared/run/dynamo-item-table.ts';
import type { ItemTable } from '#shared/run/item-table.ts';
import { RUN_TABLE_NAME } from './names.ts';

export interface RunTableServer {
  readonly endpoint: string;
  readonly items: ItemTable;
  close(): Promise<void>;
}

/** Dynalite asks for credentials of any kind. */
const CREDENTIALS = { accessKeyId: 'local', secretAccessKey: 'local' };

/** Long enough for a table that is being made; one that a kill left half made never becomes active. */
const ACTIVE_WITHIN_MS = 2000;

/** Makes the table where there is none; false where it is half made and stays so. */
async function ensureTable(client: DynamoDBClient, input: Readonly<Record<string, unknown>>): Promise<boolean> {
  const status = async () =>
    (await client.send(new DescribeTableCommand({ TableName: RUN_TABLE_NAME }))).Table?.TableStatus;
  try {
    await status();
  } catch (error) {
    if (!(error instanceof ResourceNotFoundException)) throw error;
    await client.send(new CreateTableCommand({ ...(input as object), TableName: RUN_TABLE_NAME } as never));
  }
  for (const end = Date.now() + ACTIVE_WITHIN_MS; Date.now() < end; ) {
    if ((await status()) === 'ACTIVE') return true;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return false;
}

function folderOf(stateDir: string): string {
  return join(stateDir, 'run-table');
}

/** Whether any run was ever started from this state folder. */
export function hasRunTable(stateDir: string): boolean {
  return existsSync(folderOf(stateDir));
}

/** Opens the records of a state folder. One process at a time: the store locks its files. */
export async function openRunTable(
  stateDir: string,
  createTableInput: Readonly<Record<string, unknown>>,
): Promise<RunTableServer> {
  const opened = await tryOpen(stateDir, createTableInput);
  if (opened !== undefined) return opened;
  // A process was killed while it made the table: nothing can have been written to it, so it is made anew.
  rmSync(folderOf(stateDir), { recursive: true, force: true });
  const again = await tryOpen(stateDir, createTableInput);
  if (again !== undefined) return again;
  throw new MisconfiguredError(`The records in ${stateDir} cannot be opened.`, { next: 'Use another --state folder.' });
}

/** Dynalite throws what it cannot open or write where nobody can catch it. */
function watchFaults(stateDir: string): { readonly fault: Promise<never>; end(): void } {
  let tell: (error: Error) => void = () => {};
  const fault = new Promise<never>((_, reject) => {
    tell = (error) =>
      reject(
        new MisconfiguredError(`The records in ${folderOf(stateDir)} cannot be opened: ${error.message}.`, {
          cause: error,
          next: 'Make room where the disk is full; where the records are damaged, use another --state folder.',
        }),
      );
  });
  process.on('uncaughtException', tell);
  return { fault, end: () => void process.off('uncaughtException', tell) };
}

async function tryOpen(
  stateDir: string,
  createTableInput: Readonly<Record<string, unknown>>,
): Promise<RunTableServer | undefined> {
  const path = folderOf(stateDir);
  mkdirSync(path, { recursive: true });
  const server = dynalite({ path, createTableMs: 0 }) as Server & { listen: Server['listen'] };
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = new DynamoDBClient({ endpoint, region: 'us-east-1', credentials: CREDENTIALS });
  const close = async (): Promise<void> => {
    client.destroy();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  };
  const watch = watchFaults(stateDir);
  try {
    if (!(await Promise.race([ensureTable(client, createTableInput), watch.fault]))) {
      await close();
      return undefined;
    }
  } catch (error) {
    if (error instanceof MisconfiguredError) client.destroy();
    else await close();
    throw error;
  } finally {
    watch.end();
  }
  return { endpoint, items: new DynamoItemTable(client, RUN_TABLE_NAME, STATUS_INDEX), close };
}
