/** Snappy's raw block format (google/snappy format_description.txt), decompression only. */
import { AvroError } from './avro-cursor.ts';

/** A copy of up to 64 bytes takes at least two, so no honest block grows more than this. */
const MAX_GROWTH = 64;

/** Decompresses one block. The promised length is checked against `maxBytes` and against what `input` can hold before memory is taken. */
export function snappyDecompress(input: Uint8Array, maxBytes: number): Buffer {
  const preamble = readLength(input);
  if (preamble.length > maxBytes || preamble.length > input.length * MAX_GROWTH) {
    throw new AvroError(`a snappy block promises ${preamble.length} bytes`);
  }
  const output = Buffer.alloc(preamble.length);
  let read = preamble.next;
  let written = 0;
  while (read < input.length) {
    const tag = input[read++] as number;
    if ((tag & 3) === 0) {
      const literal = literalLength(input, tag, read);
      if (literal.next + literal.length > input.length || written + literal.length > output.length) throw damaged();
      output.set(input.subarray(literal.next, literal.next + literal.length), written);
      read = literal.next + literal.length;
      written += literal.length;
    } else {
      const copy = copyOf(input, tag, read);
      if (copy.offset === 0 || copy.offset > written || written + copy.length > output.length) throw damaged();
      // A copy may overlap what it writes, so it goes byte by byte.
      for (let i = 0; i < copy.length; i++, written++) output[written] = output[written - copy.offset] as number;
      read = copy.next;
    }
  }
  if (written !== output.length) throw damaged();
  return output;
}

function damaged(): AvroError {
  return new AvroError('a snappy block is damaged');
}

function readLength(input: Uint8Array): { readonly length: number; readonly next: number } {
  let length = 0;
  for (let at = 0; at < 5 && at < input.length; at++) {
    const byte = input[at] as number;
    length += (byte & 0x7f) * 2 ** (7 * at);
    if (byte < 0x80) return { length, next: at + 1 };
  }
  throw damaged();
}

function literalLength(input: Uint8Array, tag: number, at: number): { readonly length: number; readonly next: number } {
  const short = tag >>> 2;
  if (short < 60) return { length: short + 1, next: at };
  const width = short - 59;
  return { length: littleEndian(input, at, width) + 1, next: at + width };
}

function copyOf(
  input: Uint8Array,
  tag: number,
  at: number,
): { readonly offset: number; readonly length: number; readonly next: number } {
  if ((tag & 3) === 1) {
    const offset = ((tag >>> 5) << 8) | littleEndian(input, at, 1);
    return { offset, length: ((tag >>> 2) & 7) + 4, next: at + 1 };
  }
  const width = (tag & 3) === 2 ? 2 : 4;
  return { offset: littleEndian(input, at, width), length: (tag >>> 2) + 1, next: at + width };
}

function littleEndian(input: Uint8Array, at: number, width: number): number {
  if (at + width > input.length) throw damaged();
  let value = 0;
  for (let i = width - 1; i >= 0; i--) value = value * 256 + (input[at + i] as number);
  return value;
}
