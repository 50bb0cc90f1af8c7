/**
 * The only notion of "the same file" (DESIGN section 4): references, listed keys and exclusions are compared by their folds,
 * never by their spelling. Deleting and reading always use the byte-exact key.
 */
import { isUtf8 } from 'node:buffer';

const PERCENT = 0x25;
const SLASH = 0x2f;

/** `<scheme>://<authority>/` (the final slash may be absent), or `file:/`. No URL parser: `#`, `?` and `..` are ordinary. */
const SCHEME_AND_AUTHORITY = /^(?:[A-Za-z][A-Za-z0-9+.-]*:\/\/[^/]*(?:\/|$)|[Ff][Ii][Ll][Ee]:(?=\/))/;

/** Folds a listed key. A key is never searched for a scheme: `s3://x` is a legal key. Total and idempotent. */
export function foldKey(listedKey: string, ignoreCase = false): string {
  if (isCanonicalText(listedKey, ignoreCase)) return listedKey;
  return foldBytes(Buffer.from(listedKey), ignoreCase).toString();
}

/** Folds a recorded path: scheme and authority are cut off first, since they are compared apart. */
export function foldReference(path: string, ignoreCase = false): string {
  return foldKey(cutSchemeAndAuthority(path), ignoreCase);
}

/** What follows `<scheme>://<authority>/`, untouched. A path without a scheme is returned as it is. */
export function cutSchemeAndAuthority(path: string): string {
  const match = SCHEME_AND_AUTHORITY.exec(path);
  return match === null ? path : path.slice(match[0].length);
}

/** Most keys are: they are compared as they came, and nothing is allocated for them. */
function isCanonicalText(text: string, ignoreCase: boolean): boolean {
  let previous = SLASH;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit >= 0x80 || unit === PERCENT || (unit === SLASH && previous === SLASH)) return false;
    if (ignoreCase && unit >= 0x41 && unit <= 0x5a) return false;
    previous = unit;
  }
  return true;
}

/**
 * Percent decoding is a confluent rewriting on bytes, so that any partly encoded spelling ends in the same bytes. It is done
 * on the decomposed form: `%4é` and `%4e` + accent are one key in two normal forms, and only the second shows its `%4e`.
 */
function foldBytes(input: Buffer, ignoreCase: boolean): Buffer {
  let bytes = decodePercent(input);
  while (!isAscii(bytes)) {
    const decomposed = encodeEscaped(decodeEscaped(bytes).normalize('NFD'));
    if (decomposed.equals(bytes)) break;
    bytes = decodePercent(decomposed);
  }
  const slashed = collapseSlashes(bytes);
  if (isAscii(slashed)) return ignoreCase ? Buffer.from(slashed.toString('latin1').toLowerCase(), 'latin1') : slashed;
  const text = decodeEscaped(slashed);
  // By way of upper case, so that both sigmas, or ß and its capital, meet in one spelling.
  const folded = ignoreCase ? text.toLowerCase().toUpperCase().toLowerCase().normalize('NFD') : text;
  return Buffer.from(showInvalidBytes(folded.normalize('NFC')));
}

/** Decodes `%XX` until none is left, in one pass: a decoded byte may complete another escape. */
function decodePercent(bytes: Buffer): Buffer {
  if (!bytes.includes(PERCENT)) return bytes;
  const out = Buffer.alloc(bytes.length);
  let length = 0;
  for (const byte of bytes) {
    out[length++] = byte;
    while (length >= 3 && out[length - 3] === PERCENT) {
      const high = hexDigit(out[length - 2] as number);
      const low = hexDigit(out[length - 1] as number);
      if (high < 0 || low < 0) break;
      length -= 2;
      out[length - 1] = high * 16 + low;
    }
  }
  return out.subarray(0, length);
}

function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x61 + 10 : -1;
}

/** Runs of `/` become one, a leading `/` goes. */
function collapseSlashes(bytes: Buffer): Buffer {
  const out = Buffer.alloc(bytes.length);
  let length = 0;
  let previous = SLASH;
  for (const byte of bytes) {
    if (byte !== SLASH || previous !== SLASH) out[length++] = byte;
    previous = byte;
  }
  return out.subarray(0, length);
}

function isAscii(bytes: Buffer): boolean {
  for (const byte of bytes) if (byte >= 0x80) return false;
  return true;
}

/** UTF-8 to text; a byte that is not UTF-8 becomes the lone surrogate U+DC00 + byte, which normalisation leaves alone. */
function decodeEscaped(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString();
  let text = '';
  let start = 0;
  while (start < bytes.length) {
    const length = sequenceLength(bytes, start);
    text +=
      length === 0
        ? String.fromCharCode(0xdc00 + (bytes[start] as number))
        : bytes.toString('utf8', start, start + length);
    start += Math.max(length, 1);
  }
  return text;
}

/** Length of the UTF-8 sequence at `start`, 0 where there is none. */
function sequenceLength(bytes: Buffer, start: number): number {
  const first = bytes[start] as number;
  const length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  return start + length <= bytes.length && isUtf8(bytes.subarray(start, start + length)) ? length : 0;
}

function encodeEscaped(text: string): Buffer {
  if (text.isWellFormed()) return Buffer.from(text);
  const parts = text.split(/(\p{Surrogate}+)/u).map((part, index) => {
    if (index % 2 === 0) return Buffer.from(part);
    return Buffer.from(Array.from(part, (unit) => unit.charCodeAt(0) - 0xdc00));
  });
  return Buffer.concat(parts);
}

/** Bytes that are not UTF-8 stay escaped, so that a fold is always text. */
function showInvalidBytes(text: string): string {
  if (text.isWellFormed()) return text;
  return text.replace(/\p{Surrogate}/gu, (unit) => `%${(unit.charCodeAt(0) - 0xdc00).toString(16).toUpperCase()}`);
}
