/** From flags to the input of an execution: the same names, underscores for dashes (DESIGN section 10). */
import { InvalidInputError } from '#shared/errors.ts';
import { FLAGS } from './flags.ts';
import type { FlagValue } from './parse-command.ts';

export type ExecutionInput = Record<string, unknown> & { table: string };

const CATALOG_FLAGS = [
  'uri',
  'warehouse',
  'catalog-prefix',
  'catalog-id',
  'token-env',
  'oauth2-server-uri',
  'oauth2-scope',
] as const;
const FOR_REST: Readonly<Record<string, string>> = {
  uri: 'uri',
  warehouse: 'warehouse',
  'catalog-prefix': 'prefix',
  'oauth2-server-uri': 'oauth2_server_uri',
  'oauth2-scope': 'scope',
};

function refuseStrayCatalogFlags(
  values: ReadonlyMap<string, FlagValue>,
  type: string,
  allowed: readonly string[],
): void {
  const stray = CATALOG_FLAGS.find((name) => values.has(name) && !allowed.includes(name));
  if (stray !== undefined) {
    throw new InvalidInputError(
      `--${stray} is of no use ${type === '' ? 'without --catalog' : `with --catalog ${type}`}.`,
    );
  }
}

/** `--catalog` and what belongs to it, or undefined where none is named. */
export function catalogOf(values: ReadonlyMap<string, FlagValue>): Record<string, string> | undefined {
  const type = values.get('catalog') as string | undefined;
  switch (type) {
    case undefined:
    case 'path':
      refuseStrayCatalogFlags(values, type ?? '', []);
      return type === undefined ? undefined : { type };
    case 'glue': {
      refuseStrayCatalogFlags(values, type, ['catalog-id']);
      const id = values.get('catalog-id') as string | undefined;
      const region = values.get('region') as string | undefined;
      return { type, ...(id === undefined ? {} : { catalog_id: id }), ...(region === undefined ? {} : { region }) };
    }
    case 'rest': {
      refuseStrayCatalogFlags(values, type, [...Object.keys(FOR_REST), 'token-env']);
      if (!values.has('uri')) throw new InvalidInputError('--catalog rest needs --uri URL.');
      const given = Object.entries(FOR_REST).filter(([flag]) => values.has(flag));
      const token = values.get('token-env') as string | undefined;
      return {
        type,
        ...Object.fromEntries(given.map(([flag, name]) => [name, values.get(flag) as string])),
        // Only the variable's name goes into the plan; the workers read the variable.
        ...(token === undefined ? {} : { token_secret: `env:${token}` }),
      };
    }
    default:
      throw new InvalidInputError(`--catalog is path, glue or rest, not ${JSON.stringify(type)}.`);
  }
}

/** Every given flag that is an input, under the input's name. */
export function flagInputs(values: ReadonlyMap<string, FlagValue>): Record<string, FlagValue> {
  const given = FLAGS.filter((flag) => flag.input !== undefined && values.has(flag.name));
  return Object.fromEntries(given.map((flag) => [flag.input as string, values.get(flag.name) as FlagValue]));
}
