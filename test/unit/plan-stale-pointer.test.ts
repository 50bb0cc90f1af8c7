import assert from 'node:assert/strict';
import test from 'node:test';
import { pinTable } from '#functions/plan/pin-table.ts';
import { surveyTable } from '#functions/plan/survey-table.ts';
import { parseDeployment } from '#shared/run/deployment.ts';
import { resolveInput } from '#shared/run/input.ts';
import { DAY_MS, OLD_MS, PlanWorld, T0_MS } from '#test/support/plan-world.ts';

test('CO-07 a catalog that serves an old pointer: the later version is a root, whatever its file’s age', async () => {
  const world = new PlanWorld();
  const writer = await world.table();
  const pinned = writer.metadataFile?.recorded as string;
  // A copy tool may give any times: the later file looks older than the one that the catalog names.
  world.writeAt(OLD_MS - 10 * DAY_MS);
  await writer.append(1);
  const pointer = { metadata_location: pinned, further: [], claims: { gc_enabled: [] } };
  const catalog = { currentMetadata: async () => pointer, reread: async () => pointer };
  const input = resolveInput({ table: 's3://b/wh/t' }, parseDeployment(), new Date(T0_MS));
  const table = await pinTable(input, pointer, world.store);

  const { later } = await surveyTable({
    table,
    pointer,
    catalog,
    input,
    store: world.store,
    budget: { remainingMs: () => 900_000 },
  });

  assert.deepEqual(
    later.roots.map(({ metadataLocation }) => metadataLocation),
    [writer.metadataFile?.recorded],
  );
});

test('a metadata log that names a bucket which is not there leaves the table unread, not unfound', async () => {
  const world = new PlanWorld();
  const writer = await world.table({
    spell: (path) => (/\/00000-[^/]*$/.test(path) ? path.replace('s3://b/', 's3://gone/') : path),
  });
  await writer.append(1);
  world.withoutBucket('gone');

  await assert.rejects(world.plan(), { name: 'MetadataUnreadableError', message: /s3:\/\/gone\/.*no such bucket/ });
});
