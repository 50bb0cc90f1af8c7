/** Writes Avro container files for the table writer: header, blocks, the four codecs. Shares nothing with the reader under test. */
import { crc32, deflateRawSync, zstdCompressSync } from 'node:zlib';
import avro from 'avsc';

export type Codec = 'null' | 'deflate' | 'snappy' | 'zstandard';

export interface AvroWriteOptions {
  readonly codec: Codec;
  /** Further keys of the file header. */
  readonly header: Readonly<Record<string, string>>;
  readonly recordsPerBlock?: number;
  /** 16 bytes; a fixed marker keeps files reproducible. */
  readonly sync?: Buffer;
}

/** Longs are bigint throughout: real snapshot ids do not fit a double. */
const bigLong = avro.types.LongType.__with({
  fromBuffer: (buffer: Buffer) => buffer.readBigInt64LE(),
  toBuffer: (value: bigint | number) => {
    const buffer = Buffer.alloc(8);
    buffer.writeBigInt64LE(BigInt(value));
    return buffer;
  },
  fromJSON: BigInt,
  toJSON: String,
  isValid: (value: unknown) => typeof value === 'bigint' || Number.isInteger(value),
  compare: (a: bigint, b: bigint) => (a < b ? -1 : a > b ? 1 : 0),
});

/** One container file of `records`. `schema` goes into the header as it is, with its field ids. */
export function writeAvroFile(schema: object, records: readonly object[], options: AvroWriteOptions): Buffer {
  const registry = { long: bigLong };
  const type = avro.Type.forSchema(structuredClone(schema) as avro.Schema, { registry, wrapUnions: 'never' } as object);
  const sync = options.sync ?? Buffer.from('icesweep-marker!');
  const size = options.recordsPerBlock ?? 100;
  const parts = [header(schema, options), sync];
  for (let start = 0; start < records.length; start += size) {
    const block = records.slice(start, start + size);
    const data = compress(Buffer.concat(block.map((record) => type.toBuffer(record))), options.codec);
    parts.push(zigzag(block.length), zigzag(data.length), data, sync);
  }
  return Buffer.concat(parts);
}

function header(schema: object, { codec, header: extra }: AvroWriteOptions): Buffer {
  const entries = Object.entries({ ...extra, 'avro.schema': JSON.stringify(schema), 'avro.codec': codec });
  const pairs = entries.flatMap(([key, value]) => [lengthPrefixed(key), lengthPrefixed(value)]);
  return Buffer.concat([Buffer.from('Obj\x01', 'latin1'), zigzag(entries.length), ...pairs, zigzag(0)]);
}

function compress(data: Buffer, codec: Codec): Buffer {
  if (codec === 'deflate') return deflateRawSync(data);
  if (codec === 'zstandard') return zstdCompressSync(data);
  if (codec === 'snappy') return Buffer.concat([snappyCompress(data), uint32(crc32(data))]);
  return data;
}

/** Literals, and a back reference wherever the last 64 bytes repeat: small, and both kinds of element occur. */
export function snappyCompress(data: Buffer): Buffer {
  const parts = [unsigned(data.length)];
  let literalStart = 0;
  let at = 0;
  const flush = (end: number) => {
    for (let start = literalStart; start < end; start += 60) {
      const literal = data.subarray(start, Math.min(start + 60, end));
      parts.push(Buffer.from([(literal.length - 1) << 2]), literal);
    }
  };
  while (at < data.length) {
    const probe = data.subarray(at, at + 8);
    const earlier = at < 8 || probe.length < 8 ? -1 : data.subarray(Math.max(0, at - 2000), at).lastIndexOf(probe);
    if (earlier < 0) {
      at++;
      continue;
    }
    flush(at);
    const offset = Math.min(2000, at) - earlier;
    parts.push(Buffer.from([((8 - 1) << 2) | 2, offset & 0xff, offset >>> 8]));
    at += 8;
    literalStart = at;
  }
  flush(data.length);
  return Buffer.concat(parts);
}

function lengthPrefixed(text: string): Buffer {
  const bytes = Buffer.from(text);
  return Buffer.concat([zigzag(bytes.length), bytes]);
}

/** Avro's int and long. */
export function zigzag(value: number | bigint): Buffer {
  const wide = BigInt(value);
  return unsigned(BigInt.asUintN(64, (wide << 1n) ^ (wide >> 63n)));
}

function unsigned(value: number | bigint): Buffer {
  const bytes: number[] = [];
  let rest = BigInt(value);
  for (; rest >= 0x80n; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
  return Buffer.from([...bytes, Number(rest)]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
