/** The stores of a state folder: the work bucket, and the table's own, embedded over directories or real. */
import { randomBytes } from 'node:crypto';
import { mkdirSync, realpathSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { ServiceUnavailableError } from '#shared/errors.ts';
import { createS3Client, type S3ClientOptions } from '#shared/storage/s3-client.ts';
import { S3Store } from '#shared/storage/s3-store.ts';
import type { MachineOptions } from '../machine/types.ts';
import { DirectoryBucket } from '../s3/directory-bucket.ts';
import { startS3Server } from '../s3/server.ts';
import type { Connection } from '../state/connections.ts';
import { LOCAL_BUCKET } from './arguments/mounts.ts';

export const WORK_BUCKET = 'work';

export interface LocalStorage {
  readonly work: S3Store;
  readonly workS3: MachineOptions['workS3'];
  readonly tables: S3Store;
  /** For the functions, who find a profile in their environment. Without an endpoint: AWS itself. */
  readonly tableS3: MachineOptions['tableS3'];
  close(): Promise<void>;
}

export function openStore(options: S3ClientOptions): S3Store {
  return new S3Store(createS3Client(options), createS3Client({ ...options, attempts: 1 }));
}

/** The client settings that reach a connection's real store. */
export function storeOptions(
  connection: Connection,
): Pick<S3ClientOptions, 'endpoint' | 'region' | 'pathStyle' | 'profile'> {
  const { endpoint_url: endpoint, region, path_style: pathStyle, profile } = connection;
  return {
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(region === undefined ? {} : { region }),
    ...(pathStyle === undefined ? {} : { pathStyle }),
    ...(profile === undefined ? {} : { profile }),
  };
}

/** The region that AWS's variables or the profile name: the functions read no configuration file for it. */
async function configuredRegion({ endpoint_url: endpoint, region, profile }: Connection): Promise<{ region?: string }> {
  if (endpoint !== undefined || region !== undefined) return {};
  const client = createS3Client(profile === undefined ? {} : { profile });
  try {
    return { region: await client.config.region() };
  } catch {
    return {};
  } finally {
    client.destroy();
  }
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
      next: 'Check --endpoint-url or AWS_ENDPOINT_URL_S3; nothing was read.',
    });
  } finally {
    socket.destroy();
  }
}

/** Key prefixes of the mounted directories: nothing else of this machine is served. */
function keyPrefixes(directories: readonly string[]): readonly string[] {
  return directories.map((directory) => `${directory.replace(/^\/+/, '').replace(/\/+$/, '')}/`);
}

/**
 * Serves the work bucket and the connection's directories on the loopback interface, to those alone who know this process's key
 * id: other users of the machine reach the port too.
 */
export async function openStorage(stateFolder: string, connection: Connection): Promise<LocalStorage> {
  const workFolder = join(stateFolder, 'work');
  mkdirSync(workFolder, { recursive: true });
  const prefixes = keyPrefixes(connection.directories);
  // A state folder inside a table's data/ would be found as orphans, and a run would delete its own plan.
  const [leftOut] = keyPrefixes([realpathSync.native(stateFolder)]);
  const accessKeyId = randomBytes(16).toString('hex');
  const server = await startS3Server({
    accessKeyId,
    buckets: {
      [WORK_BUCKET]: new DirectoryBucket({ directory: workFolder, managed: true }),
      [LOCAL_BUCKET]: new DirectoryBucket({ directory: '/', mounts: () => prefixes, leftOut }),
    },
  });
  const { endpoint } = server;
  const work = openStore({ endpoint, credentials: { accessKeyId, secretAccessKey: 'unused' } });
  const opened = { work, workS3: { endpoint, bucket: WORK_BUCKET, accessKeyId }, close: () => server.close() };
  const options = { ...(await configuredRegion(connection)), ...storeOptions(connection) };
  const { profile: _inTheirEnvironment, ...tableS3 } = options;
  if (connection.directories.length > 0) return { ...opened, tables: work, tableS3: { ...tableS3, endpoint } };
  return { ...opened, tables: openStore(options), tableS3 };
}
