/** `exclude` and `include_hidden`: globs on the key relative to its root. */
import picomatch from 'picomatch';
import { InvalidInputError } from '#shared/errors.ts';
import { foldKey } from '#shared/identity/fold-key.ts';

/** Takes the key below its root, as listed and folded. */
export type RelativeMatcher = (relative: string, folded: string) => boolean;

/**
 * Compiles globs so that the wider reading wins: `*` and `**` match names that begin with a dot, line breaks are ordinary
 * characters, `folder/` means everything below it, and a glob matches a key in any spelling that folds to the same file.
 * A glob that cannot be compiled is an InvalidInputError: one that silently matches nothing would protect nothing.
 *
 * @param option name of the input, for the message
 */
export function compileGlobs(globs: readonly string[], ignoreCase: boolean, option: string): RelativeMatcher {
  const matchers = globs.map((glob) => compileGlob(glob, ignoreCase, option));
  return (relative, folded) => matchers.some((matches) => matches(relative, folded));
}

function compileGlob(glob: string, ignoreCase: boolean, option: string): RelativeMatcher {
  const anchored = glob.replace(/^(?:\.?\/+)+/, '');
  const pattern = anchored.endsWith('/') ? `${anchored}**` : anchored;
  const spellings = [...new Set([pattern, foldKey(pattern, ignoreCase)])].filter((spelling) => spelling !== '');
  if (spellings.length === 0) throw invalid(glob, option, 'is empty');
  const options = { dot: true, posix: true, windows: false, debug: true, flags: ignoreCase ? 'si' : 's' };
  try {
    const compiled = spellings.map((spelling) => picomatch(spelling, options));
    return (relative, folded) => compiled.some((matches) => matches(relative) || matches(folded));
  } catch (error) {
    throw invalid(glob, option, (error as Error).message);
  }
}

function invalid(glob: string, option: string, why: string): InvalidInputError {
  return new InvalidInputError(`${option} holds ${JSON.stringify(glob)}, which cannot be read as a glob: ${why}.`, {
    next: 'Correct the glob; nothing was touched.',
  });
}
