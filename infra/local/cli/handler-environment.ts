/** What the handlers' processes may see of this process's environment: credentials, proxies, a catalog's token; nothing else. */
import { MisconfiguredError } from '#shared/errors.ts';
import type { Connection } from '../state/connections.ts';

const PASSED_ON = [
  'AWS_ACCESS_KEY_ID',
  'AWS_SECRET_ACCESS_KEY',
  'AWS_SESSION_TOKEN',
  'AWS_REGION',
  'AWS_DEFAULT_REGION',
  'AWS_PROFILE',
  'AWS_CONFIG_FILE',
  'AWS_SHARED_CREDENTIALS_FILE',
  'AWS_WEB_IDENTITY_TOKEN_FILE',
  'AWS_ROLE_ARN',
  'AWS_ROLE_SESSION_NAME',
  'AWS_CONTAINER_CREDENTIALS_RELATIVE_URI',
  'AWS_CONTAINER_CREDENTIALS_FULL_URI',
  'AWS_CONTAINER_AUTHORIZATION_TOKEN',
  'AWS_CA_BUNDLE',
  'AWS_ENDPOINT_URL',
  'AWS_ENDPOINT_URL_GLUE',
  'AWS_ENDPOINT_URL_STS',
  'AWS_IGNORE_CONFIGURED_ENDPOINT_URLS',
  'NODE_EXTRA_CA_CERTS',
  'HOME',
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'NO_PROXY',
] as const;

/** Beside a profile that was asked for they would be another identity's. */
const KEYS: readonly string[] = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN'];

function present(names: readonly string[], environment: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => (environment[name] === undefined ? [] : [[name, environment[name]]])),
  );
}

/** @throws MisconfiguredError where the variable that should hold a token is not set */
export function handlerEnvironment(
  connection: Connection,
  environment: NodeJS.ProcessEnv = process.env,
): Record<string, string> {
  const { token_env: token, profile, region } = connection;
  if (token !== undefined && (environment[token] ?? '') === '') {
    throw new MisconfiguredError(`The variable ${token}, which --token-env names, is not set.`);
  }
  return {
    ...present(profile === undefined ? PASSED_ON : PASSED_ON.filter((name) => !KEYS.includes(name)), environment),
    ...(token === undefined ? {} : { [token]: environment[token] as string }),
    ...(profile === undefined ? {} : { AWS_PROFILE: profile }),
    ...(region === undefined ? {} : { AWS_REGION: region }),
  };
}
