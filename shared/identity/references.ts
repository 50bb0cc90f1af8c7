/**
 * Recorded paths against the roots of a run: where a reference lies, what it protects, and whether its scheme and authority
 * can be told to be those of the listed files (DESIGN section 4).
 */
import { PrefixMismatchError } from '#shared/errors.ts';
import { type Alias, compileRules, type Rules, type SplitPath, splitPath } from './compiled-rules.ts';
import { foldKey } from './fold-key.ts';
import type { ClassifiedReference, IdentityRules, ParsedReference, ReferenceFault, Root } from './types.ts';

/** Where a recorded path is read from. The key is byte-exact. */
export interface Place {
  readonly bucket: string;
  readonly key: string;
}

const S3_SCHEME = 's3';

/** Cuts a recorded path into scheme, authority (both normalised by the rules) and raw key. */
export function parseReference(path: string, rules: IdentityRules): ParsedReference {
  return normalise(splitPath(path), compileRules(rules));
}

/**
 * Where to read a recorded path: an alias first, then its own bucket. A path without scheme or authority is looked for in the
 * bucket of the table's location when it lies under it; any other place would be a guess, so it refuses.
 */
export function locateReference(path: string, identity: IdentityRules): Place {
  const rules = compileRules(identity);
  const split = splitPath(path);
  refuseDotDot(path, split);
  const mapped = applyAlias(split, rules);
  if (mapped !== null) return mapped;
  const { scheme } = normalise(split, rules);
  if (scheme === S3_SCHEME && split.authority) return { bucket: split.authority, key: split.key };
  const home = rules.location;
  const homeless = (scheme === null || scheme === S3_SCHEME) && !split.authority && !split.relative;
  if (homeless && home.authority && home.normalScheme === S3_SCHEME && isUnder(split.key, home.key)) {
    return { bucket: home.authority, key: split.key };
  }
  throw new PrefixMismatchError(`The path ${path} does not say where in the listed storage it lies.`, {
    next: 'Name its place with path_aliases, or on one machine with --mount RECORDED_PREFIX=DIRECTORY.',
  });
}

/** A location as a root: `prefix` is raw and ends with `/`, or is empty for the top of a bucket. */
export function resolveLocation(
  location: string,
  identity: IdentityRules,
): { readonly scheme: string; readonly authority: string; readonly bucket: string; readonly prefix: string } {
  const { bucket, key } = locateReference(location, identity);
  const { scheme, authority } = bucketReference({ bucket, key }, compileRules(identity));
  const prefix = key === '' || key.endsWith('/') ? key : `${key}/`;
  return { scheme: scheme ?? '', authority: authority ?? '', bucket, prefix };
}

