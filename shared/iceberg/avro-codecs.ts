/** The four block codecs of Avro files that Iceberg writes. Synchronous: a manifest is one short burst of CPU. */
import { crc32, inflateRawSync, zstdDecompressSync } from 'node:zlib';
import { AvroError } from './avro-cursor.ts';
import { snappyDecompress } from './snappy.ts';

export type Decompress = (block: Buffer, maxBytes: number) => Buffer;

/**
 * Room for the block that Avro writers make, 64,000 bytes and the entry that filled it. Smaller means chunks to be joined; from
 * 128 KB on the allocator maps fresh pages for each, which costs a third more time in all (measured).
 */
const CHUNK_BYTES = 72 * 1024;

/**
 * Gives an inflated block's memory back at once: left to the collector, the blocks of one manifest cost its threads a quarter of
 * the whole scan (measured). Views on the block are empty from then on. Only a chunk of zlib's own is given back, never the file
 * that a stored block is a part of, and never a pool, which has another size.
 */
export function giveBack(block: Buffer, file: Buffer): void {
  const { buffer } = block;
  if (buffer === file.buffer || buffer.byteLength !== CHUNK_BYTES || !(buffer instanceof ArrayBuffer)) return;
  // Node 20 does not have it.
  buffer.transfer?.(0);
}

const codecs: Readonly<Record<string, Decompress>> = {
  null: (block, maxBytes) => {
    if (block.length > maxBytes) throw new AvroError(`a block holds more than ${maxBytes} bytes`);
    return block;
  },
  deflate: (block, maxBytes) => inflateRawSync(block, { chunkSize: CHUNK_BYTES, maxOutputLength: maxBytes }),
  snappy: snappyWithChecksum,
  zstandard: (block, maxBytes) => zstdDecompressSync(block, { chunkSize: CHUNK_BYTES, maxOutputLength: maxBytes }),
};

/** The decompressor for `avro.codec`; absent means `null`. Any other name fails the file, hence the run (DESIGN section 3). */
export function codecOf(name: string | undefined): Decompress {
  const codec =
    name === undefined || name === '' ? codecs['null'] : Object.hasOwn(codecs, name) ? codecs[name] : undefined;
  if (codec === undefined) throw new AvroError(`codec ${name} is not known`);
  return codec;
}

/** Avro spec, "snappy": the block ends with the big-endian CRC-32 of the uncompressed data. */
function snappyWithChecksum(block: Buffer, maxBytes: number): Buffer {
  if (block.length < 4) throw new AvroError('a snappy block has no checksum');
  const data = snappyDecompress(block.subarray(0, -4), maxBytes);
  if (crc32(data) !== block.readUInt32BE(block.length - 4)) throw new AvroError('a snappy block fails its checksum');
  return data;
}
