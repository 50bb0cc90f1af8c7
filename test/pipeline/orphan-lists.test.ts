import assert from 'node:assert/strict';
import test from 'node:test';
import { gunzipSync } from 'node:zlib';
import { parquetReadObjects } from 'hyparquet';
import { gatherRun } from '#functions/record/gather.ts';
import { writeOrphanLists } from '#functions/record/orphan-lists.ts';
import { artefact } from '#shared/run/artefacts.ts';
import { findRecord } from '#shared/run/run-store.ts';
import { TimeLeft } from '#shared/run/time-left.ts';
import { storeFault } from '#test/support/memory-store.ts';
import { ALLOW_ALL, orphanWorld } from '#test/support/orphan-world.ts';
import type { RunWorld } from '#test/support/run-world.ts';

const PLENTY = new TimeLeft({ remainingMs: () => 900_000 });

async function gathered(world: RunWorld, runId: string) {
  const record = await findRecord(world.items, runId);
  const run = { run_id: runId, prefix: record?.artefacts, seal_prefix: '' } as Parameters<typeof gatherRun>[0];
  return gatherRun(run, true, world.ports);
}

test('lists in parts hold every orphan once, in order, the same in both formats', async () => {
  const { world, orphans } = await orphanWorld(2300);
  await world.run(ALLOW_ALL, 'swept');
  const run = await gathered(world, 'swept');

  const lists = await writeOrphanLists(run, PLENTY, 1000);

  assert.equal(lists.lists.length, 6);
  const [json, table]: [string[], string[]] = [[], []];
  for (const part of [0, 1, 2]) {
    const lines = gunzipSync((await run.artefacts.read(artefact.orphansJsonl(part))) as Buffer).toString();
    for (const line of lines.trimEnd().split('\n')) json.push(JSON.parse(line).orphan_file_location as string);
    const body = (await run.artefacts.read(artefact.orphansParquet(part))) as Buffer;
    const file = body.buffer.slice(body.byteOffset, body.byteOffset + body.length) as ArrayBuffer;
    for (const row of await parquetReadObjects({ file })) table.push(row['orphan_file_location'] as string);
  }
  assert.deepEqual(
    json,
    orphans.map((key) => `s3://b/${key}`),
  );
  assert.deepEqual(table, json);
});

test('where time runs short the lists end early and say so, and the record stands', async () => {
  const { world } = await orphanWorld(2300);
  await world.run(ALLOW_ALL, 'swept');
  let looks = 0;
  const time = new TimeLeft({ remainingMs: () => (looks++ < 2 ? 900_000 : 1000) });

  const lists = await writeOrphanLists(await gathered(world, 'swept'), time);

  assert.match(lists.warnings.join(), /hold the first 1000 orphans, since time ran short/);
  assert.equal(lists.first.length, 20);
});

test('lists that cannot be written hide nothing of how the run ended', async () => {
  const { world } = await orphanWorld(5);
  world.work.options = {
    ...world.work.options,
    onCall: ({ operation, key, phase }) => {
      if (operation === 'put' && phase === 'before' && key.includes('report/orphans')) throw storeFault('AccessDenied');
    },
  };

  const { record } = await world.run(ALLOW_ALL, 'swept');

  assert.equal(record.verdict, 'DELETED');
  assert.equal(record.deleted_files_count, 5);
  assert.match(
    record.warnings.join(),
    /2 lists could not be written, \S+\/report\/orphans_jsonl\/part-00000\.jsonl\.gz among/,
  );
});

test('a record stays small, however many pieces of the lists cannot be read or written', async () => {
  const { world } = await orphanWorld(2300);
  await world.run(ALLOW_ALL, 'swept');
  const run = await gathered(world, 'swept');
  world.work.options = {
    onCall: ({ operation, phase }) => {
      if (operation === 'put' && phase === 'before') throw storeFault('AccessDenied');
    },
  };
  // As many as a large run has.
  const { seal } = run;
  const batches = seal?.batches.map(({ chunks, ...batch }, index) => {
    const lost = chunks.map((chunk) => ({ ...chunk, name: `${chunk.name}-gone` }));
    return { ...batch, chunks: index === 0 ? Array.from({ length: 900 }, () => lost).flat() : chunks };
  });

  const lists = await writeOrphanLists({ ...run, seal: { ...seal, batches } } as typeof run, PLENTY, 100);

  assert.ok(lists.warnings.length <= 3, String(lists.warnings.length));
  assert.match(
    lists.warnings[0] as string,
    /^900 candidate chunks could not be read for the report, \S+-gone among them\.$/,
  );
  assert.match(
    lists.warnings[1] as string,
    /^4 lists could not be written, \S+part-00000\.jsonl\.gz among them: .*AccessDenied/,
  );
});
