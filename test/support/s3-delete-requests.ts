/** Delete requests: what is asked, and what the answers to it mean. */
import assert from 'node:assert/strict';
import { elements } from '#infra/local/s3/xml.ts';
import type { WireCall, WireEffect } from './fault-proxy.ts';
import type { DeleteCheck } from './s3-delete-checks.ts';
import { orphanKey, type S3DeleteWorld } from './s3-delete-world.ts';

const NO_KEY = '<DeleteResult></DeleteResult>';

/** The batches that were sent, without the probe's, each with the effect that it meets. */
export function onBatches(
  world: S3DeleteWorld,
  effect: (call: WireCall, number: number) => WireEffect | undefined | Promise<WireEffect | undefined>,
): WireCall[] {
  const sent: WireCall[] = [];
  world.proxy.onRequest = (call) => {
    if (call.operation !== 'deleteObjects' || call.key.includes('icesweep-probe')) return undefined;
    return effect(call, sent.push(call));
  };
  return sent;
}

/** Names that lose their identity where a key is decoded or encoded once too often, and the neighbours they would hit. */
const ODD = [
  'a<b',
  'a&amp;b',
  'a&b',
  'x>y',
  '"q"',
  "it's",
  'a+b',
  '#h?x=1',
  '[x]{y}|z^`',
  'b\\c',
  'é 😀',
  '50%',
  ']]>',
  'p q=1',
];
const NEIGHBOURS = ['a', 'a<', 'a&amp;amp;b', 'a b', 'x', 'b', '50', 'é'];

/** The server's answer for the keys without a code of their own, and these codes for the others. */
async function withErrors(
  world: S3DeleteWorld,
  call: WireCall,
  codes: ReadonlyMap<string, string>,
): Promise<WireEffect> {
  const goes = call.keys.filter((key) => !codes.has(key)).map((key) => ({ key }));
  const { deleted } = goes.length === 0 ? { deleted: [] } : await world.origin.deleteObjects(world.bucket, goes);
  const done = deleted.map(({ key }) => `<Deleted>${elements({ Key: key })}</Deleted>`);
  const failed = call.keys
    .filter((key) => codes.has(key))
    .map((Key) => `<Error>${elements({ Key, Code: codes.get(Key), Message: 'by the proxy' })}</Error>`);
  return { body: `<DeleteResult>${[...done, ...failed].join('')}</DeleteResult>` };
}

