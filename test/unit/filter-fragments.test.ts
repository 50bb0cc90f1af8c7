import assert from 'node:assert/strict';
import test from 'node:test';
import { FragmentBuffer, NO_FRAGMENTS } from '#shared/run/fragments.ts';
import { RunArtefacts } from '#shared/run/run-artefacts.ts';
import { MemoryStore } from '#test/support/memory-store.ts';

test('every fingerprint is written once, in its section, also after a flush and when ranges and groups take turns', async () => {
  const store = new MemoryStore();
  store.createBucket('work');
  const artefacts = new RunArtefacts(store, 'work', 'runs/t/r');
  const buffer = new FragmentBuffer();
  const expected = new Map<string, bigint[]>();
  let written = NO_FRAGMENTS;

  for (let index = 0; index < 3000; index++) {
    // Long stretches of one section, and sections that take turns; the section before a flush goes on after it.
    const [range, group] =
      index % 700 < 400 ? [0, 'content_covered' as const] : [index % 3, 'metadata_inside' as const];
    buffer.add(range, group, BigInt(index));
    const name = `${range} ${group}`;
    expected.set(name, [...(expected.get(name) ?? []), BigInt(index)]);
    if (index % 500 === 100) written = await buffer.flush(artefacts, `scan/0/n-${index}.bin`, written);
  }
  written = await buffer.flush(artefacts, 'scan/0/n-last.bin', written);

  assert.equal(buffer.length, 0);
  assert.equal(written.entries, 3000);
  const found = new Map<string, bigint[]>();
  for (const section of written.sections) {
    const object = written.objects[section.object]!;
    const body = (await artefacts.read(object.name)) as Buffer;
    const name = `${section.range} ${section.group}`;
    const values = Array.from({ length: section.entries }, (_, at) => body.readBigUInt64LE(section.offset + at * 8));
    found.set(name, [...(found.get(name) ?? []), ...values]);
  }
  assert.deepEqual(found, expected);
});
