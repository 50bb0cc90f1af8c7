/** Keys as file names. */
import { isUtf8 } from 'node:buffer';
import { S3Refusal } from './backend.ts';

export interface NameRule {
  /** Relative path of a key. */
  encode(key: string): string;
  /** Relative path of a directory, given as a key prefix without its final slash. */
  directory(prefix: string): string;
  /** What a name stands for, or undefined for a file that is no object. */
  decode(name: Buffer, isDirectory: boolean): DecodedName | undefined;
  /** How names of unfinished writes begin. */
  readonly temporary: string;
}

export interface DecodedName {
  readonly text: string;
  /** A directory that holds the ends of a component too long for one name. */
  readonly continues: boolean;
}

/** Names that are no text: every byte that might not be, and `%` itself, by its number, so that no two look alike. */
function escapeBytes(name: Buffer): string {
  return name
    .toString('latin1')
    .replace(/[%\x80-\xff]/g, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`);
}

/**
 * File names as they are. Keys that a file system reads otherwise are refused. A name that is no UTF-8 is shown below `./`,
 * where no other file can be: it is listed and counted, can be neither read nor deleted, and lists keep what has a dot segment.
 */
export const plainNames: NameRule = {
  temporary: '.icesweep-unfinished-',
  encode(key) {
    const parts = key.split('/');
    if (parts.some((part) => part === '' || part === '.' || part === '..' || part.includes('\0'))) {
      throw new S3Refusal(400, 'InvalidArgument', `A directory of files cannot hold the key ${JSON.stringify(key)}.`);
    }
    return key;
  },
  directory: (prefix) => plainNames.encode(prefix),
  decode(name) {
    return { text: isUtf8(name) ? name.toString('utf8') : `./${escapeBytes(name)}`, continues: false };
  },
};

/** File systems take 255 bytes; a piece keeps room for its ending and for one character of 12 escaped bytes. */
const LONGEST_PIECE = 230;
const EMPTY = '%';
const FILE = '=';
const CONTINUES = '^';

/**
 * Any key fits. Components are escaped like in an URL, so that `=`, `^`, `+` and a lone `%` are free for us: a file ends with
 * `=`, whence `a` and `a/b` live side by side; a component too long for a name goes on inside a directory that ends with `^`.
 */
export const managedNames: NameRule = {
  temporary: '+',
  encode(key) {
    return `${key.split('/').map(escapeComponent).join('/')}${FILE}`;
  },
  directory: (prefix) => prefix.split('/').map(escapeComponent).join('/'),
  decode(name, isDirectory) {
    const text = name.toString('utf8');
    const ending = text.at(-1);
    if (text.startsWith(managedNames.temporary) || isDirectory === (ending === FILE)) return undefined;
    const piece = ending === FILE || ending === CONTINUES ? text.slice(0, -1) : text;
    try {
      return { text: piece === EMPTY ? '' : decodeURIComponent(piece), continues: ending === CONTINUES };
    } catch {
      return undefined;
    }
  },
};

function escapeComponent(component: string): string {
  const whole = encodeURIComponent(component);
  if (whole.length <= LONGEST_PIECE) return whole === '' ? EMPTY : hideDot(whole);
  const pieces = [''];
  for (const character of component) {
    if ((pieces.at(-1) as string).length > LONGEST_PIECE) pieces.push('');
    pieces[pieces.length - 1] += encodeURIComponent(character);
  }
  return pieces.map(hideDot).join(`${CONTINUES}/`);
}

/** `.` and `..` mean something else, and hidden files look like none. */
function hideDot(piece: string): string {
  return piece.replace(/^\./, '%2E');
}
