/**
 * Manifests of any size, as Spark writes them: v2, deflate, blocks of 64,000 bytes, statistics of many columns. Encoded by
 * hand, so that a million entries take seconds.
 */
import { deflateRawSync } from 'node:zlib';
import type { PlannedManifest } from '#shared/run/plan.ts';
import { zigzag } from './table-writer-avro.ts';

export interface StatEntry {
  readonly path: string;
  /** 0 EXISTING, 1 ADDED, 2 DELETED. */
  readonly status?: number;
  readonly content?: number;
  readonly referencedDataFile?: string;
}

export interface StatManifestOptions {
  readonly columns?: number;
  readonly codec?: 'null' | 'deflate';
  readonly level?: number;
}

const BLOCK_BYTES = 64_000;
const TEXT = 'bound-of';
const SYNC = Buffer.from('icesweep-marker!');

const map = (key: number, value: number, valueType: string) => [
  'null',
  {
    type: 'array',
    logicalType: 'map',
    items: {
      type: 'record',
      name: `k${key}_v${value}`,
      fields: [
        { name: 'key', type: 'int', 'field-id': key },
        { name: 'value', type: valueType, 'field-id': value },
      ],
    },
  },
];

const SCHEMA = {
  type: 'record',
  name: 'manifest_entry',
  fields: [
    { name: 'status', type: 'int', 'field-id': 0 },
    { name: 'snapshot_id', type: ['null', 'long'], 'field-id': 1 },
    { name: 'sequence_number', type: ['null', 'long'], 'field-id': 3 },
    {
      name: 'data_file',
      'field-id': 2,
      type: {
        type: 'record',
        name: 'r2',
        fields: [
          { name: 'content', type: 'int', 'field-id': 134 },
          { name: 'file_path', type: 'string', 'field-id': 100 },
          { name: 'file_format', type: 'string', 'field-id': 101 },
          { name: 'partition', type: { type: 'record', name: 'r102', fields: [] }, 'field-id': 102 },
          { name: 'record_count', type: 'long', 'field-id': 103 },
          { name: 'file_size_in_bytes', type: 'long', 'field-id': 104 },
          { name: 'column_sizes', type: map(117, 118, 'long'), 'field-id': 108 },
          { name: 'value_counts', type: map(119, 120, 'long'), 'field-id': 109 },
          { name: 'null_value_counts', type: map(121, 122, 'long'), 'field-id': 110 },
          { name: 'lower_bounds', type: map(126, 127, 'bytes'), 'field-id': 125 },
          { name: 'upper_bounds', type: map(129, 130, 'bytes'), 'field-id': 128 },
          { name: 'referenced_data_file', type: ['null', 'string'], 'field-id': 143 },
        ],
      },
    },
  ],
};

/** The bytes of one manifest. */
export function statManifest(entries: Iterable<StatEntry>, options: StatManifestOptions = {}): Buffer {
  const codec = options.codec ?? 'deflate';
  const parts = [header(codec), SYNC];
  const block = Buffer.allocUnsafe(BLOCK_BYTES * 2 + (options.columns ?? 0) * 128 + 65_536);
  let length = 0;
  let count = 0;
  const flush = () => {
    if (count === 0) return;
    const raw = block.subarray(0, length);
    const data = codec === 'null' ? Buffer.from(raw) : deflateRawSync(raw, { level: options.level ?? 6 });
    parts.push(zigzag(count), zigzag(data.length), data, SYNC);
    length = 0;
    count = 0;
  };
  const statistics = new Statistics(options.columns ?? 0);
  for (const entry of entries) {
    length = writeEntry(block, length, entry, statistics);
    count++;
    if (length >= BLOCK_BYTES) flush();
  }
  flush();
  return Buffer.concat(parts);
}

/** How the plan names such a manifest. */
export function plannedManifest(key: string, entries?: number): PlannedManifest {
  return {
    path: `s3://b/${key}`,
    bucket: 'b',
    key,
    content: 'data',
    kind: 'pinned',
    ...(entries === undefined ? {} : { entries }),
  };
}

