/**
 * The short way for the paths that nearly every entry has: `s3://<bucket of a root>/<plain ASCII key>`. Such a path folds
 * to its own bytes, so it is hashed where it stands. Everything else takes the long way through `classifyReference`, which
 * also decides what this one must answer (pinned by a test over both).
 */
import type { ByteSpan } from '#shared/iceberg/avro-cursor.ts';
import { foldKey } from '#shared/identity/fold-key.ts';
import { parseReference } from '#shared/identity/references.ts';
import type { Plan } from '#shared/run/plan.ts';

const SLASH = 0x2f;
const DOT = 0x2e;
const PERCENT = 0x25;
/** 1 for the bytes that need a second look: all others, which are nearly all, cost one look-up each. */
const IS_SPECIAL = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 0x80 || byte === PERCENT || byte === SLASH ? 1 : 0,
);

export interface PlainKey {
  readonly key: Uint8Array;
  readonly inside: boolean;
}

export class PlainPaths {
  readonly #starts: readonly Buffer[];
  readonly #prefixes: readonly Buffer[];

  constructor(plan: Plan) {
    const { identity, roots } = plan;
    const [root] = roots;
    // Aliases map keys and case folding changes them; roots with an unusual spelling or another authority need judging.
    const usable =
      root !== undefined &&
      identity.pathAliases.length === 0 &&
      !identity.ignoreCase &&
      roots.every(
        ({ prefix, scheme, authority }) =>
          scheme === root.scheme && authority === root.authority && foldKey(prefix) === prefix,
      );
    const starts = usable ? ['s3', 's3a', 's3n'].map((scheme) => `${scheme}://${root.bucket}/`) : [];
    const agreeing = starts.filter((start) => {
      const { scheme, authority } = parseReference(`${start}key`, identity);
      return scheme === root?.scheme && authority === root?.authority;
    });
    this.#starts = agreeing.map((start) => Buffer.from(start));
    this.#prefixes = roots.map(({ prefix }) => Buffer.from(prefix));
  }

  /** The folded key of a plain path, or null where the long way must decide. */
  keyOf({ bytes, start, end }: ByteSpan): PlainKey | null {
    const head = firstStart(bytes, start, end, this.#starts);
    if (head === null) return null;
    const from = start + head.length;
    if (!isPlain(bytes, from, end)) return null;
    return { key: bytes.subarray(from, end), inside: firstStart(bytes, from, end, this.#prefixes) !== null };
  }
}

/** A loop and no closure: it is run for every entry of every manifest. */
function firstStart(bytes: Uint8Array, from: number, end: number, prefixes: readonly Buffer[]): Buffer | null {
  for (const prefix of prefixes) if (startsWith(bytes, from, end, prefix)) return prefix;
  return null;
}

function startsWith(bytes: Uint8Array, from: number, end: number, prefix: Uint8Array): boolean {
  if (end - from < prefix.length) return false;
  for (let index = 0; index < prefix.length; index++) if (bytes[from + index] !== prefix[index]) return false;
  return true;
}

/** ASCII, no `%`, no `//`, no leading `/`, no segment that begins with a dot. */
function isPlain(bytes: Uint8Array, start: number, end: number): boolean {
  if (end === start || bytes[start] === SLASH || bytes[start] === DOT) return false;
  for (let index = start; index < end; index++) {
    if (IS_SPECIAL[bytes[index] as number] === 0) continue;
    if (bytes[index] !== SLASH) return false;
    const next = bytes[index + 1];
    if (index + 1 < end && (next === SLASH || next === DOT)) return false;
  }
  return true;
}
