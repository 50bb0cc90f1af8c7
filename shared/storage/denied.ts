/** What to do about a denial, in the words of the store that denied. */
import { dirname } from 'node:path';

/** How a file system says no, as the embedded store passes it on: `EACCES: permission denied, unlink '/srv/t/data/a'`. */
const FILE_SYSTEM = /\b(EACCES|EPERM|EROFS): [^']*? (\w+) '(.*)'/s;
/** Calls that need the right to write in the folder of what they name; `access` is asked of the folder itself. */
const CHANGES: Readonly<Record<string, (path: string) => string>> = { unlink: dirname, access: (path) => path };

/**
 * The next step after a denial.
 *
 * @param refusal the store's error, or its message
 * @param grant what a store of objects would have to allow
 */
export function stepAfterDenial(refusal: unknown, grant: string): string {
  const [, code, call, path] = FILE_SYSTEM.exec(refusal instanceof Error ? refusal.message : String(refusal)) ?? [];
  if (path === undefined || call === undefined) return grant;
  if (code === 'EROFS') return `Mount the file system of ${path} for writing.`;
  const folder = CHANGES[call]?.(path);
  return folder === undefined
    ? `Give this user the right to read ${path} and to enter the folders above it (chmod or chown).`
    : `Give this user the right to write to the folder ${folder} (chmod or chown).`;
}