/** The recorded-style path of a listed key: through the longest alias that leads there, else with the table's own scheme. */
export function recordedPath(bucket: string, key: string, identity: IdentityRules): string {
  const rules = compileRules(identity);
  const alias = rules.byTarget.find((candidate) => candidate.bucket === bucket && isUnder(key, candidate.toKey));
  if (alias !== undefined) {
    const rest = key.slice(alias.toKey.length).replace(/^\//, '');
    return rest === '' ? alias.from : `${alias.from.replace(/\/+$/, '')}/${rest}`;
  }
  const scheme = rules.location.normalScheme === S3_SCHEME ? rules.location.scheme : S3_SCHEME;
  return `${scheme ?? S3_SCHEME}://${bucket}/${key}`;
}

/** What one recorded path protects, how it counts, and what is wrong with it. Never throws: faults are tallied and judged later. */
export function classifyReference(path: string, identity: IdentityRules, roots: readonly Root[]): ClassifiedReference {
  const rules = compileRules(identity);
  const split = splitPath(path);
  const mapped = applyAlias(split, rules);
  const recorded = foldKey(split.key, rules.ignoreCase);
  const coverageKey = mapped === null ? recorded : foldKey(mapped.key, rules.ignoreCase);
  const folded = recorded === coverageKey ? [recorded] : [recorded, coverageKey];
  const own = mapped === null ? normalise(split, rules) : bucketReference(mapped, rules);
  const under = rootsOver(coverageKey, roots, rules);
  const insideRoots = under.length > 0;
  const result = { folded: withoutDotSegments(folded), coverageKey, insideRoots };

  if (hasDotDot(split.key) || hasDotDot(recorded)) return { ...result, ...fault('dot_dot_segment', path) };
  if (mapped === null && split.scheme !== null && !rules.knownSchemes.has(split.scheme)) {
    return { ...result, ...fault('unknown_scheme', `${split.scheme}://${split.authority ?? ''}`) };
  }
  if (mapped === null && split.relative && !rules.acceptsRelative(split)) {
    return { ...result, ...fault('stray_relative', path) };
  }
  if (insideRoots && !under.some((root) => agrees(own, root))) {
    return { ...result, ...fault('prefix_mismatch', mismatch(own, under[0] as Root)) };
  }
  return result;
}

function fault(name: ReferenceFault, evidence: string): { readonly fault: ReferenceFault; readonly evidence: string } {
  return { fault: name, evidence };
}

function mismatch(own: ParsedReference, root: Root): string {
  return `${own.scheme ?? ''}://${own.authority ?? ''} against ${root.scheme}://${root.authority}`;
}

/** A reference without scheme or authority matches every root; a root without one matches only such references. */
function agrees(own: ParsedReference, root: Root): boolean {
  return (
    (own.scheme === null || own.scheme === root.scheme) && (own.authority === null || own.authority === root.authority)
  );
}

function normalise(split: SplitPath, rules: Rules): ParsedReference {
  const scheme = split.scheme === null ? null : (rules.equalSchemes.get(split.scheme) ?? split.scheme);
  const authority = rules.normalAuthority(split.authority ?? '');
  return { scheme, authority: authority === '' ? null : authority, key: split.key };
}

function bucketReference(place: Place, rules: Rules): ParsedReference {
  return normalise({ scheme: S3_SCHEME, authority: place.bucket, key: place.key, relative: false }, rules);
}

function rootsOver(foldedKey: string, roots: readonly Root[], rules: Rules): Root[] {
  return roots.filter((root) => foldedKey.startsWith(rules.foldedPrefix(root)));
}

/** The alias with the longest recorded prefix, at `/`; spelled exactly, or so that it folds to the same. */
function applyAlias(split: SplitPath, rules: Rules): Place | null {
  for (const alias of rules.aliases) {
    if (!aliasApplies(alias, split, rules)) continue;
    if (isUnder(split.key, alias.fromKey)) return join(alias, split.key.slice(alias.fromKey.length));
    const end = foldedBoundary(split.key, alias, rules);
    if (end >= 0) return join(alias, split.key.slice(end));
  }
  return null;
}

function join(alias: Alias, rest: string): Place {
  const below = alias.fromKey === '' && rest !== '' ? `/${rest}` : rest;
  return { bucket: alias.bucket, key: alias.toKey === '' ? below.replace(/^\//, '') : alias.toKey + below };
}

function aliasApplies(alias: Alias, split: SplitPath, rules: Rules): boolean {
  if (alias.relative !== split.relative) return false;
  if (split.scheme === null) return true;
  // `/x`, `file:/x`, `file:///x` and `hdfs://name/x` name one file in tables written by several engines. A bucket is no part of a path.
  if (alias.scheme === null) return split.scheme === 'file' || split.scheme === 'hdfs';
  const own = normalise(split, rules);
  return own.scheme === alias.scheme && own.authority === alias.authority;
}

/** End of the raw prefix that folds to the alias's, or -1. */
function foldedBoundary(key: string, alias: Alias, rules: Rules): number {
  if (!foldKey(key, rules.ignoreCase).startsWith(alias.foldedFrom)) return -1;
  for (let end = key.indexOf('/'); end >= 0; end = key.indexOf('/', end + 1)) {
    if (foldKey(key.slice(0, end), rules.ignoreCase) === alias.foldedFrom) return end;
  }
  return -1;
}

function isUnder(key: string, prefix: string): boolean {
  return prefix === '' || prefix.endsWith('/')
    ? key.startsWith(prefix)
    : key === prefix || key.startsWith(`${prefix}/`);
}

function hasDotDot(key: string): boolean {
  return key.includes('..') && key.split('/').includes('..');
}

function refuseDotDot(path: string, split: SplitPath): void {
  if (!hasDotDot(split.key) && !hasDotDot(foldKey(split.key))) return;
  throw new PrefixMismatchError(`The path ${path} has a \`..\` segment, which a store keeps literally.`);
}

/** A file system drops `/./`, a store keeps it: both keys are protected. */
function withoutDotSegments(folded: readonly string[]): readonly string[] {
  if (!folded.some((key) => key.includes('./'))) return folded;
  const cleaned = folded.map((key) =>
    key
      .split('/')
      .filter((part) => part !== '.')
      .join('/'),
  );
  return [...new Set([...folded, ...cleaned])];
}
