/**
 * Decoding with `avsc` through a reader schema pruned from the writer's own. Both schemas are written anew with names of ours
 * and without defaults, so that what the writer called its records cannot matter (AV-11), and longs come as BigInt (AV-02).
 */
import avro from 'avsc';
import type { AvroFile } from './avro-container.ts';
import { AvroCursor, AvroError } from './avro-cursor.ts';
import type { AvroRecord, AvroType } from './avro-schema.ts';
import { skipOf } from './avro-skip.ts';

/** What to keep of a record: field index → nested selection, or `'all'`. */
export interface Selection {
  readonly fields: ReadonlyMap<number, Selection | 'all'>;
}

/** A decoded record; its keys are `f<index of the writer's field>`. */
export type Decoded = Readonly<Record<string, unknown>>;

const bigLong = avro.types.LongType.__with({
  fromBuffer: (buffer: Buffer) => buffer.readBigInt64LE(),
  toBuffer: (value: bigint) => {
    const buffer = Buffer.alloc(8);
    buffer.writeBigInt64LE(value);
    return buffer;
  },
  fromJSON: BigInt,
  toJSON: Number,
  isValid: (value: unknown) => typeof value === 'bigint',
  compare: (a: bigint, b: bigint) => (a < b ? -1 : a > b ? 1 : 0),
});

/**
 * All records of a file, with what `selection` keeps. Each is first passed over by our own skipper, which proves that it lies
 * inside its block (`avsc` reads on past the end, and would follow a hostile count for ever), and both must end at one place.
 */
export function* projectRecords(file: AvroFile, writer: AvroRecord, selection: Selection): Generator<Decoded> {
  const writerType = avro.Type.forSchema(emit(writer, 'all', new Map()) as avro.Schema, options());
  const readerType = avro.Type.forSchema(emit(writer, selection, new Map()) as avro.Schema, options());
  const resolver = readerType.createResolver(writerType);
  const skip = skipOf(writer);
  for (const block of file.blocks()) {
    const cursor = new AvroCursor(block.data);
    for (let left = block.count; left > 0; left--) {
      const start = cursor.pos;
      skip(cursor);
      const read = readerType.decode(block.data, start, resolver) as { value: unknown; offset: number };
      if (read.offset !== cursor.pos) throw new AvroError('two readings of a record end at different places');
      yield read.value as Decoded;
    }
    if (cursor.pos !== cursor.end) throw new AvroError('a block holds more than its records');
  }
}

function options(): Partial<avro.ForSchemaOptions> {
  return { registry: { long: bigLong }, wrapUnions: true } as Partial<avro.ForSchemaOptions>;
}

/** A schema of ours for a type; a record is spelled out once and named after that. */
function emit(type: AvroType, selection: Selection | 'all', names: Map<AvroType, string>): unknown {
  switch (type.kind) {
    case 'array':
      return { type: 'array', items: emit(type.items, selection, names) };
    case 'map':
      return { type: 'map', values: emit(type.values, selection, names) };
    case 'union':
      return type.branches.map((branch) => emit(branch, selection, names));
    case 'record':
    case 'fixed':
    case 'enum':
      return names.get(type) ?? emitNamed(type, selection, names);
    default:
      return type.kind;
  }
}

function emitNamed(type: AvroType, selection: Selection | 'all', names: Map<AvroType, string>): unknown {
  const name = `t${ordinalOf(type)}`;
  names.set(type, name);
  if (type.kind === 'fixed') return { type: 'fixed', name, size: type.size };
  if (type.kind === 'enum') {
    return {
      type: 'enum',
      name,
      symbols: Array.from({ length: Math.max(type.symbols, 1) }, (_, index) => `s${index}`),
    };
  }
  const fields = (type as AvroRecord).fields.flatMap((field, index) => {
    const kept = selection === 'all' ? 'all' : selection.fields.get(index);
    return kept === undefined ? [] : [{ name: `f${index}`, type: emit(field.type, kept, names) }];
  });
  return { type: 'record', name, fields };
}

/** Reader and writer schema must call a record by one name. */
const ordinals = new WeakMap<AvroType, number>();
let lastOrdinal = 0;

function ordinalOf(type: AvroType): number {
  const known = ordinals.get(type);
  if (known !== undefined) return known;
  ordinals.set(type, ++lastOrdinal);
  return lastOrdinal;
}

/** The value in a union that `avsc` wrapped as `{<branch>: value}`. */
function unwrapUnion(type: AvroType, value: unknown): unknown {
  if (type.kind !== 'union' || value === null || typeof value !== 'object') return value;
  return Object.values(value)[0];
}

/** The value of a field, out of its union; null where the writer does not have the field. */
export function projectedValue(record: AvroRecord, decoded: Decoded, index: number): unknown {
  const field = record.fields[index];
  return field === undefined ? null : unwrapUnion(field.type, decoded[`f${index}`]);
}

/** A text, which may be declared as bytes; empty for null. */
export function projectedText(value: unknown): string {
  if (value === null) return '';
  if (typeof value === 'string') return value;
  if (value instanceof Uint8Array) return Buffer.from(value).toString();
  throw new AvroError('a text has an unexpected type');
}