function header(codec: string): Buffer {
  const pairs = Object.entries({ 'avro.schema': JSON.stringify(SCHEMA), 'avro.codec': codec, 'format-version': '2' });
  return Buffer.concat([
    Buffer.from('Obj\x01', 'latin1'),
    zigzag(pairs.length),
    ...pairs.flat().flatMap((text) => [zigzag(Buffer.byteLength(text)), Buffer.from(text)]),
    zigzag(0),
  ]);
}

function writeEntry(block: Buffer, start: number, entry: StatEntry, statistics: Statistics): number {
  let at = writeVarint(block, start, (entry.status ?? 1) * 2);
  block[at++] = 2;
  // A random 63-bit snapshot id, as writers make them: ten bytes.
  at += block.write('\u00a3\u0091\u00b2\u00c4\u00d5\u00e6\u00f7\u0088\u0099\u0001', at, 'latin1');
  block[at++] = 0;
  at = writeVarint(block, at, (entry.content ?? 0) * 2);
  at = writeString(block, at, entry.path);
  at = writeString(block, at, 'PARQUET');
  at = writeVarint(block, at, 2 * (100_000 + (at % 977)));
  at = writeVarint(block, at, 2 * (130_000_000 + (at % 99_991)));
  at = statistics.write(block, at);
  if (entry.referencedDataFile === undefined) block[at++] = 0;
  else {
    block[at++] = 2;
    at = writeString(block, at, entry.referencedDataFile);
  }
  return at;
}

function writeString(block: Buffer, start: number, text: string): number {
  const bytes = Buffer.byteLength(text);
  const at = writeVarint(block, start, bytes * 2);
  return at + block.write(text, at);
}

function writeVarint(block: Buffer, start: number, value: number): number {
  let at = start;
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) block[at++] = (rest & 0x7f) | 0x80;
  block[at++] = rest;
  return at;
}

/** Sizes and bounds that differ from entry to entry as much as real ones: half of each bound is shared. */
class Statistics {
  readonly #columns: number;
  #state = 88_172_645;

  constructor(columns: number) {
    this.#columns = columns;
  }

  write(block: Buffer, start: number): number {
    let at = start;
    if (this.#columns === 0) {
      block.fill(0, at, at + 5);
      return at + 5;
    }
    at = this.#array(block, at, (index) => writeVarint(block, index, 2 * (500_000 + (this.#next() % 4096))));
    const rows = 2 * (100_000 + (this.#next() % 65_536));
    at = this.#array(block, at, (index) => writeVarint(block, index, rows));
    at = this.#array(block, at, (index) => writeVarint(block, index, 2 * (this.#next() % 100)));
    for (let bounds = 0; bounds < 2; bounds++) {
      at = this.#array(block, at, (index, column) => this.#bound(block, index, column));
    }
    return at;
  }

  #array(block: Buffer, start: number, value: (at: number, column: number) => number): number {
    block[start] = 2;
    let at = writeVarint(block, start + 1, this.#columns * 2);
    for (let column = 1; column <= this.#columns; column++) at = value(writeVarint(block, at, column * 2), column);
    block[at++] = 0;
    return at;
  }

  /** Numbers of eight bytes, texts of sixteen: every other column. */
  #bound(block: Buffer, start: number, column: number): number {
    const length = column % 2 === 0 ? 8 : 16;
    const at = writeVarint(block, start, length * 2);
    block.writeUInt32LE(this.#next(), at);
    block.writeUInt32LE(0, at + 4);
    if (length === 16) block.write(TEXT, at + 8, 'latin1');
    return at + length;
  }

  #next(): number {
    this.#state ^= this.#state << 13;
    this.#state ^= this.#state >>> 17;
    this.#state ^= this.#state << 5;
    return this.#state >>> 0;
  }
}
