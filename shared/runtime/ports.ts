/** The adapters behind a stage's ports, opened from the function's environment. */
import { setTimeout as sleep } from 'node:timers/promises';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoItemTable } from '#shared/run/dynamo-item-table.ts';
import { createS3Client, type S3ClientOptions } from '#shared/storage/s3-client.ts';
import { S3Store } from '#shared/storage/s3-store.ts';
import { openRunEvents, openSecretsManager } from './aws-services.ts';
import { openDeletingStore } from './deleting-store.ts';
import { type AnyFunctionEnv, lambdaCredentials, readDeployment, secretFromEnvironment } from './env.ts';
import { LOCAL_CREDENTIALS, openExecutionDirectory } from './execution-directory.ts';
import type { Clock, LogFields, StagePorts } from './stage-ports.ts';

/** What a process keeps between invocations: clients and settings, nothing that was read from a table. */
export type LongLivedPorts = Omit<StagePorts, 'budget' | 'log' | 'metrics'>;

const clock: Clock = { now: () => Date.now(), sleep: (ms) => sleep(ms) };

function openStore(options: S3ClientOptions, env: AnyFunctionEnv): S3Store {
  const target = { region: env.AWS_REGION, ...options };
  return new S3Store(createS3Client(target), createS3Client({ ...target, attempts: 1 }), {
    listParser: env.LIST_PARSER,
  });
}

function openSecrets(env: AnyFunctionEnv): StagePorts['secrets'] {
  if (env.SECRETS_FROM_ENVIRONMENT !== undefined) return { read: async (name) => secretFromEnvironment(name) };
  return openSecretsManager({ region: env.AWS_REGION, credentials: lambdaCredentials });
}

/** The tables' store and the work bucket's: one where they have one endpoint, as on AWS and for mounted directories. */
function openStores(env: AnyFunctionEnv): Pick<StagePorts, 'tables' | 'work'> {
  const { TABLE_S3_ENDPOINT: tableEndpoint, WORK_S3_ENDPOINT: endpoint, WORK_S3_ACCESS_KEY_ID: accessKeyId } = env;
  const work = openStore(
    {
      ...(endpoint === undefined ? {} : { endpoint }),
      ...(accessKeyId === undefined ? {} : { credentials: { accessKeyId, secretAccessKey: 'unused' } }),
    },
    env,
  );
  if (tableEndpoint === endpoint) return { tables: work, work };
  const tables = openStore(
    {
      ...(tableEndpoint === undefined ? {} : { endpoint: tableEndpoint }),
      ...(env.S3_PATH_STYLE === undefined ? {} : { pathStyle: env.S3_PATH_STYLE === 'true' }),
    },
    env,
  );
  return { tables, work };
}

type Warn = (message: string, fields: LogFields) => void;

/** The one-machine runtime has no bus, and nobody listens there. */
function openEvents(env: AnyFunctionEnv, warn: Warn): StagePorts['events'] {
  const bus = env.EVENT_BUS;
  if (bus === undefined) return { publish: async () => {} };
  return openRunEvents(bus, { region: env.AWS_REGION, credentials: lambdaCredentials }, warn);
}

/** Opens everything that outlives an invocation. Throws MisconfiguredError where the environment is not usable. */
export function openPorts(env: AnyFunctionEnv, warn: Warn): LongLivedPorts {
  const region = env.AWS_REGION;
  const dynamo = new DynamoDBClient({
    region,
    ...(env.DYNAMODB_ENDPOINT === undefined ? {} : { endpoint: env.DYNAMODB_ENDPOINT, credentials: LOCAL_CREDENTIALS }),
  });
  const { tables, work } = openStores(env);
  return {
    tables,
    work,
    workBucket: env.WORK_BUCKET,
    items: new DynamoItemTable(dynamo, env.RUN_TABLE, env.RUN_STATUS_INDEX),
    deployment: readDeployment(env.DEPLOYMENT),
    clock,
    executions: openExecutionDirectory({ region, endpoint: env.STEP_FUNCTIONS_ENDPOINT }),
    events: openEvents(env, warn),
    secrets: openSecrets(env),
    deletingStore: (prefixes) => {
      const role = env.DELETE_ROLE_ARN;
      return role === undefined ? Promise.resolve(tables) : openDeletingStore(role, region, prefixes);
    },
  };
}
