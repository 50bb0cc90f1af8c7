/** The identity rules made ready for millions of references: parsed once per rules object, aliases longest first. */
import { foldKey } from './fold-key.ts';
import type { IdentityRules, Root } from './types.ts';

/** A recorded path in its raw parts. */
export interface SplitPath {
  /** Lower case; null where the path has none. */
  readonly scheme: string | null;
  /** Exact; null where the path has no scheme. */
  readonly authority: string | null;
  /** Byte-exact, without the slash that ends the authority or begins an absolute path, and without a leading `./`. */
  readonly key: string;
  /** Neither scheme nor leading slash. */
  readonly relative: boolean;
}

export interface Alias {
  /** As configured. */
  readonly from: string;
  readonly scheme: string | null;
  readonly authority: string | null;
  readonly relative: boolean;
  readonly fromKey: string;
  readonly foldedFrom: string;
  readonly bucket: string;
  readonly toKey: string;
}

export interface Rules {
  readonly ignoreCase: boolean;
  readonly equalSchemes: ReadonlyMap<string, string>;
  readonly knownSchemes: ReadonlySet<string>;
  /** Longest recorded prefix first. */
  readonly aliases: readonly Alias[];
  /** Longest target first. */
  readonly byTarget: readonly Alias[];
  readonly location: SplitPath & { readonly normalScheme: string | null };
  normalAuthority(authority: string): string;
  foldedPrefix(root: Root): string;
  /** Relative paths are accepted under the table's recorded location only; aliases were tried before. */
  acceptsRelative(split: SplitPath): boolean;
}

const SCHEME = /^([A-Za-z][A-Za-z0-9+.-]*):\/\/([^/]*)(?:\/|$)/;
const FILE_WITHOUT_AUTHORITY = /^file:\//i;
const BUILT_IN_SCHEMES = ['s3', 's3a', 's3n', 'file', 'hdfs'];

/** Cuts a recorded path without judging it. Only the first `://` counts; nothing is decoded. */
export function splitPath(path: string): SplitPath {
  const match = SCHEME.exec(path);
  if (match !== null) {
    const [whole, scheme, authority] = match as unknown as [string, string, string];
    return { scheme: scheme.toLowerCase(), authority, key: path.slice(whole.length), relative: false };
  }
  if (FILE_WITHOUT_AUTHORITY.test(path)) return { scheme: 'file', authority: '', key: path.slice(6), relative: false };
  if (path.startsWith('/')) return { scheme: null, authority: null, key: path.slice(1), relative: false };
  return { scheme: null, authority: null, key: path.replace(/^(?:\.\/+)+/, ''), relative: true };
}

const compiled = new WeakMap<IdentityRules, Rules>();

/** The compiled form of `rules`, made once per object. */
export function compileRules(rules: IdentityRules): Rules {
  const known = compiled.get(rules);
  if (known !== undefined) return known;
  const fresh = compile(rules);
  compiled.set(rules, fresh);
  return fresh;
}

function compile(rules: IdentityRules): Rules {
  const equalSchemes = schemeMap(rules.equalSchemes);
  const authorities = new Map(Object.entries(rules.equalAuthorities));
  const normalAuthority = (authority: string) => authorities.get(authority) ?? authority;
  const normalScheme = (scheme: string | null) => (scheme === null ? null : (equalSchemes.get(scheme) ?? scheme));
  const aliases = rules.pathAliases.map((alias) =>
    compileAlias(alias, rules.ignoreCase, normalScheme, normalAuthority),
  );
  const location = splitPath(rules.tableLocation);
  const prefixes = new WeakMap<Root, string>();
  return {
    ignoreCase: rules.ignoreCase,
    equalSchemes,
    knownSchemes: new Set([
      ...BUILT_IN_SCHEMES,
      ...equalSchemes.keys(),
      ...equalSchemes.values(),
      ...rules.pathAliases.flatMap(({ from }) => splitPath(from).scheme ?? []),
    ]),
    aliases: [...aliases].sort((a, b) => b.fromKey.length - a.fromKey.length),
    byTarget: [...aliases].sort((a, b) => b.toKey.length - a.toKey.length),
    location: { ...location, normalScheme: normalScheme(location.scheme) },
    normalAuthority,
    foldedPrefix(root) {
      const cached = prefixes.get(root);
      if (cached !== undefined) return cached;
      const prefix = foldKey(root.prefix, rules.ignoreCase);
      prefixes.set(root, prefix);
      return prefix;
    },
    acceptsRelative(split) {
      const base = location.key.replace(/\/+$/, '');
      return location.relative && base !== '' && (split.key === base || split.key.startsWith(`${base}/`));
    },
  };
}

/** `s3`, `s3a` and `s3n` are one without being told; chains (`s3n` to `s3a` to `s3`) end at their last scheme. */
function schemeMap(equalSchemes: IdentityRules['equalSchemes']): Map<string, string> {
  const direct = new Map([
    ['s3a', 's3'],
    ['s3n', 's3'],
  ]);
  for (const [from, to] of Object.entries(equalSchemes)) direct.set(from.toLowerCase(), to.toLowerCase());
  const last = (scheme: string, hops: number): string => {
    const next = direct.get(scheme);
    return next === undefined || next === scheme || hops === 0 ? scheme : last(next, hops - 1);
  };
  return new Map([...direct.keys()].map((scheme) => [scheme, last(scheme, direct.size)]));
}

function compileAlias(
  alias: IdentityRules['pathAliases'][number],
  ignoreCase: boolean,
  normalScheme: (scheme: string | null) => string | null,
  normalAuthority: (authority: string) => string,
): Alias {
  const from = splitPath(alias.from);
  const to = splitPath(alias.to);
  const authority = normalAuthority(from.authority ?? '');
  const fromKey = from.key.replace(/\/+$/, '');
  return {
    from: alias.from,
    scheme: normalScheme(from.scheme),
    authority: authority === '' ? null : authority,
    relative: from.relative,
    fromKey,
    foldedFrom: foldKey(fromKey, ignoreCase),
    bucket: to.authority ?? '',
    toKey: to.key.replace(/\/+$/, ''),
  };
}
