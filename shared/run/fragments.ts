/**
 * Fragments: fingerprints by key range and group, written as sorted sections of one object, so that whoever takes a range
 * reads only its own bytes (DESIGN section 5).
 */
import { crc32 } from 'node:zlib';
import { FingerprintList, fromBytes, isSorted, toBytes } from '#shared/filter/fingerprints.ts';
import type { ObjectRef } from './plan.ts';
import type { FragmentGroup, FragmentSection } from './receipts.ts';
import type { RunArtefacts } from './run-artefacts.ts';

export interface WrittenFragments {
  readonly objects: readonly ObjectRef[];
  readonly sections: readonly FragmentSection[];
  readonly entries: number;
}

export const NO_FRAGMENTS: WrittenFragments = { objects: [], sections: [], entries: 0 };

interface Section {
  readonly range: number;
  readonly group: FragmentGroup;
  readonly list: FingerprintList;
}

interface Held {
  /** By group, then by range. */
  readonly lists: Map<FragmentGroup, Map<number, Section>>;
  /** Of the entry before: most are of one group and one range, and are spared the look-up. */
  last: Section | undefined;
  length: number;
}

export class FragmentBuffer {
  /** Replaced as a whole by a flush, so that nothing is ever added to what was written already. */
  #held: Held = { lists: new Map(), last: undefined, length: 0 };

  /** Fingerprints held; eight bytes each. */
  get length(): number {
    return this.#held.length;
  }

  add(range: number, group: FragmentGroup, fingerprint: bigint): void {
    const held = this.#held;
    held.length++;
    if (held.last?.range !== range || held.last.group !== group) held.last = sectionOf(held, range, group);
    held.last.list.push(fingerprint);
  }

  /** Writes everything held as one object, appended to what was written before, and empties the buffer. */
  async flush(artefacts: RunArtefacts, name: string, before: WrittenFragments): Promise<WrittenFragments> {
    const { lists: held, length: entries } = this.#held;
    if (entries === 0) return before;
    const lists = [...held.values()]
      .flatMap((ranges) => [...ranges.values()])
      .sort((a, b) => a.range - b.range || (a.group < b.group ? -1 : 1));
    this.#held = { lists: new Map(), last: undefined, length: 0 };
    const parts: Buffer[] = [];
    const sections: FragmentSection[] = [];
    let offset = 0;
    for (const { range, group, list } of lists) {
      const bytes = toBytes(list.sorted());
      sections.push({ object: before.objects.length, range, group, offset, entries: list.length, crc32: crc32(bytes) });
      parts.push(bytes);
      offset += bytes.length;
    }
    const object = await artefacts.write(name, Buffer.concat(parts), entries);
    return {
      objects: [...before.objects, object],
      sections: [...before.sections, ...sections],
      entries: before.entries + entries,
    };
  }
}

function sectionOf({ lists }: Held, range: number, group: FragmentGroup): Section {
  let ranges = lists.get(group);
  if (ranges === undefined) {
    ranges = new Map();
    lists.set(group, ranges);
  }
  let section = ranges.get(range);
  if (section === undefined) {
    section = { range, group, list: new FingerprintList() };
    ranges.set(range, section);
  }
  return section;
}

type ErrorClass = new (message: string) => Error;

/** The sections of one key range in one fragment. */
export interface RangeSections {
  readonly object: ObjectRef;
  /** Neighbours in the object, in order; never empty. */
  readonly sections: readonly FragmentSection[];
}

/** Where a receipt's fragments hold one key range. A receipt that contradicts itself is an error. */
export function sectionsOfRange(
  artefacts: RunArtefacts,
  written: Pick<WrittenFragments, 'objects' | 'sections'>,
  range: number,
  Mismatch: ErrorClass,
): RangeSections[] {
  return written.objects.flatMap((object, index) => {
    const all = written.sections.filter((section) => section.object === index);
    checkLayout(artefacts, object, all, Mismatch);
    const sections = all.filter((section) => section.range === range);
    return sections.length === 0 ? [] : [{ object, sections }];
  });
}

/**
 * Reads sections, as whole objects where the range has most of them. Short, unsorted or overlapping bytes are an error: a
 * lost fingerprint would be a lost file.
 */
export async function readRangeSections(
  artefacts: RunArtefacts,
  { object, sections }: RangeSections,
  Mismatch: ErrorClass,
): Promise<{ readonly group: FragmentGroup; readonly fingerprints: BigUint64Array }[]> {
  const start = (sections[0] as FragmentSection).offset;
  const last = sections.at(-1) as FragmentSection;
  const length = last.offset + last.entries * 8 - start;
  // The whole object can be checked by its digest, a part of it by the checksums of its sections.
  const bytes =
    length * 2 >= object.bytes
      ? (await artefacts.readNamed(object, Mismatch)).subarray(start, start + length)
      : await artefacts.readRange(object.name, start, length);
  const broken = (what: string): Error =>
    new Mismatch(`Fragment ${artefacts.absoluteKey(object.name)} ${what}; start a new run.`);
  if (bytes.length !== length) throw broken('is shorter than its receipt says');
  return sections.map((section) => {
    const from = section.offset - start;
    const part = bytes.subarray(from, from + section.entries * 8);
    if (section.crc32 !== undefined && crc32(part) !== section.crc32) throw broken('fails its checksum');
    const fingerprints = fromBytes(part);
    if (!isSorted(fingerprints)) throw broken('is not in order');
    return { group: section.group, fingerprints };
  });
}

/** All sections of one key range out of a receipt's fragments, one fragment in memory at a time. */
export async function* readSections(
  artefacts: RunArtefacts,
  written: Pick<WrittenFragments, 'objects' | 'sections'>,
  range: number,
  Mismatch: ErrorClass,
): AsyncGenerator<{ readonly group: FragmentGroup; readonly fingerprints: BigUint64Array }> {
  for (const sections of sectionsOfRange(artefacts, written, range, Mismatch)) {
    yield* await readRangeSections(artefacts, sections, Mismatch);
  }
}

/** The sections of an object lie end to end, by range, and fill it exactly. */
function checkLayout(
  artefacts: RunArtefacts,
  object: ObjectRef,
  sections: readonly FragmentSection[],
  Mismatch: ErrorClass,
): void {
  let offset = 0;
  let range = 0;
  for (const section of sections) {
    if (section.offset !== offset || section.range < range || !(section.entries > 0)) offset = Number.NaN;
    offset += section.entries * 8;
    range = section.range;
  }
  if (offset !== object.bytes || object.entries * 8 !== object.bytes) {
    throw new Mismatch(
      `The receipt of fragment ${artefacts.absoluteKey(object.name)} contradicts itself; start a new run.`,
    );
  }
}
