import assert from 'node:assert/strict';
import test from 'node:test';
import { RECHECK_VALID_MS } from '#shared/run/recheck.ts';
import { ALLOW_ALL, lostFiles, orphanWorld } from '#test/support/orphan-world.ts';

test('an object that was listed without an ETag is looked at before its delete, since it has no condition', async () => {
  const { world, orphans } = await orphanWorld(3);
  const { list } = world.tables;
  world.tables.list = async (request) => {
    const page = await list.call(world.tables, request);
    return { ...page, objects: page.objects.map((object) => ({ ...object, etag: '' })) };
  };
  world.onStage = (stage) => {
    if (stage === 'recheck') world.tables.seed('b', orphans[1] as string, Buffer.from('another file'), world.nowMs);
  };

  const { record } = await world.run(ALLOW_ALL);

  assert.deepEqual(world.keys('wh/t/data/orphan'), [orphans[1]]);
  assert.equal(record.changed_files_count, 1);
});

test('slow single deletes look at the table again: a commit between two of them keeps its file', async () => {
  const { world, table, orphans } = await orphanWorld(6);
  world.tables.options = { ...world.tables.options, singleDeletesOnly: true };
  let sent = 0;
  world.tables.options = {
    ...world.tables.options,
    onCall: async ({ operation, key, phase }) => {
      if (operation !== 'deleteObject' || phase !== 'after' || key.includes('icesweep-probe')) return;
      // Each takes its time; the commit comes after the look is too old for the next one.
      world.nowMs += RECHECK_VALID_MS + 1;
      if (++sent === 2) await table.adopt([orphans[4] as string]);
    },
  };

  const { record } = await world.run(ALLOW_ALL);

  assert.deepEqual(lostFiles({ world, table }), []);
  assert.equal(record.rescued_files_count, 1);
  assert.equal(record.deleted_files_count, 5);
});
