/**
 * Passes over Avro values without decoding them. Column statistics are nine tenths of a manifest entry and never needed; 64-bit
 * numbers among them are never turned into doubles.
 */
import { type AvroCursor, AvroError } from './avro-cursor.ts';
import { type AvroRecord, type AvroType, isEmptyType } from './avro-schema.ts';

export type Step = (cursor: AvroCursor) => void;

const skips = new WeakMap<AvroType, Step>();

/** The step that passes over one value of `type`. Made once per type; a type that contains itself meets its own step. */
export function skipOf(type: AvroType): Step {
  const known = skips.get(type);
  if (known !== undefined) return known;
  let real: Step | undefined;
  skips.set(type, (cursor) => (real as Step)(cursor));
  real = makeSkip(type);
  skips.set(type, real);
  return real;
}

function makeSkip(type: AvroType): Step {
  switch (type.kind) {
    case 'null':
      return () => {};
    case 'boolean':
      return (cursor) => cursor.skip(1);
    case 'int':
    case 'long':
    case 'enum':
      return (cursor) => cursor.skipVarint();
    case 'float':
      return (cursor) => cursor.skip(4);
    case 'double':
      return (cursor) => cursor.skip(8);
    case 'bytes':
    case 'string':
      return (cursor) => cursor.skipBytes();
    case 'fixed':
      return (cursor) => cursor.skip(type.size);
    case 'union':
      return skipUnion(type.branches.map(skipOf));
    case 'array':
      return skipBlocks(type.items, itemsSkip(type.items));
    case 'map':
      return skipBlocks({ kind: 'string' }, skipMapEntries(skipOf(type.values)));
    case 'record':
      return inOrder(type.fields.filter((field) => !isEmptyType(field.type)).map((field) => skipOf(field.type)));
  }
}

/** Steps one after another. */
export function inOrder(steps: readonly Step[]): Step {
  if (steps.length === 0) return () => {};
  if (steps.length === 1) return steps[0] as Step;
  if (steps.length === 2) {
    const [first, second] = steps as [Step, Step];
    return (cursor) => {
      first(cursor);
      second(cursor);
    };
  }
  return (cursor) => {
    for (const step of steps) step(cursor);
  };
}

function skipUnion(branches: readonly Step[]): Step {
  return (cursor) => unionBranch(branches, cursor)(cursor);
}

/** The step of the branch that the data names. */
export function unionBranch(branches: readonly Step[], cursor: AvroCursor): Step {
  const branch = branches[cursor.varint()];
  if (branch === undefined) throw new AvroError('a union names a branch that its schema does not have');
  return branch;
}

/** Items without bytes cost a reader time and nothing else. */
const MAX_EMPTY_ITEMS = 65_536;

type SkipMany = (cursor: AvroCursor, count: number) => void;

/** Arrays and maps come in blocks. A negative count is followed by the block's size, so that it is passed over at once. */
function skipBlocks(item: AvroType, skipMany: SkipMany): Step {
  const empty = isEmptyType(item);
  return (cursor) => {
    for (let count = cursor.varint(); count !== 0; count = cursor.varint()) {
      if (count < 0) cursor.skip(cursor.varint());
      else if (!empty) skipMany(cursor, count);
      else if (count > MAX_EMPTY_ITEMS) throw new AvroError('an array claims too many items that take no bytes');
    }
  };
}

function skipMapEntries(value: Step): SkipMany {
  return (cursor, count) => {
    for (let left = count; left > 0; left--) {
      cursor.skipBytes();
      value(cursor);
    }
  };
}

/** Maps with integer keys are arrays of small records: those of numbers, and of number and bytes, get loops of their own. */
function itemsSkip(items: AvroType): SkipMany {
  const numbers = numbersIn(items);
  if (numbers > 0) return (cursor, count) => cursor.skipVarints(count * numbers);
  if (isNumberAndBytes(items)) return (cursor, count) => cursor.skipNumbersAndBytes(count);
  const skip = skipOf(items);
  return (cursor, count) => {
    for (let left = count; left > 0; left--) skip(cursor);
  };
}

function isNumber(type: AvroType): boolean {
  return type.kind === 'int' || type.kind === 'long' || type.kind === 'enum';
}

/** How many numbers an item is made of; 0 where it holds anything else. */
function numbersIn(type: AvroType): number {
  if (isNumber(type)) return 1;
  return type.kind === 'record' && type.fields.every((field) => isNumber(field.type)) ? type.fields.length : 0;
}

function isNumberAndBytes(type: AvroType): type is AvroRecord {
  if (type.kind !== 'record' || type.fields.length !== 2) return false;
  const [key, value] = type.fields.map((field) => field.type) as [AvroType, AvroType];
  return isNumber(key) && (value.kind === 'bytes' || value.kind === 'string');
}
