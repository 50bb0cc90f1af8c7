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

function storageOf(values: ReadonlyMap<string, FlagValue>, mounts: readonly Mount[]): Connection {
  const text = (name: string): string | undefined => values.get(name) as string | undefined;
  const given = ['endpoint-url', 'path-style'].find((name) => values.has(name));
  if (given !== undefined && mounts.length > 0) {
    throw new InvalidInputError(`--${given} and directories of this machine cannot be used in one run.`, {
      next: 'A run reads one store: mount everything, or mount nothing.',
    });
  }
  const endpoint = text('endpoint-url');
  if (endpoint !== undefined && !(/^https?:\/\/[^/]+/.test(endpoint) && URL.canParse(endpoint))) {
    throw new InvalidInputError(`--endpoint-url ${JSON.stringify(endpoint)} is no http or https address.`);
  }
  const [region, profile, token] = [text('region'), text('profile'), text('token-env')];
  return {
    directories: mounts.map((mount) => mount.directory),
    ...(endpoint === undefined ? {} : { endpoint_url: endpoint }),
    ...(region === undefined ? {} : { region }),
    ...(profile === undefined ? {} : { profile }),
    ...(token === undefined ? {} : { token_env: token }),
    ...(values.get('path-style') === undefined ? {} : { path_style: values.get('path-style') === true }),
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
