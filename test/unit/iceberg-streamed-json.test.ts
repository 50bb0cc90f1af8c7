/** Reading a long list element by element gives what parsing the whole text gives, and refuses what that refuses. */
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { parseLosslessJson } from '#shared/iceberg/lossless-json.ts';
import { parseTableMetadata } from '#shared/iceberg/metadata-json.ts';
import { openStreamedJson } from '#shared/iceberg/streamed-json.ts';

type Read = { readonly value: unknown } | 'refused';

function whole(bytes: Buffer): Read {
  try {
    return { value: parseLosslessJson(bytes) };
  } catch {
    return 'refused';
  }
}

function streamed(bytes: Buffer): Read {
  try {
    const { rest, elements } = openStreamedJson(bytes, 'list');
    const list = [...elements];
    // Where nothing was streamed the list stands in the rest.
    return { value: list.length === 0 ? rest : { ...(rest as object), list } };
  } catch {
    return 'refused';
  }
}

const agree = (bytes: Buffer) => assert.deepEqual(streamed(bytes), whole(bytes), bytes.toString('latin1'));

const documents = fc
  .record(
    { list: fc.oneof(fc.array(fc.jsonValue()), fc.jsonValue()), before: fc.jsonValue(), 'li\\"st': fc.jsonValue() },
    { requiredKeys: [] },
  )
  .chain((value) => fc.constantFrom(0, 1).map((indent) => JSON.stringify(value, null, indent)));

test('a long list read element by element is what the whole text says (SM-04)', () => {
  fc.assert(fc.property(documents, (text) => agree(Buffer.from(text))));
});

test('what is no JSON as a whole is refused, wherever a byte was lost, added or changed', () => {
  const damage = fc.record({
    at: fc.nat(),
    lose: fc.integer({ min: 0, max: 3 }),
    add: fc.stringMatching(/^[[\]{},:"\\ 1-]{0,2}$/),
  });
  fc.assert(
    fc.property(documents, damage, (text, { at, lose, add }) => {
      const bytes = Buffer.from(text);
      const start = at % (bytes.length + 1);
      agree(Buffer.concat([bytes.subarray(0, start), Buffer.from(add), bytes.subarray(start + lose)]));
    }),
    { numRuns: 2000 },
  );
});

for (const text of [
  '{"list":[1,2],"list":[3]}',
  '{"list":[1],"list":4}',
  '{"l\\u0069st":[1,2]}',
  '{"a":{"list":[1]},"list":[2]}',
  '{"list":[1,]}',
  '{"list":[,1]}',
  '{"list":[1 2]}',
  '{"list":[{]}]}',
  '{"list":[1}',
  '{"list":[1]]}',
  '{"list":[1]',
  '{"list":["',
  '{"list":[]}x',
  '{"list":[\ufeff1]}',
  '\ufeff{"list":[1]}',
  '[{"list":[1]}]',
  '{"list":[9007199254740993,{"id":7123456789012345678}]}',
  '',
]) {
  test(`as the whole text has it: ${text.replace('\ufeff', '<mark>')}`, () => agree(Buffer.from(text)));
}

test('a fault in the last snapshot makes the metadata unreadable', () => {
  const snapshot = (id: number) => `{"snapshot-id":${id},"timestamp-ms":1,"manifest-list":"s3://b/${id}.avro"}`;
  const text = (last: string) =>
    `{"format-version":2,"location":"s3://b/t","last-updated-ms":1,"snapshots":[${snapshot(1)},${last}]}`;
  assert.equal(parseTableMetadata(Buffer.from(text(snapshot(2))), 'm').snapshots.length, 2);
  for (const broken of ['', '{"snapshot-id":2', '7', `${snapshot(2)} ${snapshot(3)}`, '{"snapshot-id":2,}']) {
    assert.throws(
      () => parseTableMetadata(Buffer.from(text(broken)), 'm'),
      { name: 'MetadataUnreadableError' },
      broken,
    );
  }
});
