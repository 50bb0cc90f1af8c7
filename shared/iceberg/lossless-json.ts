/**
 * JSON with 64-bit integers kept: `JSON.parse` rounds ids above 2^53 (5184430069070270604 becomes …270000), after which
 * snapshots, refs and statistics no longer join. Long integer tokens are quoted before parsing and read back by
 * {@link toBigInt}.
 */

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const MINUS = 0x2d;
/** 2^53 has 16 digits; every shorter integer is exact. */
const FIRST_LOSSY_DIGITS = 16;
const DECODER = new TextDecoder('utf-8', { fatal: true });

/** Parses UTF-8 JSON. Integers of 16 digits or more become strings of digits. Throws on anything that is not JSON or not UTF-8. */
export function parseLosslessJson(bytes: Uint8Array): unknown {
  const quoted = quoteLongIntegers(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  // A replacement character instead of an error would be a path that no listing shows.
  return JSON.parse(DECODER.decode(quoted));
}

/** An integer as parsed by {@link parseLosslessJson}, exact; undefined for anything else. */
export function toBigInt(value: unknown): bigint | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : undefined;
  return typeof value === 'string' && /^-?\d{1,25}$/.test(value) ? BigInt(value) : undefined;
}

function quoteLongIntegers(bytes: Buffer): Buffer {
  const parts: Buffer[] = [];
  let copied = 0;
  let at = 0;
  while (at < bytes.length) {
    const byte = bytes[at] as number;
    if (byte === QUOTE) {
      at = endOfString(bytes, at);
    } else if (byte === MINUS || isDigit(byte)) {
      const end = endOfNumber(bytes, at);
      if (isLongInteger(bytes, at, end)) {
        parts.push(bytes.subarray(copied, at), QUOTE_BYTES, bytes.subarray(at, end), QUOTE_BYTES);
        copied = end;
      }
      at = end;
    } else at++;
  }
  return parts.length === 0 ? bytes : Buffer.concat([...parts, bytes.subarray(copied)]);
}

const QUOTE_BYTES = Buffer.from('"');

/** Behind the string that begins at `start`; one that does not end, ends with the text. */
export function endOfString(bytes: Buffer, start: number): number {
  let at = start + 1;
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  return Math.min(at + 1, bytes.length);
}

function endOfNumber(bytes: Buffer, start: number): number {
  let at = start + 1;
  while (at < bytes.length && isNumberByte(bytes[at] as number)) at++;
  return at;
}

function isLongInteger(bytes: Buffer, start: number, end: number): boolean {
  const first = bytes[start] === MINUS ? start + 1 : start;
  if (end - first < FIRST_LOSSY_DIGITS) return false;
  for (let at = first; at < end; at++) if (!isDigit(bytes[at] as number)) return false;
  return true;
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}

/** Digits, `.`, `e`, `E`, `+`, `-`. */
function isNumberByte(byte: number): boolean {
  return isDigit(byte) || byte === 0x2e || byte === 0x65 || byte === 0x45 || byte === 0x2b || byte === MINUS;
}
