/**
 * JSON objects of which one member is a list too long to be held as objects: its elements are parsed one at a time, and the
 * rest as if the list were empty. Every byte is parsed once, by `JSON.parse`: what it refuses in the whole text is refused here.
 */
import { endOfString, parseLosslessJson } from './lossless-json.ts';

export interface StreamedJson {
  /** The document, with an empty list where the long one is. */
  readonly rest: unknown;
  /** Elements of the list, in order; may throw SyntaxError until the last one is taken. */
  readonly elements: Iterable<unknown>;
}

const QUOTE = 0x22;
const COLON = 0x3a;
const COMMA = 0x2c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
/** The first of its three bytes; no value begins with it. */
const BYTE_ORDER_MARK = 0xef;

/**
 * Opens a document whose top-level `member` is read element by element; where it is no list, or stands there twice, the document
 * is parsed whole. Throws SyntaxError, or TypeError for bytes that are not UTF-8.
 */
export function openStreamedJson(bytes: Uint8Array, member: string): StreamedJson {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const lists = listsOf(buffer, member);
  const [list] = lists;
  if (list === undefined || lists.length > 1) return { rest: parseLosslessJson(bytes), elements: [] };
  const rest = Buffer.concat([buffer.subarray(0, list.start), Buffer.from('[]'), buffer.subarray(list.end)]);
  return { rest: parseLosslessJson(rest), elements: { [Symbol.iterator]: () => elementsOf(buffer, list) } };
}

interface Extent {
  readonly start: number;
  readonly end: number;
}

/** Where the values of the top-level members of that name lie, if all of them are lists; nothing in a text that is no object. */
function listsOf(bytes: Buffer, member: string): Extent[] {
  const found: Extent[] = [];
  let at = skipSpace(bytes, 0);
  if (bytes[at] !== OPEN_OBJECT) return [];
  do {
    const nameStart = skipSpace(bytes, at + 1);
    if (bytes[nameStart] !== QUOTE) break;
    const nameEnd = endOfString(bytes, nameStart);
    const colon = skipSpace(bytes, nameEnd);
    if (bytes[colon] !== COLON) break;
    const start = skipSpace(bytes, colon + 1);
    const end = endOfValue(bytes, start);
    if (nameOf(bytes.subarray(nameStart, nameEnd)) === member) {
      if (bytes[start] !== OPEN_LIST) return [];
      found.push({ start, end });
    }
    at = skipSpace(bytes, end);
  } while (bytes[at] === COMMA);
  return found;
}

/** Escapes and all; the parser of the rest refuses one that is none. */
function nameOf(literal: Buffer): string | undefined {
  try {
    return JSON.parse(literal.toString()) as string;
  } catch {
    return undefined;
  }
}

function* elementsOf(bytes: Buffer, { start, end }: Extent): Generator<unknown> {
  let at = skipSpace(bytes, start + 1);
  if (bytes[at] !== CLOSE_LIST) {
    for (;;) {
      const last = endOfValue(bytes, at);
      // The decoder passes over a byte order mark, which may stand at the beginning of a text only.
      if (bytes[at] === BYTE_ORDER_MARK) throw new SyntaxError(`Unexpected byte order mark at byte ${at}`);
      yield parseLosslessJson(bytes.subarray(at, last));
      const after = skipSpace(bytes, last);
      if (bytes[after] === COMMA) at = skipSpace(bytes, after + 1);
      else {
        at = after;
        break;
      }
    }
  }
  if (bytes[at] !== CLOSE_LIST || at + 1 !== end) throw new SyntaxError(`Unexpected end of a list at byte ${at}`);
}

/** Behind a value by its brackets and strings; whether it is one is for the parser to say. */
function endOfValue(bytes: Buffer, start: number): number {
  let depth = 0;
  let at = start;
  while (at < bytes.length) {
    const byte = bytes[at] as number;
    if (byte === QUOTE) {
      at = endOfString(bytes, at);
      if (depth === 0) return at;
      continue;
    }
    if (byte === OPEN_LIST || byte === OPEN_OBJECT) depth++;
    else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) {
      if (depth === 0) return at;
      depth--;
      if (depth === 0) return at + 1;
    } else if (depth === 0 && (byte === COMMA || isSpace(byte))) return at;
    at++;
  }
  return bytes.length;
}

function skipSpace(bytes: Buffer, start: number): number {
  let at = start;
  while (at < bytes.length && isSpace(bytes[at] as number)) at++;
  return at;
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}
