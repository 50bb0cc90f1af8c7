/** Keys as file names. */
import { isUtf8 } from 'node:buffer';
import { S3Refusal } from './backend.ts';

export interface NameRule {
  /** Relative path of a key. */
  encode(key: string): string;
  /** Relative path of a directory, given as a key prefix without its final slash. */
  directory(prefix: string): string;
  /** The key's component, or undefined for a file that is no object. */
  decode(name: Buffer, isDirectory: boolean): string | undefined;
  /** How names of unfinished writes begin. */
  readonly temporary: string;
}

const LONGEST = 255;

/** File names as they are. Keys that a file system reads otherwise are refused. */
export const plainNames: NameRule = {
  temporary: '.icesweep-unfinished-',
  encode(key) {
    const parts = key.split('/');
    if (parts.some((part) => part === '' || part === '.' || part === '..' || part.includes('\0'))) {
      throw new S3Refusal(404, 'NoSuchKey', `A directory cannot hold the key ${JSON.stringify(key)}`);
    }
    return key;
  },
  directory: (prefix) => plainNames.encode(prefix),
  decode(name) {
    return isUtf8(name) ? name.toString('utf8') : undefined;
  },
};

/** Any key fits: a file is its escaped last component with `=`, so that `a` and `a/b` live side by side. */
export const managedNames: NameRule = {
  temporary: '+',
  encode(key) {
    const parts = key.split('/');
    const file = escapeComponent(parts.pop() as string);
    return [...parts.map(escapeComponent), `${file}=`].join('/');
  },
  directory: (prefix) => prefix.split('/').map(escapeComponent).join('/'),
  decode(name, isDirectory) {
    const text = name.toString('utf8');
    if (text.startsWith('+') || isDirectory === text.endsWith('=')) return undefined;
    const component = isDirectory ? text : text.slice(0, -1);
    return component === '%' ? '' : decodeURIComponent(component);
  },
};

function escapeComponent(component: string): string {
  if (component === '') return '%';
  const escaped = encodeURIComponent(component).replace(/^\./, '%2E');
  if (escaped.length >= LONGEST) throw new S3Refusal(400, 'KeyTooLongError', `${component.slice(0, 60)}… is too long`);
  return escaped;
}
