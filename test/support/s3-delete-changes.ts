/** What others do meanwhile, what comes twice, and what is taken back. */
import assert from 'node:assert/strict';
import { deleteBatch } from '#functions/delete/delete-batch.ts';
import { CLOCK_ALLOWANCE_MS } from '#shared/run/look-at-keys.ts';
import type { DeleteEvent } from '#shared/run/messages.ts';
import { DAY_MS, KilledError } from './run-world.ts';
import type { DeleteCheck } from './s3-delete-checks.ts';
import { onBatches } from './s3-delete-requests.ts';
import { orphanKey } from './s3-delete-world.ts';

const [ZERO, ONE, TWO] = ['0.parquet', '1.parquet', '2.parquet'].map(orphanKey) as [string, string, string];

export const changeChecks: readonly DeleteCheck[] = [
  {
    name: 'an object that was replaced after the listing stays',
    run: async (world) => {
      world.onStage = async (stage) => {
        if (stage === 'recheck') await world.origin.put(world.bucket, ONE, Buffer.from('another'));
      };
      const { record } = await world.run();
      assert.deepEqual(await world.left(), ['1.parquet']);
      assert.deepEqual([record.deleted_files_count, record.changed_files_count], [2, 1]);
    },
  },
  {
    name: 'an object that is replaced while the request is on its way stays',
    needs: 'conditionalDelete',
    run: async (world) => {
      onBatches(world, async () => {
        await world.origin.put(world.bucket, ONE, Buffer.from('another'));
        return undefined;
      });
      const { record } = await world.run();
      assert.deepEqual(await world.left(), ['1.parquet']);
      assert.deepEqual([record.deleted_files_count, record.changed_files_count], [2, 1]);
    },
  },
  {
    name: 'of a plan older than a day a re-upload of the same bytes is kept',
    run: async (world) => {
      await world.run({ dry_run: true }, 'dry');
      await world.pass(2 * DAY_MS);
      await world.origin.put(world.bucket, ZERO, Buffer.from('0.parquet'));
      const { record } = await world.run({ plan: 'dry' });
      assert.deepEqual(await world.left(), ['0.parquet']);
      assert.deepEqual([record.deleted_files_count, record.changed_files_count], [2, 1]);
    },
  },
  {
    name: 'CO-08 an orphan that vanished meanwhile is absent, not failed',
    run: async (world) => {
      world.onStage = async (stage) => {
        if (stage === 'recheck') await world.origin.deleteObject(world.bucket, ZERO);
      };
      const { record } = await world.run();
      assert.equal(record.verdict, 'DELETED');
      assert.deepEqual([record.deleted_files_count, record.already_absent_files_count], [2, 1]);
    },
  },
  {
    name: 'a commit between two requests that adopts an orphan keeps it',
    orphans: 4,
    run: async (world) => {
      let calls = 0;
      world.onStage = async (stage) => {
        if (stage === 'delete' && ++calls === 2) await world.writer.adopt([TWO]);
      };
      const { record } = await world.run({ delete_batch_size: 2 });
      assert.deepEqual([record.deleted_files_count, record.rescued_files_count], [3, 1]);
      assert.deepEqual(await world.left(), ['2.parquet']);
    },
  },
  {
    name: 'OR-17 a cap ends the run PARTIAL with what remains, and later runs take the rest',
    orphans: 5,
    run: async (world) => {
      const counts: (readonly number[])[] = [];
      for (let index = 0; index < 3; index++) {
        const { record } = await world.run({ max_files_per_run: 2 });
        counts.push([record.deleted_files_count, record.remaining_files_count]);
      }
      assert.deepEqual(counts, [
        [2, 3],
        [2, 1],
        [1, 0],
      ]);
    },
  },
  {
    name: 'OR-08 a batch that is executed twice, the second time after its end, is counted once',
    versioned: true,
    run: async (world) => {
      const events: DeleteEvent[] = [];
      world.onStage = (stage, _item, event) => {
        if (stage === 'delete') events.push(event as DeleteEvent);
      };
      const { record } = await world.run();
      const again = await deleteBatch(events[0] as DeleteEvent, world.ports);
      assert.equal(again.done, true);
      assert.equal(record.deleted_files_count, 3);
      assert.equal((await world.markers()).length, 3);
    },
  },
  {
    name: 'OR-08 two workers at one batch make one marker per key, and restore knows them',
    versioned: true,
    run: async (world) => {
      const before = await world.contents();
      let event: DeleteEvent | undefined;
      world.onStage = (stage, _item, given) => {
        if (stage === 'delete') event ??= given as DeleteEvent;
      };
      let second = false;
      world.proxy.onAnswer = async ({ operation }) => {
        if (operation !== 'deleteObjects' || second) return;
        second = true;
        await deleteBatch(event as DeleteEvent, world.ports);
      };
      const { record } = await world.run();
      assert.ok(second);
      assert.equal(record.deleted_files_count, 3);
      assert.equal((await world.markers()).length, 3);
      assert.equal((await world.restore(record)).restored, 3);
      assert.deepEqual(await world.contents(), before);
    },
  },
  {
    name: 'restore leaves a marker alone that somebody else made before a request whose answer was lost',
    versioned: true,
    run: async (world) => {
      let deleted = false;
      // Right after the look; the machine then stands still for longer than clocks may differ.
      world.proxy.onAnswer = async ({ operation, key }) => {
        if (operation !== 'head' || key !== ZERO || deleted) return;
        deleted = true;
        await world.origin.deleteObject(world.bucket, ZERO);
        await world.pass(CLOCK_ALLOWANCE_MS + 60_000);
      };
      onBatches(world, (_call, number) => (number === 1 ? { loseAnswer: true } : undefined));
      const { record } = await world.run();
      assert.ok(deleted);
      // A server without conditions may write a marker of ours over that of the other.
      assert.equal(record.deleted_files_count + record.already_absent_files_count, 3);
      await world.restore(record);
      assert.deepEqual(await world.left(), ['1.parquet', '2.parquet']);
    },
  },
  {
    name: 'NP-13 delete then restore: the listing and the bytes are those of before',
    versioned: true,
    orphans: ['a b+c', 'é', '50%', 'a&b<c'],
    run: async (world) => {
      const before = await world.contents();
      const { record } = await world.run();
      assert.deepEqual([record.deleted_files_count, record.bytes_reclaimed], [4, false]);
      assert.deepEqual(await world.left(), []);
      assert.equal((await world.restore(record)).restored, 4);
      assert.deepEqual(await world.contents(), before);
      assert.deepEqual(await world.markers(), []);
    },
  },
  {
    name: 'restore leaves a key alone that was written again after the run',
    versioned: true,
    run: async (world) => {
      const { record } = await world.run();
      await world.origin.put(world.bucket, ZERO, Buffer.from('new'));
      assert.deepEqual(await world.restore(record), { restored: 2, alreadyGone: 0, covered: 1, unversioned: 0 });
      assert.equal((await world.origin.get(world.bucket, ZERO)).body.toString(), 'new');
    },
  },
  {
    name: 'a run that is killed right after its request counts it, restore takes it back, and the next run deletes all',
    versioned: true,
    orphans: 5,
    run: async (world) => {
      let dead = false;
      const strike = () => {
        if (dead) throw new KilledError('killed');
      };
      world.work.options = { onCall: strike };
      const sent = onBatches(world, () => undefined);
      world.proxy.onAnswer = ({ operation }) => {
        dead = operation === 'deleteObjects' && sent.length === 2;
      };
      await assert.rejects(world.run({ delete_batch_size: 2 }, 'killed'), KilledError);
      dead = false;
      world.proxy.onAnswer = () => undefined;
      const record = await world.recordAbort('killed', { table: `s3://${world.bucket}/wh/t` });
      assert.deepEqual([record.verdict, record.deleted_files_count, record.remaining_files_count], ['ABORTED', 4, 1]);
      assert.equal((await world.restore(record)).restored, 4);
      assert.equal((await world.left()).length, 5);
      assert.equal((await world.run()).record.deleted_files_count, 5);
    },
  },
];
