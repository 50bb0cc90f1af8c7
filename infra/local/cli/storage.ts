/** The stores of a state folder: the work bucket, and the table's own, embedded over directories or real. */
import { mkdirSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { ServiceUnavailableError } from '#shared/errors.ts';
import { createS3Client, type S3ClientOptions } from '#shared/storage/s3-client.ts';
import { S3Store } from '#shared/storage/s3-store.ts';
import { DirectoryBucket } from '../s3/directory-bucket.ts';
import { type S3Server, startS3Server } from '../s3/server.ts';
import type { Connection } from '../state/connections.ts';
import { LOCAL_BUCKET } from './arguments/mounts.ts';

export const WORK_BUCKET = 'work';

export interface LocalStorage {
  readonly server: S3Server;
  readonly work: S3Store;
  readonly tables: S3Store;
  /** Without an endpoint: AWS itself. */
  readonly tableS3: { readonly endpoint?: string; readonly region?: string };
  close(): Promise<void>;
}

const EMBEDDED = { region: 'us-east-1', credentials: { accessKeyId: 'local', secretAccessKey: 'local' } } as const;

export function openStore(options: S3ClientOptions): S3Store {
  return new S3Store(createS3Client(options), createS3Client({ ...options, attempts: 1 }));
}

const CONNECT_MS = 5000;

/**
 * Knocks at the person's endpoint before anything starts: a wrong address is told at once, not after the workers' patience.
 *
 * @throws ServiceUnavailableError
 */
export async function assertReachable({ endpoint_url: endpoint }: Connection): Promise<void> {
  if (endpoint === undefined) return;
  const { hostname, port, protocol } = new URL(endpoint);
  const socket = connect({
    host: hostname.replace(/^\[|\]$/g, ''),
    port: Number(port || (protocol === 'https:' ? 443 : 80)),
  });
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve).once('error', reject);
      socket.setTimeout(CONNECT_MS, () => reject(new Error(`no answer within ${CONNECT_MS / 1000} s`)));
    });
  } catch (error) {
    throw new ServiceUnavailableError(`The store ${endpoint} cannot be reached: ${(error as Error).message}.`, {
      next: 'Check --endpoint-url; nothing was read.',
    });
  } finally {
    socket.destroy();
  }
}

/** Key prefixes of the mounted directories: nothing else of this machine is served. */
function keyPrefixes(directories: readonly string[]): readonly string[] {
  return directories.map((directory) => `${directory.replace(/^\/+/, '').replace(/\/+$/, '')}/`);
}

/** Serves the work bucket and the connection's directories on the loopback interface. */
export async function openStorage(stateFolder: string, connection: Connection): Promise<LocalStorage> {
  const workFolder = join(stateFolder, 'work');
  mkdirSync(workFolder, { recursive: true });
  const prefixes = keyPrefixes(connection.directories);
  const server = await startS3Server({
    buckets: {
      [WORK_BUCKET]: new DirectoryBucket({ directory: workFolder, managed: true }),
      [LOCAL_BUCKET]: new DirectoryBucket({ directory: '/', mounts: () => prefixes }),
    },
  });
  const embedded = { endpoint: server.endpoint, ...EMBEDDED };
  const work = openStore(embedded);
  if (connection.directories.length > 0) {
    const tableS3 = { endpoint: server.endpoint, region: EMBEDDED.region };
    return { server, work, tables: work, tableS3, close: () => server.close() };
  }
  const { endpoint_url: endpoint, region, path_style: pathStyle } = connection;
  const real = { ...(endpoint === undefined ? {} : { endpoint }), ...(region === undefined ? {} : { region }) };
  const tables = openStore({ ...real, ...(pathStyle === undefined ? {} : { pathStyle }) });
  return { server, work, tables, tableS3: real, close: () => server.close() };
}
