import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { parquetMetadata, parquetSchema } from 'hyparquet';
import { artefact } from '#shared/run/artefacts.ts';
import { ALLOW_ALL, orphanWorld } from '#test/support/orphan-world.ts';

const readme = readFileSync(join(import.meta.dirname, '../../README.md'), 'utf8');

test("the README's Athena table has the columns of the list that a run writes, where it writes it", async () => {
  const { world } = await orphanWorld(3);
  const { record } = await world.run(ALLOW_ALL);
  const { body } = await world.work.get('work', `${record.artefacts}/${artefact.orphansParquet(0)}`);
  const file = body.buffer.slice(body.byteOffset, body.byteOffset + body.length) as ArrayBuffer;
  const written = parquetSchema(parquetMetadata(file)).children.map((child) => child.element.name);

  const definition = /CREATE EXTERNAL TABLE icesweep_orphans \(([^)]*)\)/.exec(readme)?.[1] ?? '';
  const named = [...definition.matchAll(/^\s*(\w+) \w+,?$/gm)].map(([, name]) => name);

  assert.deepEqual(named, written);
  assert.ok(readme.includes(`\${run_id}/${artefact.orphansParquet(0).replace(/[^/]+$/, '')}`));
});
