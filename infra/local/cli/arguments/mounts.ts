/** `--mount RECORDED_PREFIX=DIRECTORY`: where files lie on this machine that the metadata records elsewhere (DESIGN section 11). */
import { realpathSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { InvalidInputError } from '#shared/errors.ts';

/** Bucket of the embedded server whose keys are absolute paths of this machine. */
export const LOCAL_BUCKET = 'local';

export interface Mount {
  /** Recorded prefix, without final slashes. */
  readonly recorded: string;
  /** Absolute real path, without a final slash. */
  readonly directory: string;
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

/** The directory itself, not the link to it: the store follows no links below a mount. */
export function realDirectory(path: string): string {
  const real = realpathSync.native(resolve(path));
  if (real === '/')
    throw new InvalidInputError('The root of the file system cannot be mounted.', {
      next: 'Name the folder of the table.',
    });
  return real;
}

export function withoutFinalSlashes(text: string): string {
  return text.replace(/(?<=[^/:])\/+$/, '');
}

/** Splits at the last `=` before an existing directory, since both sides may hold one (`dt=1`). */
export function parseMount(text: string): Mount {
  for (let at = text.lastIndexOf('='); at > 0; at = text.lastIndexOf('=', at - 1)) {
    const directory = text.slice(at + 1);
    if (directory !== '' && isDirectory(directory)) {
      return { recorded: withoutFinalSlashes(text.slice(0, at)), directory: realDirectory(directory) };
    }
  }
  throw new InvalidInputError(`--mount ${JSON.stringify(text)} names no existing directory.`, {
    next: 'Write --mount RECORDED_PREFIX=DIRECTORY, such as --mount hdfs://nn/warehouse=./copy.',
  });
}

/** All mounts, longest recorded prefix first; one prefix can have one directory only. */
export function parseMounts(texts: readonly string[]): readonly Mount[] {
  const mounts = texts.map(parseMount);
  const seen = new Map<string, string>();
  for (const mount of mounts) {
    const other = seen.get(mount.recorded);
    if (other !== undefined && other !== mount.directory) {
      throw new InvalidInputError(
        `${JSON.stringify(mount.recorded)} is mounted twice: at ${other} and at ${mount.directory}.`,
      );
    }
    seen.set(mount.recorded, mount.directory);
  }
  const unique = mounts.filter((mount, at) => mounts.findIndex((one) => one.recorded === mount.recorded) === at);
  return unique.sort((a, b) => b.recorded.length - a.recorded.length);
}

/** `s3://local/<absolute path>`. */
export function mountedUri(directory: string): string {
  return `s3://${LOCAL_BUCKET}/${directory.replace(/^\/+/, '')}`;
}

/** The mounts as the input's `path_aliases`. */
export function aliasesOf(mounts: readonly Mount[]): Record<string, string> {
  return Object.fromEntries(mounts.map((mount) => [mount.recorded, mountedUri(mount.directory)]));
}

/** The mount whose recorded prefix is, or holds at a `/`, this path. */
export function mountOf(path: string, mounts: readonly Mount[]): Mount | undefined {
  const plain = withoutFinalSlashes(path);
  return mounts.find(
    (mount) =>
      plain === mount.recorded ||
      plain.startsWith(mount.recorded.endsWith('/') ? mount.recorded : `${mount.recorded}/`),
  );
}
