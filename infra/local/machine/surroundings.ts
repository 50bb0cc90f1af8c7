/** What the handlers see of this machine: their environment, with its places instead of the deployment's. */
import { join } from 'node:path';
import { defaultCacheDir } from '#infra/bundles.ts';
import { RUN_TABLE_NAME } from './names.ts';
import type { LocalFunction, MachineOptions } from './types.ts';

/** What the processes of the functions may see of this one's environment: where to find things, nothing of the person's. */
const PASSED_ON = ['PATH', 'HOME', 'TMPDIR', 'TZ', 'SystemRoot', 'USERPROFILE', 'NODE_EXTRA_CA_CERTS'];

/**
 * Credentials come from the caller alone, or from where the SDK finds them by itself: a key that was made up here would win
 * over a profile or an instance's role.
 */
export function handlerEnvironment(options: MachineOptions): Record<string, string> {
  const passed = PASSED_ON.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]]));
  return {
    ...Object.fromEntries(passed),
    NODE_COMPILE_CACHE: join(defaultCacheDir(), 'compiled'),
    POWERTOOLS_TRACE_ENABLED: 'false',
    ...options.environment,
  };
}

/** The function's own variables, with the places of this machine in the place of the deployment's. */
export function onThisMachine(
  spec: LocalFunction,
  options: MachineOptions,
  table: string,
  register: string,
): LocalFunction {
  const { endpoint, region, pathStyle } = options.tableS3;
  return {
    ...spec,
    environment: {
      ...spec.environment,
      WORK_BUCKET: options.workS3.bucket,
      WORK_S3_ENDPOINT: options.workS3.endpoint,
      WORK_S3_ACCESS_KEY_ID: options.workS3.accessKeyId ?? '',
      RUN_TABLE: RUN_TABLE_NAME,
      DYNAMODB_ENDPOINT: table,
      STEP_FUNCTIONS_ENDPOINT: register,
      DEPLOYMENT: JSON.stringify(options.deployment),
      SECRETS_FROM_ENVIRONMENT: 'true',
      AWS_REGION: region ?? 'us-east-1',
      ...(endpoint === undefined ? {} : { TABLE_S3_ENDPOINT: endpoint }),
      ...(pathStyle === undefined ? {} : { S3_PATH_STYLE: String(pathStyle) }),
      DELETE_ROLE_ARN: '',
      EVENT_BUS: '',
    },
  };
}
