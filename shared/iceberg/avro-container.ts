/** Avro object container files (Avro spec, "Object Container Files"): framing only, entries stay bytes. */
import { codecOf, giveBack } from './avro-codecs.ts';
import { AvroCursor, AvroError } from './avro-cursor.ts';

/** What one block may inflate to. Some writers put a whole manifest into one block, so this is generous. */
export const MAX_BLOCK_BYTES = 256 * 1024 * 1024;

const MAGIC = Buffer.from('Obj\x01', 'latin1');
const SYNC_BYTES = 16;

export interface AvroFile {
  readonly header: ReadonlyMap<string, Buffer>;
  /** The writer's schema, parsed. */
  readonly schema: unknown;
  blocks(maxBlockBytes?: number): Generator<AvroBlock>;
}

export interface AvroBlock {
  readonly count: number;
  readonly data: Buffer;
  /** For readers that keep no view on `data`: frees its memory without waiting for the collector. */
  release(): void;
}

/** True for bytes that begin like an Avro file: tells a pending manifest from something else of that name. */
export function isAvroFile(bytes: Uint8Array): boolean {
  return bytes.length >= MAGIC.length && MAGIC.every((byte, index) => bytes[index] === byte);
}

/** Reads header and schema. Counts, sizes and sync markers of the blocks are checked while they are read. */
export function openAvroFile(bytes: Uint8Array): AvroFile {
  if (!isAvroFile(bytes)) throw new AvroError('it is no Avro file');
  const cursor = new AvroCursor(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), MAGIC.length);
  const header = readHeader(cursor);
  const sync = cursor.take(SYNC_BYTES);
  const start = cursor.pos;
  const decompress = codecOf(header.get('avro.codec')?.toString());
  const schema = header.get('avro.schema');
  if (schema === undefined) throw new AvroError('it has no schema');
  return {
    header,
    schema: JSON.parse(schema.toString()),
    *blocks(maxBlockBytes = MAX_BLOCK_BYTES) {
      const at = new AvroCursor(cursor.bytes, start);
      while (at.pos < at.end) {
        const count = at.varint();
        const size = at.varint();
        if (count < 0 || size < 0) throw new AvroError('a block has a negative count or size');
        const block = at.take(size);
        if (!at.take(SYNC_BYTES).equals(sync)) throw new AvroError('a block does not end with the sync marker');
        const data = decompress(block, maxBlockBytes);
        yield { count, data, release: () => giveBack(data, cursor.bytes) };
      }
    },
  };
}

/** The file metadata map. A negative count is followed by the size of its block. */
function readHeader(cursor: AvroCursor): Map<string, Buffer> {
  const header = new Map<string, Buffer>();
  for (let count = cursor.varint(); count !== 0; count = cursor.varint()) {
    if (count < 0) cursor.skipVarint();
    for (let left = Math.abs(count); left > 0; left--) header.set(cursor.takeBytes().toString(), cursor.takeBytes());
  }
  return header;
}
