/** The table that a command is about: its operand, mounts, catalog and storage as one input and one connection. */
import { InvalidInputError } from '#shared/errors.ts';
import { parseDeployment } from '#shared/run/deployment.ts';
import { resolveInput } from '#shared/run/input.ts';
import type { Connection } from '../state/connections.ts';
import { aliasesOf, type Mount, parseMounts } from './arguments/mounts.ts';
import type { FlagValue } from './arguments/parse-command.ts';
import { catalogOf, type ExecutionInput, flagInputs } from './arguments/run-input.ts';
import { resolveTableArgument } from './arguments/table-argument.ts';
import { readRecordedLocation } from './recorded-location.ts';

export interface Target {
  readonly input: ExecutionInput;
  readonly connection: Connection;
}

/** On one machine the person is the deployment: everything may be loosened but the 24 h floor. */
export const LOCAL_DEPLOYMENT = parseDeployment({ local: true });

/** The store's address as the AWS command line takes it: the flag, else the service's variable, else that of all services. */
function endpointOf(values: ReadonlyMap<string, FlagValue>, environment: NodeJS.ProcessEnv): string | undefined {
  const flag = values.get('endpoint-url') as string | undefined;
  const ignored = environment['AWS_IGNORE_CONFIGURED_ENDPOINT_URLS'] === 'true';
  const configured = ignored ? '' : environment['AWS_ENDPOINT_URL_S3'] || environment['AWS_ENDPOINT_URL'] || '';
  const endpoint = flag ?? (configured === '' ? undefined : configured);
  if (endpoint !== undefined && !(/^https?:\/\/[^/]+/.test(endpoint) && URL.canParse(endpoint))) {
    const source = flag === undefined ? 'AWS_ENDPOINT_URL_S3' : '--endpoint-url';
    throw new InvalidInputError(`${source} ${JSON.stringify(endpoint)} is no http or https address.`);
  }
  return endpoint;
}

/**
 * How the flags and the environment reach a store that is not of this machine.
 *
 * @throws InvalidInputError an address that is none
 */
export function remoteConnection(
  values: ReadonlyMap<string, FlagValue>,
  environment: NodeJS.ProcessEnv = process.env,
): Connection {
  const text = (name: string): string | undefined => values.get(name) as string | undefined;
  const [endpoint, region, profile] = [endpointOf(values, environment), text('region'), text('profile')];
  return {
    directories: [],
    ...(endpoint === undefined ? {} : { endpoint_url: endpoint }),
    ...(region === undefined ? {} : { region }),
    ...(profile === undefined ? {} : { profile }),
    ...(values.get('path-style') === undefined ? {} : { path_style: values.get('path-style') === true }),
  };
}

function storageOf(values: ReadonlyMap<string, FlagValue>, mounts: readonly Mount[]): Connection {
  const given = ['endpoint-url', 'path-style'].find((name) => values.has(name));
  if (given !== undefined && mounts.length > 0) {
    throw new InvalidInputError(`--${given} and directories of this machine cannot be used in one run.`, {
      next: 'A run reads one store: mount everything, or mount nothing.',
    });
  }
  const token = values.get('token-env') as string | undefined;
  return {
    ...remoteConnection(values, mounts.length > 0 ? {} : process.env),
    directories: mounts.map((mount) => mount.directory),
    ...(token === undefined ? {} : { token_env: token }),
  };
}

/**
 * Reads the operand and the flags; of storage only local metadata. The input is resolved once here, so that a wrong one costs
 * nothing and touches nothing.
 *
 * @throws InvalidInputError, OlderThanTooRecentError, TableNotFoundError
 */
export function targetOf(
  word: string,
  values: ReadonlyMap<string, FlagValue>,
  changes: Record<string, unknown> = {},
): Target {
  const catalog = catalogOf(values);
  const mounts = parseMounts((values.get('mount') as readonly string[] | undefined) ?? []);
  const named = catalog !== undefined && catalog['type'] !== 'path';
  const table = resolveTableArgument(word, { mounts, named, readLocation: readRecordedLocation });
  const given = flagInputs(values);
  const aliases = { ...(given['path_aliases'] as Record<string, string> | undefined), ...aliasesOf(table.mounts) };
  const input: ExecutionInput = {
    ...given,
    ...changes,
    table: table.table,
    ...(catalog === undefined ? {} : { catalog }),
    ...(table.metadataLocation === undefined ? {} : { metadata_location: table.metadataLocation }),
    ...(Object.keys(aliases).length === 0 ? {} : { path_aliases: aliases }),
  };
  resolveInput(input, LOCAL_DEPLOYMENT);
  return { input, connection: storageOf(values, table.mounts) };
}
