/** What the table writer knows of its table. `referenced()` is computed from this model alone, never by the reader under test. */

/** A file that was written: where it lies and how the table's metadata spells it. */
export interface WrittenFile {
  readonly bucket: string;
  readonly key: string;
  readonly recorded: string;
}

export interface WrittenEntry {
  /** 0 EXISTING, 1 ADDED, 2 DELETED. */
  readonly status: 0 | 1 | 2;
  /** 0 data, 1 position deletes (deletion vectors too), 2 equality deletes. */
  readonly content: 0 | 1 | 2;
  readonly file: WrittenFile;
  readonly format: string;
  readonly bytes: number;
  readonly partition: readonly (string | null)[];
  readonly referencedDataFile?: WrittenFile;
  readonly contentOffset?: number;
}

export interface WrittenManifest extends WrittenFile {
  readonly length: number;
  readonly content: 0 | 1;
  readonly specId: number;
  readonly sequenceNumber: number;
  readonly snapshotId: bigint;
  readonly entries: readonly WrittenEntry[];
}

export interface WrittenSnapshot {
  readonly id: bigint;
  readonly parentId?: bigint;
  readonly sequenceNumber: number;
  readonly timestampMs: number;
  readonly operation: string;
  readonly summary: Readonly<Record<string, string>>;
  /** Absent where the snapshot lists its manifests inline (v1). */
  readonly list?: WrittenFile;
  readonly manifests: readonly WrittenManifest[];
}

export interface WrittenRef {
  readonly type: 'branch' | 'tag';
  readonly snapshotId: bigint;
}

/** The entries that stay when a manifest is carried into another snapshot by rewriting: DELETED ones are dropped. */
export function liveEntries(manifest: WrittenManifest): readonly WrittenEntry[] {
  return manifest.entries.filter(({ status }) => status !== 2);
}

/** Files that a snapshot names: its list, its manifests, their live entries and what deletion vectors refer to. */
export function filesOf(snapshot: WrittenSnapshot): WrittenFile[] {
  const entries = snapshot.manifests.flatMap(liveEntries);
  return [
    ...(snapshot.list === undefined ? [] : [snapshot.list]),
    ...snapshot.manifests,
    ...entries.map(({ file }) => file),
    ...entries.flatMap(({ referencedDataFile }) => referencedDataFile ?? []),
  ];
}

/** Reproducible pseudo-random numbers (mulberry32), so that a failing table can be written again from its seed. */
export class Dice {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** 0 ≤ n < 2^32. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return (t ^ (t >>> 14)) >>> 0;
  }

  below(limit: number): number {
    return this.next() % limit;
  }

  uuid(): string {
    const hex = Array.from({ length: 4 }, () => this.next().toString(16).padStart(8, '0')).join('');
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20)}`;
  }

  /** A random 63-bit id, as Iceberg's are. */
  snapshotId(): bigint {
    return (BigInt(this.next()) << 31n) | BigInt(this.next() >>> 1) | (1n << 55n);
  }

  bytes(length: number): Buffer {
    return Buffer.from(Array.from({ length }, () => this.below(256)));
  }
}
