/**
 * Mutates true metadata and Avro bytes. A reader may fail cleanly or answer; it may not hang, run out of memory, throw anything else
 * than its own errors, or answer with fewer references than the file holds while the manifest list's counts say otherwise.
 */
import assert from 'node:assert/strict';
import { deflateRawSync } from 'node:zlib';
import { forEachEntry, readManifest } from '#shared/iceberg/manifest.ts';
import { readManifestList } from '#shared/iceberg/manifest-list.ts';
import { parseTableMetadata, peekTableIdentity } from '#shared/iceberg/metadata-json.ts';
import { directReferences } from '#shared/iceberg/reachability.ts';
import { TableWriter } from './table-writer.ts';
import { Dice } from './table-writer-model.ts';

export interface FuzzTally {
  readonly runs: number;
  readonly failedCleanly: number;
  readonly slowestMs: number;
}

interface Sample {
  readonly kind: 'metadata' | 'list' | 'manifest';
  readonly bytes: Buffer;
  /** Entries of a manifest, which its list would promise. */
  readonly entries: number;
}

const CLEAN = new Set(['MetadataUnreadableError', 'UnsupportedTableError']);

/** Runs `seeds` mutations, reproducible from their numbers. */
export async function fuzzReaders(firstSeed: number, seeds: number): Promise<FuzzTally> {
  const samples = await trueFiles();
  let failedCleanly = 0;
  let slowestMs = 0;
  for (let seed = firstSeed; seed < firstSeed + seeds; seed++) {
    const dice = new Dice(seed);
    const sample = samples[dice.below(samples.length)] as Sample;
    const started = performance.now();
    try {
      readMutated(sample, mutate(sample.bytes, dice), seed);
    } catch (error) {
      if (!CLEAN.has((error as Error).name))
        throw new Error(`seed ${seed} (${sample.kind}) broke a reader`, { cause: error });
      failedCleanly++;
    }
    slowestMs = Math.max(slowestMs, performance.now() - started);
  }
  return { runs: seeds, failedCleanly, slowestMs };
}

/** Every kind of file in every codec and version, from one writer. */
async function trueFiles(): Promise<Sample[]> {
  const samples: Sample[] = [];
  for (const formatVersion of [1, 2, 3] as const) {
    for (const codec of ['null', 'deflate', 'snappy', 'zstandard'] as const) {
      const objects = new Map<string, Uint8Array>();
      const sink = { put: (_bucket: string, key: string, bytes: Uint8Array) => objects.set(key, bytes) };
      const writer = new TableWriter(sink, { location: 's3://b/t', formatVersion, codec, partitionFields: ['p'] });
      await writer.append(7);
      await writer.overwrite(2);
      await writer.addStatistics();
      for (const [key, bytes] of objects) {
        const kind = key.endsWith('.json')
          ? 'metadata'
          : key.includes('/snap-')
            ? 'list'
            : key.endsWith('.avro')
              ? 'manifest'
              : null;
        if (kind !== null)
          samples.push({ kind, bytes: Buffer.from(bytes), entries: kind === 'manifest' ? count(bytes) : 0 });
      }
    }
  }
  return samples;
}

function count(bytes: Uint8Array): number {
  let entries = 0;
  forEachEntry(bytes, 'm', {}, () => entries++);
  return entries;
}

function readMutated({ kind, entries }: Sample, bytes: Buffer, seed: number): void {
  if (kind === 'metadata') {
    peekTableIdentity(bytes.subarray(0, 500));
    directReferences(parseTableMetadata(bytes, 'm'));
    return;
  }
  if (kind === 'list') {
    for (const row of readManifestList(bytes, 'l')) assert.ok(row.manifestPath.length > 0);
    return;
  }
  let seen = 0;
  forEachEntry(bytes, 'm', { entries }, () => seen++);
  assert.ok(seen >= entries, `seed ${seed}: ${seen} of ${entries} entries without an error`);
  let projected = 0;
  for (const _ of readManifest(bytes, 'm', { entries })) projected++;
  assert.equal(projected, seen, `seed ${seed}: two readers of one file disagree`);
}

function mutate(original: Buffer, dice: Dice): Buffer {
  const bytes = Buffer.from(original);
  const at = dice.below(bytes.length);
  switch (dice.below(8)) {
    case 0:
      return bytes.subarray(0, at);
    case 1:
      bytes[at] = dice.below(256);
      return bytes;
    case 2:
      for (let flips = 1 + dice.below(8); flips > 0; flips--) bytes[dice.below(bytes.length)] = dice.below(256);
      return bytes;
    case 3:
      return Buffer.concat([bytes.subarray(0, at), bytes.subarray(Math.min(bytes.length, at + 1 + dice.below(40)))]);
    case 4:
      return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at, at + dice.below(200)), bytes.subarray(at)]);
    case 5:
      // A varint of the largest value: a length or count that no file can hold.
      return Buffer.concat([bytes.subarray(0, at), Buffer.from('fffffffffffffffff701', 'hex'), bytes.subarray(at + 1)]);
    case 6:
      return Buffer.concat([bytes, dice.bytes(1 + dice.below(60))]);
    default:
      return Buffer.concat([bytes.subarray(0, at), deflateRawSync(Buffer.alloc(100_000)), bytes.subarray(at)]);
  }
}
