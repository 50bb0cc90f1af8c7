/** Finds a raw key at which the rest of an interval can be cut in two, by asking the store what follows a guess. */

import { compareKeys } from '#shared/storage/key-order.ts';
import type { ObjectStore } from '#shared/storage/object-store.ts';
import { type Interval, type Place, requestPage } from './interval-pages.ts';

const PROBES = 8;
/** Printable ASCII: what names are nearly always made of. Other names make the halves uneven, never wrong. */
const LOWEST = 0x20;
const HIGHEST = 0x7f;

export interface Cut {
  /** Both `(after, at]` and `(at, through]` lie in the interval, and the second holds at least one key. */
  readonly at: string | null;
  readonly probes: number;
}

/** Whatever is found, the two parts cover the interval exactly once; a bad guess costs one request. */
export async function findCut(store: ObjectStore, place: Place, rest: Interval): Promise<Cut> {
  if (rest.after === null) return { at: null, probes: 0 };
  let upper = rest.through;
  for (let probes = 1; probes <= PROBES; probes++) {
    const guess = between(rest.after, upper, place.prefix);
    if (guess === null) return { at: null, probes: probes - 1 };
    const page = await requestPage(store, place, { startAfter: guess, maxKeys: 1 });
    const following = page.objects[0]?.key;
    if (following !== undefined && (rest.through === null || compareKeys(following, rest.through) <= 0)) {
      return { at: guess, probes };
    }
    upper = guess;
  }
  return { at: null, probes: PROBES };
}

/** A text strictly between the two, half-way at the first place where they differ; null where none is found. */
export function between(lower: string, upper: string | null, prefix: string): string | null {
  const top = upper ?? `${prefix}${String.fromCharCode(HIGHEST)}`;
  let at = 0;
  while (at < lower.length && at < top.length && lower[at] === top[at]) at++;
  for (let bounded = true; at <= lower.length; at++, bounded = false) {
    const from = at < lower.length ? lower.charCodeAt(at) : LOWEST;
    const to = bounded && at < top.length ? top.charCodeAt(at) : HIGHEST;
    const middle = from + ((to - from) >> 1);
    const isText = middle > from && middle < HIGHEST;
    const guess = `${lower.slice(0, at)}${String.fromCharCode(middle)}`;
    if (isText && compareKeys(guess, lower) > 0 && compareKeys(guess, top) < 0) return guess;
  }
  return null;
}
