/** The run table on disk: dynalite with the key schema and index of the synthesized template. */
import { mkdirSync } from 'node:fs';
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

async function ensureTable(client: DynamoDBClient, input: Readonly<Record<string, unknown>>): Promise<void> {
  try {
    await client.send(new DescribeTableCommand({ TableName: RUN_TABLE_NAME }));
  } catch (error) {
    if (!(error instanceof ResourceNotFoundException)) throw error;
    await client.send(new CreateTableCommand({ ...(input as object), TableName: RUN_TABLE_NAME } as never));
  }
}

/** Opens the records of a state folder. One process at a time: the store locks its files. */
export async function openRunTable(
  stateDir: string,
  createTableInput: Readonly<Record<string, unknown>>,
): Promise<RunTableServer> {
  const path = join(stateDir, 'run-table');
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
  try {
    await ensureTable(client, createTableInput);
  } catch (error) {
    await close();
    throw error;
  }
  return { endpoint, items: new DynamoItemTable(client, RUN_TABLE_NAME, STATUS_INDEX), close };
}
