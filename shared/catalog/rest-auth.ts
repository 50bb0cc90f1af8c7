/** Requests to a REST catalog: bearer tokens, OAuth2 client credentials, a time limit, and one renewed token after 401 or 419. */
import { AccessDeniedError, MisconfiguredError, ServiceUnavailableError } from '#shared/errors.ts';
import type { CatalogConfig } from '#shared/run/resolved-input.ts';
import type { Secrets } from '#shared/runtime/stage-ports.ts';
import { baseOf, movedBase, prefixOf, type RestConfigAnswer } from './rest-address.ts';

type RestConfig = Extract<CatalogConfig, { type: 'rest' }>;
type Fetch = typeof fetch;

const TIMEOUT_MS = 30_000;

/** `client_id:client_secret`, or the two as JSON. */
interface Credentials {
  readonly id: string;
  readonly secret: string;
}

function credentialsOf(secret: string): Credentials | undefined {
  if (secret.trim().startsWith('{')) {
    const parsed = JSON.parse(secret) as Record<string, unknown>;
    const { client_id: id, client_secret: value } = parsed;
    return typeof id === 'string' && typeof value === 'string' ? { id, secret: value } : undefined;
  }
  const colon = secret.indexOf(':');
  return colon <= 0 ? undefined : { id: secret.slice(0, colon), secret: secret.slice(colon + 1).trim() };
}

async function requestToken(config: RestConfig, server: string, credentials: Credentials): Promise<string> {
  const body = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: credentials.id,
    client_secret: credentials.secret,
    scope: config.scope ?? 'catalog',
  });
  // A redirect would carry the secret to wherever it points.
  const reply = await fetchInTime(server, { method: 'POST', body, redirect: 'manual' });
  if (reply.status >= 500 || reply.status === 429) {
    throw new ServiceUnavailableError(`The OAuth2 server ${server} answered ${reply.status}.`);
  }
  const answer = reply.ok ? ((await reply.json()) as { access_token?: unknown }) : {};
  if (typeof answer.access_token === 'string') return answer.access_token;
  throw new AccessDeniedError(`The OAuth2 server ${server} gave no token (status ${reply.status}).`, {
    next: 'Check the client id, its secret and the scope.',
  });
}

/** `fetch` with a time limit, and with failures of the network under a name that is tried again. */
export async function fetchInTime(input: Parameters<Fetch>[0], init: Parameters<Fetch>[1] = {}): Promise<Response> {
  try {
    return await fetch(input, { ...init, signal: AbortSignal.timeout(TIMEOUT_MS) });
  } catch (error) {
    throw new ServiceUnavailableError(`The catalog at ${String(input)} did not answer: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

/** A source of tokens; a renewed one is asked for once a token was refused. */
export class TokenSource {
  readonly #config: RestConfig;
  readonly #secrets: Secrets;
  #token: string | undefined;

  constructor(config: RestConfig, secrets: Secrets) {
    this.#config = config;
    this.#secrets = secrets;
  }

  async token(renew = false): Promise<string | undefined> {
    const name = this.#config.token_secret;
    if (name === undefined) return undefined;
    if (this.#token !== undefined && !renew) return this.#token;
    const secret = await this.#secrets.read(name);
    const credentials = credentialsOf(secret);
    const server = this.#config.oauth2_server_uri;
    if (server === undefined && credentials === undefined) this.#token = secret.trim();
    else if (credentials === undefined) {
      throw new MisconfiguredError(`The secret ${name} has no client id and secret, which oauth2_server_uri needs.`, {
        next: 'Store it as client_id:client_secret.',
      });
    } else {
      // Never where the config answer points: the secret is for the address that the deployment names.
      const fallback = `${baseOf(this.#config.uri)}/v1/oauth/tokens`;
      this.#token = await requestToken(this.#config, server ?? fallback, credentials);
    }
    return this.#token;
  }

  get renewable(): boolean {
    return this.#config.token_secret !== undefined;
  }
}

/**
 * The `fetch` that the catalog client gets. It follows the REST specification where the client does not: the warehouse is
 * a question to `/v1/config` only, and address and prefix of all other requests are what that answer makes of them.
 */
export function authorisedFetch(config: RestConfig, tokens: TokenSource): Fetch {
  const homePath = baseOf(new URL(config.uri).pathname);
  let base = baseOf(config.uri);
  let prefix = config.prefix;
  const send = async (url: URL, init: Parameters<Fetch>[1], renew: boolean): Promise<Response> => {
    const headers = new Headers(init?.headers);
    const token = await tokens.token(renew);
    if (token !== undefined) headers.set('authorization', `Bearer ${token}`);
    return fetchInTime(url, { ...init, headers });
  };
  const sendOrRenew = async (url: URL, init: Parameters<Fetch>[1]): Promise<Response> => {
    const reply = await send(url, init, false);
    if ((reply.status !== 401 && reply.status !== 419) || !tokens.renewable) return reply;
    await reply.body?.cancel();
    return send(url, init, true);
  };
  return async (input, init) => {
    const asked = new URL(String(input));
    const tail = asked.pathname.slice(homePath.length);
    if (tail !== '/v1/config') {
      const rest = tail.slice('/v1/'.length);
      return sendOrRenew(new URL(`${base}/v1/${prefix ? `${prefix}/` : ''}${rest}${asked.search}`), init);
    }
    if (config.warehouse !== undefined) asked.searchParams.set('warehouse', config.warehouse);
    const reply = await sendOrRenew(asked, init);
    if (!reply.ok) return reply;
    const answer = (await reply.json()) as RestConfigAnswer;
    base = movedBase(config.uri, answer.overrides?.['uri']);
    prefix = prefixOf(config.prefix, answer);
    return Response.json(answer);
  };
}
