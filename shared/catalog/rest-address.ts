/**
 * Where a REST catalog is asked. Its config answer may name another address for everything else (`overrides.uri`), which
 * every engine follows; whoever asked the old one might read a stale pointer. The token goes there too, so not everywhere.
 */
import { MisconfiguredError } from '#shared/errors.ts';

/** Answers of `/v1/config`, as far as they say where to ask. */
export interface RestConfigAnswer {
  readonly defaults?: Readonly<Record<string, string | null | undefined>> | null;
  readonly overrides?: Readonly<Record<string, string | null | undefined>> | null;
}

/** The address without slashes at its end, to which `/v1/…` is added. */
export function baseOf(uri: string): string {
  return uri.replace(/\/+$/, '');
}

/**
 * The base of all requests after the config. Another host or a step down from https is followed on https only, so that no
 * token is sent where the network can read it, and no pointer taken from where the network can write it. Throws
 * MisconfiguredError for any other.
 */
export function movedBase(configured: string, override: string | null | undefined): string {
  if (override == null || override === '') return baseOf(configured);
  const home = new URL(configured);
  const refuse = (why: string): MisconfiguredError =>
    new MisconfiguredError(`The catalog at ${home.origin} says that it is to be asked at another address, ${why}.`, {
      next: 'If the address is right, make it the uri of the catalog; else ask whoever runs the catalog.',
    });
  const moved = URL.parse(override);
  if (moved === null || !/^https?:$/.test(moved.protocol)) throw refuse(`${JSON.stringify(override)}, which is no URL`);
  if (moved.username !== '' || moved.password !== '' || moved.search !== '' || moved.hash !== '') {
    throw refuse(`at ${moved.host}, with credentials, a query or a fragment in it`);
  }
  const sameHost = moved.hostname === home.hostname && moved.protocol === home.protocol;
  if (moved.protocol !== 'https:' && !sameHost) {
    throw refuse(`${moved.origin}, which is not https and not the same host`);
  }
  return baseOf(moved.href);
}

/** The prefix of paths: what the catalog insists on, else the configured one, else what the catalog suggests. */
export function prefixOf(configured: string | undefined, answer: RestConfigAnswer): string | undefined {
  return answer.overrides?.['prefix'] ?? configured ?? answer.defaults?.['prefix'] ?? undefined;
}
