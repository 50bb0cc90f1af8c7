/** A read position in Avro binary data. Every read is checked against the end; running over it throws {@link AvroError}. */

/** A fault in Avro data. Readers turn it into MetadataUnreadableError with the file's name. */
export class AvroError extends Error {
  override readonly name = 'AvroError';
}

/** A part of a buffer that is pointed at without a view: making one for every path of a manifest costs more than reading it. */
export class ByteSpan {
  bytes: Buffer = Buffer.alloc(0);
  start = 0;
  end = 0;

  get length(): number {
    return this.end - this.start;
  }

  /** A view, not a copy. */
  view(): Buffer {
    return this.bytes.subarray(this.start, this.end);
  }
}

export class AvroCursor {
  readonly bytes: Buffer;
  readonly end: number;
  pos: number;
  readonly #words: DataView;

  constructor(bytes: Buffer, pos = 0, end = bytes.length) {
    this.bytes = bytes;
    this.#words = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.pos = pos;
    this.end = end;
  }

  byte(): number {
    if (this.pos >= this.end) throw new AvroError('the data ends inside a value');
    return this.bytes[this.pos++] as number;
  }

  /** An int or long, skipped: ids above 2^53 are passed over unharmed. */
  skipVarint(): void {
    const { bytes } = this;
    let pos = this.pos;
    const limit = Math.min(this.end, pos + 10);
    while (pos < limit) {
      if ((bytes[pos++] as number) < 0x80) {
        this.pos = pos;
        return;
      }
    }
    throw new AvroError(limit === this.end ? 'the data ends inside a number' : 'a number has more than 64 bits');
  }

  /** Many numbers in a row: counts of columns, split offsets. Four bytes at a time, of which those below 0x80 end a number. */
  skipVarints(count: number): void {
    const { bytes, end } = this;
    const words = this.#words;
    let pos = this.pos;
    let left = count;
    for (; left >= 4 && pos + 4 <= end; pos += 4) {
      const ends = ~words.getUint32(pos, true) & 0x80808080;
      left -= Math.imul(ends >>> 7, 0x01010101) >>> 24;
    }
    for (; left > 0 && pos < end; pos++) if ((bytes[pos] as number) < 0x80) left--;
    if (left > 0) throw new AvroError('the data ends inside a number');
    this.pos = pos;
  }

  /** Many pairs of a number and bytes: lower and upper bounds of columns. Short ones, the most by far, cost no call. */
  skipNumbersAndBytes(count: number): void {
    const { bytes, end } = this;
    let pos = this.pos;
    for (let left = count; left > 0; left--) {
      if (pos + 2 <= end && (bytes[pos] as number) < 0x80) {
        const length = bytes[pos + 1] as number;
        // Even: not negative. One byte: at most 63.
        if (length < 0x80 && (length & 1) === 0 && pos + 2 + (length >> 1) <= end) {
          pos += 2 + (length >> 1);
          continue;
        }
      }
      this.pos = pos;
      this.skipVarint();
      this.skipBytes();
      pos = this.pos;
    }
    this.pos = pos;
  }

  /** An int or long that must be exact as a JavaScript number: lengths, counts, branch indexes, status. */
  varint(): number {
    const first = this.byte();
    if (first < 0x80) return (first >>> 1) ^ -(first & 1);
    let value = first & 0x7f;
    let scale = 0x80;
    for (let count = 1; count < 10; count++) {
      const byte = this.byte();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) {
        if (value > Number.MAX_SAFE_INTEGER) throw new AvroError('a length or count is out of range');
        return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
      }
      scale *= 0x80;
    }
    throw new AvroError('a number has more than 64 bits');
  }

  skip(length: number): void {
    if (length < 0 || length > this.end - this.pos) throw new AvroError('a length points past the end of the data');
    this.pos += length;
  }

  /** A view on the next `length` bytes, not a copy. */
  take(length: number): Buffer {
    const start = this.pos;
    this.skip(length);
    return this.bytes.subarray(start, this.pos);
  }

  /** Length-prefixed bytes or string. */
  skipBytes(): void {
    this.skip(this.varint());
  }

  takeBytes(): Buffer {
    return this.take(this.varint());
  }

  /** Points `span` at the length-prefixed bytes that come next. */
  takeSpan(span: ByteSpan): void {
    const length = this.varint();
    span.bytes = this.bytes;
    span.start = this.pos;
    this.skip(length);
    span.end = this.pos;
  }
}
