/**
 * Whose metadata file is this? Told from its first bytes, so that a foreign table in the same folder is noticed without
 * reading whole files (DESIGN section 6, Foreign tables).
 */
import { inflatePrefix, isGzip } from './metadata-gzip.ts';

export interface PeekedIdentity {
  readonly tableUuid?: string;
  readonly location?: string;
  /** The whole document was seen: what is not given is not there. */
  readonly complete: boolean;
}

/** A gzip prefix may inflate a thousandfold; nothing beyond this is looked at. */
const MAX_PEEKED_BYTES = 64 * 1024 * 1024;

/**
 * Top-level `table-uuid` and `location` of a metadata file of which only the beginning may be given. Keys of nested objects
 * are not taken for them. Bytes that are no JSON give nothing and `complete: false`.
 */
export function peekTableIdentity(prefixBytes: Uint8Array): PeekedIdentity {
  const bytes = isGzip(prefixBytes) ? inflatePrefix(prefixBytes, MAX_PEEKED_BYTES) : prefixBytes;
  const text = new TextDecoder().decode(bytes);
  const found: { tableUuid?: string; location?: string } = {};
  let at = skipSpace(text, 0);
  if (text[at] !== '{') return { complete: false };
  let depth = 0;
  while (at < text.length) {
    const character = text[at] as string;
    if (character === '"') {
      const end = endOfString(text, at);
      if (end < 0) break;
      if (depth === 1) at = takeMember(text, at, end, found);
      else at = end;
      continue;
    }
    if (character === '{' || character === '[') depth++;
    if (character === '}' || character === ']') depth--;
    at++;
    if (depth === 0) return { ...found, complete: true };
  }
  return { ...found, complete: false };
}

/** At a string of the top level: a member's name where a colon follows. Returns where to go on. */
function takeMember(
  text: string,
  start: number,
  end: number,
  found: { tableUuid?: string; location?: string },
): number {
  const colon = skipSpace(text, end);
  if (text[colon] !== ':') return end;
  const valueStart = skipSpace(text, colon + 1);
  if (text[valueStart] !== '"') return valueStart;
  const valueEnd = endOfString(text, valueStart);
  if (valueEnd < 0) return text.length;
  const name = unquote(text.slice(start, end));
  if (name === 'table-uuid') found.tableUuid = unquote(text.slice(valueStart, valueEnd));
  if (name === 'location') found.location = unquote(text.slice(valueStart, valueEnd));
  return valueEnd;
}

function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === '"') return at + 1;
  }
  return -1;
}

function skipSpace(text: string, start: number): number {
  let at = start;
  while (at < text.length && /\s/.test(text[at] as string)) at++;
  return at;
}

function unquote(literal: string): string | undefined {
  try {
    return JSON.parse(literal) as string;
  } catch {
    return undefined;
  }
}