export const requestChecks: readonly DeleteCheck[] = [
  {
    name: 'DA-01 errors of single keys inside a 200 are retried or counted, and the run is PARTIAL',
    run: async (world) => {
      const [flaky, denied] = [orphanKey('1.parquet'), orphanKey('2.parquet')];
      const sent = onBatches(world, (call, number) => {
        const codes = new Map([[denied, 'AccessDenied'], ...(number === 1 ? [[flaky, 'InternalError'] as const] : [])]);
        return withErrors(world, call, codes);
      });
      const { record } = await world.run();
      assert.equal(record.verdict, 'PARTIAL');
      assert.deepEqual(
        [record.deleted_files_count, record.failed_deletions_count, record.remaining_files_count],
        [2, 1, 1],
      );
      assert.deepEqual(
        sent.map(({ keys }) => keys.length),
        [3, 1],
      );
      assert.deepEqual(await world.left(), ['2.parquet']);
    },
  },
  {
    name: 'DA-02 an empty answer is no success: every key is asked for again',
    run: async (world) => {
      const sent = onBatches(world, (_call, number) => (number === 1 ? { body: NO_KEY } : undefined));
      const { record } = await world.run();
      assert.equal(sent.length, 2);
      assert.equal(record.verdict, 'DELETED');
      assert.equal(record.deleted_files_count, 3);
      assert.deepEqual(await world.left(), []);
    },
  },
  {
    name: 'DA-02 a key that no answer ever names ends unknown, and the run PARTIAL',
    run: async (world) => {
      onBatches(world, () => ({ body: NO_KEY }));
      const { record } = await world.run();
      assert.equal(record.deleted_files_count, 0);
      assert.equal(record.failed_deletions_count, 3);
      assert.equal((await world.left()).length, 3);
    },
  },
  {
    name: 'DA-05 keys with control characters go singly and sink nobody else',
    needs: 'controlCharacters',
    orphans: ['a\u0010.parquet', 'b.parquet', 'c.parquet'],
    run: async (world) => {
      const asked: (readonly string[])[] = [];
      world.proxy.onRequest = (call) => {
        if (call.operation.startsWith('delete') && !call.key.includes('icesweep-probe')) asked.push(call.keys);
        return undefined;
      };
      const { record } = await world.run();
      assert.equal(record.verdict, 'DELETED');
      assert.deepEqual(asked, [['b.parquet', 'c.parquet'].map(orphanKey), [orphanKey('a\u0010.parquet')]]);
      assert.deepEqual(await world.left(), []);
    },
  },
  {
    name: 'DA-07 odd keys are deleted as they are, and their neighbours stay',
    orphans: ODD,
    run: async (world) => {
      await world.writer.append(NEIGHBOURS.length, { names: NEIGHBOURS.map((name) => `lost/${name}`) });
      const { record } = await world.run();
      assert.equal(record.deleted_files_count, ODD.length);
      assert.deepEqual(new Set(await world.left()), new Set(NEIGHBOURS));
    },
  },
  {
    name: 'DA-09 a server that demands Content-MD5 gets it at the second request',
    run: async (world) => {
      const sent = onBatches(world, ({ headers }) =>
        headers['content-md5'] === undefined ? { error: { status: 400, code: 'InvalidRequest' } } : undefined,
      );
      const { record } = await world.run();
      assert.equal(record.deleted_files_count, 3);
      assert.equal(sent.length, 2);
      assert.deepEqual(await world.left(), []);
    },
  },
  {
    name: 'DA-09 a server that refuses both forms stops the stage after two requests',
    run: async (world) => {
      const sent = onBatches(world, () => ({ error: { status: 400, code: 'InvalidRequest' } }));
      const { record } = await world.run();
      assert.equal(record.verdict, 'FAILED');
      assert.equal(sent.length, 2);
      assert.equal((await world.left()).length, 3);
    },
  },
  {
    name: 'a server without DeleteObjects gets single deletes',
    orphans: 30,
    run: async (world) => {
      onBatches(world, () => ({ error: { status: 501, code: 'NotImplemented' } }));
      const { record } = await world.run();
      assert.equal(record.deleted_files_count, 30);
      assert.deepEqual(await world.left(), []);
    },
  },
  {
    name: 'DA-11 a missing permission to delete ends the run before the scan',
    run: async (world) => {
      const stages: string[] = [];
      world.onStage = (stage) => void stages.push(stage);
      world.proxy.onRequest = ({ operation }) =>
        operation.startsWith('delete') ? { error: { status: 403, code: 'AccessDenied' } } : undefined;
      const { failure } = await world.run();
      assert.equal(failure?.error, 'AccessDeniedError');
      assert.deepEqual(stages, ['plan', 'probe', 'record']);
    },
  },
  {
    name: 'DA-12 a store that asks to slow down gets every key in the end',
    orphans: 40,
    run: async (world) => {
      const sent = onBatches(world, (_call, number) =>
        number <= 3 ? { error: { status: 503, code: 'SlowDown' } } : undefined,
      );
      const { record } = await world.run({ delete_batch_size: 20 });
      assert.equal(record.deleted_files_count, 40);
      assert.ok(sent.slice(3).every(({ keys }) => keys.length <= 20));
      assert.deepEqual(await world.left(), []);
    },
  },
  {
    name: 'DA-12 a throttle that persists ends PARTIAL, and the next run deletes the rest',
    run: async (world) => {
      onBatches(world, () => ({ error: { status: 503, code: 'SlowDown' } }));
      const { record } = await world.run();
      assert.deepEqual([record.verdict, record.remaining_files_count], ['PARTIAL', 3]);
      onBatches(world, () => undefined);
      assert.equal((await world.run()).record.deleted_files_count, 3);
    },
  },
  {
    name: 'DA-13 2,001 orphans go in requests of 1,000, 1,000 and 1',
    orphans: 2001,
    run: async (world) => {
      const sent = onBatches(world, () => undefined);
      const { record } = await world.run();
      assert.deepEqual(
        sent.map(({ keys }) => keys.length),
        [1000, 1000, 1],
      );
      assert.equal(record.deleted_files_count, 2001);
      assert.deepEqual(await world.left(), []);
    },
  },
];
