/** Subjects: reading manifests for the paths of their live entries. Deflate, 20 columns of statistics, made once and kept. */
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import avro from 'avsc';
import { ReferenceSink } from '#functions/scan/reference-sink.ts';
import { scanManifest } from '#functions/scan/scan-manifest.ts';
import { createKeyHasher } from '#shared/filter/key-hash.ts';
import { openAvroFile } from '#shared/iceberg/avro-container.ts';
import { MadeUpTable } from '../support/made-up-table.ts';
import { planOf } from '../support/mark-world.ts';
import { plannedManifest } from '../support/stat-manifest.ts';
import { cpuPerItem, type Subject, serveSubjects } from './measure.ts';
import { nativeScan } from './native/native-scan.ts';

const ENTRIES = 16_000;
const MANIFESTS = 12;
const COLUMNS = 20;
/** A worker reads a million entries: what the first of them cost in compiling is little of it. */
const PASSES = 5;

/** Paths of the manifests, written at the first use. */
export function cachedManifests(): string[] {
  const folder = join(tmpdir(), 'icesweep-bench');
  mkdirSync(folder, { recursive: true });
  const table = new MadeUpTable({
    files: ENTRIES * MANIFESTS,
    layout: 'hashed',
    isOrphan: () => false,
    entriesPerManifest: ENTRIES,
    columns: COLUMNS,
  });
  return Array.from({ length: MANIFESTS }, (_, number) => {
    const path = join(folder, `manifest-v2-${ENTRIES}x${COLUMNS}-${number}.avro`);
    if (!existsSync(path)) {
      writeFileSync(`${path}.part`, table.manifest(number));
      renameSync(`${path}.part`, path);
    }
    return path;
  });
}

const ours: Subject = async () => {
  const bodies = cachedManifests().map((path) => readFileSync(path));
  const plan = planOf();
  const sink = new ReferenceSink(plan, await createKeyHasher(plan.salt), [], []);
  const manifest = plannedManifest('wh/t/metadata/m.avro', ENTRIES);
  scanManifest(manifest, bodies[0] as Buffer, sink);
  const value = await cpuPerItem(ENTRIES * MANIFESTS * PASSES, () => {
    for (let pass = 0; pass < PASSES; pass++) for (const body of bodies) scanManifest(manifest, body, sink);
  });
  return { value };
};

/** Every field decoded, paths kept as strings: what a reader does that knows nothing of projection. */
const naive: Subject = async () => {
  const bodies = cachedManifests().map((path) => readFileSync(path));
  const long = avro.types.LongType.__with({
    fromBuffer: (buffer: Buffer) => buffer.readBigInt64LE(),
    toBuffer: (value: bigint) => {
      const buffer = Buffer.alloc(8);
      buffer.writeBigInt64LE(BigInt(value));
      return buffer;
    },
    fromJSON: BigInt,
    toJSON: String,
    isValid: (value: unknown) => typeof value === 'bigint',
    compare: (a: bigint, b: bigint) => (a < b ? -1 : a > b ? 1 : 0),
  });
  const paths = new Set<string>();
  const read = (body: Buffer): void => {
    const file = openAvroFile(body);
    const type = avro.Type.forSchema(file.schema as avro.Schema, { registry: { long }, wrapUnions: 'never' } as object);
    for (const { count, data } of file.blocks()) {
      let at = 0;
      for (let left = count; left > 0; left--) {
        const entry = type.decode(data, at) as {
          value: { status: number; data_file: { file_path: string } };
          offset: number;
        };
        at = entry.offset;
        if (entry.value.status !== 2) paths.add(entry.value.data_file.file_path);
      }
    }
  };
  read(bodies[0] as Buffer);
  const value = await cpuPerItem(ENTRIES * MANIFESTS * PASSES, () => {
    for (let pass = 0; pass < PASSES; pass++) {
      paths.clear();
      for (const body of bodies) read(body);
    }
  });
  return { value, facts: { paths: paths.size } };
};

const native: Subject = async () => ({ value: await nativeScan(cachedManifests(), ENTRIES * MANIFESTS) });

if (import.meta.main) await serveSubjects({ ours, naive, native });
