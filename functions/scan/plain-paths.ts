/**
 * The short way for the paths that nearly every entry has: `s3://<bucket of a root>/<plain ASCII key>`. Such a path folds
 * to its own bytes, so it is hashed where it stands. Everything else takes the long way through `classifyReference`, which
 * also decides what this one must answer (pinned by a test over both).
 */
import { foldKey } from '#shared/identity/fold-key.ts';
import { parseReference } from '#shared/identity/references.ts';
import type { Plan } from '#shared/run/plan.ts';

const SLASH = 0x2f;
const DOT = 0x2e;
const PERCENT = 0x25;

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
  keyOf(path: Uint8Array): PlainKey | null {
    const start = this.#starts.find((candidate) => startsWith(path, candidate));
    if (start === undefined || !isPlain(path, start.length)) return null;
    const key = path.subarray(start.length);
    return { key, inside: this.#prefixes.some((prefix) => startsWith(key, prefix)) };
  }
}

function startsWith(bytes: Uint8Array, prefix: Uint8Array): boolean {
  if (bytes.length < prefix.length) return false;
  for (let index = 0; index < prefix.length; index++) if (bytes[index] !== prefix[index]) return false;
  return true;
}

/** ASCII, no `%`, no `//`, no leading `/`, no segment that begins with a dot. */
function isPlain(bytes: Uint8Array, start: number): boolean {
  let previous = SLASH;
  for (let index = start; index < bytes.length; index++) {
    const byte = bytes[index] as number;
    if (byte >= 0x80 || byte === PERCENT) return false;
    if (previous === SLASH && (byte === SLASH || byte === DOT)) return false;
    previous = byte;
  }
  return bytes.length > start;
}
