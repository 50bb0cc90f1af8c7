/** Takes recorded paths, classifies them, and buffers the fingerprints of what they protect. */

import type { KeyHasher } from '#shared/filter/key-hash.ts';
import { RangeIndex } from '#shared/filter/key-ranges.ts';
import type { ByteSpan } from '#shared/iceberg/avro-cursor.ts';
import { foldReference } from '#shared/identity/fold-key.ts';
import { classifyReference, locateReference, parseReference } from '#shared/identity/references.ts';
import type { ReferenceFault } from '#shared/identity/types.ts';
import { FragmentBuffer } from '#shared/run/fragments.ts';
import type { Plan } from '#shared/run/plan.ts';
import type { FragmentGroup, ReferenceFaultTally } from '#shared/run/receipts.ts';
import { PlainPaths } from './plain-paths.ts';

const MOST_FAULTS = 50;
const SAMPLE = 5;
const MOST_SPELLINGS = 20;

export class ReferenceSink {
  readonly buffer = new FragmentBuffer();
  readonly #plan: Plan;
  readonly #hasher: KeyHasher;
  readonly #ranges: RangeIndex;
  readonly #plain: PlainPaths;
  readonly #faults: Map<string, { fault: ReferenceFault; evidence: string; count: number; sample: string[] }>;
  readonly #spellings: Set<string>;

  constructor(plan: Plan, hasher: KeyHasher, faults: readonly ReferenceFaultTally[], spellings: readonly string[]) {
    this.#plan = plan;
    this.#hasher = hasher;
    this.#ranges = new RangeIndex(plan.ranges);
    this.#plain = new PlainPaths(plan);
    this.#faults = new Map(
      faults.map((tally) => [`${tally.fault} ${tally.evidence}`, { ...tally, sample: [...tally.sample] }]),
    );
    this.#spellings = new Set(spellings);
  }

  get faults(): ReferenceFaultTally[] {
    return [...this.#faults.values()];
  }

  get unlistedSpellings(): string[] {
    return [...this.#spellings];
  }

  /** A live entry's path. `covered`: it counts for coverage when it lies under the roots. */
  content(path: ByteSpan, covered: boolean): void {
    const plain = this.#plain.keyOf(path);
    if (plain !== null) {
      const group = !plain.inside ? 'content_outside' : covered ? 'content_covered' : 'content_inside';
      this.buffer.add(this.#ranges.find(plain.key), group, this.#hasher.ofBytes(plain.key));
      return;
    }
    this.#classified(path.view().toString('utf8'), {
      inside: covered ? 'content_covered' : 'content_inside',
      outside: 'content_outside',
      alias: 'content_alias',
    });
  }

  /** A path that table metadata names directly. */
  metadata(path: string): void {
    this.#classified(path, { inside: 'metadata_inside', outside: 'metadata_outside', alias: 'metadata_alias' });
  }

  /** A path of a DELETED entry: protects nothing. */
  deleted(path: ByteSpan): void {
    const plain = this.#plain.keyOf(path);
    const key = plain?.key ?? Buffer.from(foldReference(path.view().toString('utf8'), this.#plan.identity.ignoreCase));
    this.buffer.add(this.#ranges.find(key), 'deleted_entry', this.#hasher.ofBytes(key));
  }

  #classified(path: string, groups: Readonly<Record<'inside' | 'outside' | 'alias', FragmentGroup>>): void {
    const reference = classifyReference(path, this.#plan.identity, this.#plan.roots);
    for (const folded of new Set([reference.coverageKey, ...reference.folded])) {
      const key = Buffer.from(folded);
      const counts =
        folded === reference.coverageKey ? (reference.insideRoots ? groups.inside : groups.outside) : groups.alias;
      this.buffer.add(this.#ranges.find(key), counts, this.#hasher.ofBytes(key));
    }
    if (reference.fault !== undefined) this.#tally(reference.fault, reference.evidence ?? '', path);
    else if (reference.insideRoots) this.#noteSpelling(path);
  }

  #tally(fault: ReferenceFault, evidence: string, path: string): void {
    // Evidence is a path for some faults: the number of tallies is bounded, their counts are exact.
    const known = this.#faults.get(`${fault} ${evidence}`);
    const name = known !== undefined || this.#faults.size < MOST_FAULTS ? `${fault} ${evidence}` : `${fault} …`;
    const tally = this.#faults.get(name) ?? {
      fault,
      evidence: name.endsWith('…') ? '…' : evidence,
      count: 0,
      sample: [],
    };
    tally.count++;
    if (tally.sample.length < SAMPLE) tally.sample.push(path);
    this.#faults.set(name, tally);
  }

  /** Roots are listed by raw prefix: a reference that only folds to one of them points at keys that nobody listed. */
  #noteSpelling(path: string): void {
    if (this.#spellings.size >= MOST_SPELLINGS) return;
    const { bucket, key } = this.#place(path);
    const { ignoreCase } = this.#plan.identity;
    const spelled = (name: string): string => (ignoreCase ? name.toLowerCase() : name);
    const listed = this.#plan.roots.some((root) => spelled(key).startsWith(spelled(root.prefix)));
    if (!listed) this.#spellings.add(`s3://${bucket}/${key.slice(0, key.lastIndexOf('/') + 1)}`);
  }

  #place(path: string): { readonly bucket: string; readonly key: string } {
    try {
      return locateReference(path, this.#plan.identity);
    } catch {
      // Neither scheme nor authority, and outside the location: it matches any root, in its own spelling.
      return { bucket: '', key: parseReference(path, this.#plan.identity).key };
    }
  }
}
