/** Picks single values out of a record while everything else is passed over. */
import { type AvroCursor, AvroError, type ByteSpan } from './avro-cursor.ts';
import { type AvroRecord, type AvroType, isEmptyType } from './avro-schema.ts';
import { inOrder, type Step, skipOf, unionBranch } from './avro-skip.ts';

/** Reads one record: fields with a capture are captured, the others skipped, in the writer's order. */
export function recordStep(record: AvroRecord, captures: ReadonlyMap<number, Step>): Step {
  const steps = record.fields.flatMap((field, index) => {
    const capture = captures.get(index);
    if (capture !== undefined) return [capture];
    return isEmptyType(field.type) ? [] : [skipOf(field.type)];
  });
  return inOrder(steps);
}

/** An int or long that fits a double; null where the writer left it out. */
export function captureNumber(type: AvroType, what: string, set: (value: number | null) => void): Step {
  return capture(type, what, (leaf) => {
    if (leaf.kind === 'null') return () => set(null);
    return leaf.kind === 'int' || leaf.kind === 'long' ? (cursor) => set(cursor.varint()) : undefined;
  });
}

/** The UTF-8 bytes of a text, as a view on the block; null where the writer left it out. */
export function captureBytes(type: AvroType, what: string, set: (value: Buffer | null) => void): Step {
  return capture(type, what, (leaf) => {
    if (leaf.kind === 'null') return () => set(null);
    return leaf.kind === 'string' || leaf.kind === 'bytes' ? (cursor) => set(cursor.takeBytes()) : undefined;
  });
}

/** Where the UTF-8 bytes of a text lie; an empty span where the writer left it out. */
export function captureSpan(type: AvroType, what: string, span: ByteSpan): Step {
  return capture(type, what, (leaf) => {
    if (leaf.kind === 'null') {
      return () => {
        span.start = span.end;
      };
    }
    return leaf.kind === 'string' || leaf.kind === 'bytes' ? (cursor) => cursor.takeSpan(span) : undefined;
  });
}

/** Whether bytes are given; null and empty are "no". */
export function capturePresence(type: AvroType, what: string, set: (present: boolean) => void): Step {
  return captureBytes(type, what, (value) => set(value !== null && value.length > 0));
}

/** A record inside a record, nullable or not. Its absence is an error: an entry without a file names nothing. */
export function captureRecord(type: AvroType, what: string, step: (record: AvroRecord) => Step): Step {
  return capture(type, what, (leaf) => {
    if (leaf.kind === 'record') return step(leaf);
    return () => {
      throw new AvroError(`an entry has no ${what}`);
    };
  });
}

/** A union offers one step per branch; a branch of an unexpected type is an error only where the data takes it. */
function capture(type: AvroType, what: string, leafStep: (leaf: AvroType) => Step | undefined): Step {
  const failing = (): Step => () => {
    throw new AvroError(`${what} has an unexpected type`);
  };
  if (type.kind !== 'union') return leafStep(type) ?? failing();
  const branches = type.branches.map((branch) => (branch.kind === 'union' ? undefined : leafStep(branch)) ?? failing());
  return (cursor: AvroCursor) => unionBranch(branches, cursor)(cursor);
}
