/** Shapes shared by the identity functions (`fold-key.ts`, `references.ts`) and the stages. Pure data, kept in the plan. */

/** Where references may be spelled otherwise than the keys that are listed. */
export interface IdentityRules {
  /** Lower-case scheme → the scheme it equals; always holds s3a → s3 and s3n → s3. */
  readonly equalSchemes: Readonly<Record<string, string>>;
  /** Authority (exact) → the authority it equals. '' stands for none. */
  readonly equalAuthorities: Readonly<Record<string, string>>;
  /** Recorded prefix → where those files now lie, as `s3://bucket/prefix`. Matches at `/`, longest first. */
  readonly pathAliases: readonly { readonly from: string; readonly to: string }[];
  /** The table's location as its metadata records it: the base for relative and `./` references. */
  readonly tableLocation: string;
  /** A local store whose file system ignores case: both sides are lower-cased. */
  readonly ignoreCase: boolean;
}

/** A prefix that the run lists. `prefix` is a raw key prefix and ends with `/`. */
export interface Root {
  readonly bucket: string;
  readonly prefix: string;
  /** Which scheme and authority the references to this root bear, after the equal_* maps. */
  readonly scheme: string;
  readonly authority: string;
}

/** A reference cut into its parts, with scheme and authority normalised by the rules. */
export interface ParsedReference {
  /** Normalised; null where the reference has none. */
  readonly scheme: string | null;
  /** Normalised; null where the reference has none. */
  readonly authority: string | null;
  /** Raw key, byte-exact: everything after `<scheme>://<authority>/`, no decoding. */
  readonly key: string;
}

/** Why a reference stops the run. Tallied by the scan, judged by evaluate (DESIGN section 7, Identity). */
export type ReferenceFault = 'prefix_mismatch' | 'unknown_scheme' | 'dot_dot_segment' | 'stray_relative';

/** What one reference protects and how it counts. */
export interface ClassifiedReference {
  /** Folded keys to put into the filter: the recorded one and, where an alias maps it, the mapped one. */
  readonly folded: readonly string[];
  /** The folded key that counts for coverage: the mapped one where an alias applies, else the recorded one. */
  readonly coverageKey: string;
  /** The coverage key lies under a root of the run. */
  readonly insideRoots: boolean;
  readonly fault?: ReferenceFault;
  /** Evidence for a fault: the pair of prefixes that do not match, e.g. `s3://other` against `s3://bucket`. */
  readonly evidence?: string;
}
