/** Requests that the server has done though the answer does not say so: each key is counted once, and restore finds its marker. */
import assert from 'node:assert/strict';
import { elements } from '#infra/local/s3/xml.ts';
import type { WireEffect } from './fault-proxy.ts';
import type { DeleteCheck } from './s3-delete-checks.ts';
import { onBatches } from './s3-delete-requests.ts';
import { orphanKey, type S3DeleteWorld } from './s3-delete-world.ts';

/** The entry of one key is taken out of an answer that the server gave. */
function without(key: string, instead = ''): WireEffect {
  return {
    alter: (body) =>
      body.replace(/<(Deleted)>.*?<\/\1>/gs, (entry) => (entry.includes(`<Key>${key}</Key>`) ? instead : entry)),
  };
}

export const lostChecks: readonly DeleteCheck[] = [
  ...[true, false].map(
    (versioned): DeleteCheck => ({
      name: `OR-08 a delete whose answer is lost is counted once (versioned: ${versioned})`,
      ...(versioned ? { versioned } : {}),
      run: async (world) => {
        onBatches(world, (_call, number) => (number === 1 ? { loseAnswer: true } : undefined));
        await deletedOnce(world, versioned);
      },
    }),
  ),
  {
    name: 'OR-08 a delete whose answer is cut in the middle is counted once',
    versioned: true,
    run: async (world) => {
      onBatches(world, (_call, number) => (number === 1 ? { cutAnswer: true } : undefined));
      await deletedOnce(world, true);
    },
  },
  {
    name: 'OR-08 DA-02 a key that the answer leaves out, though it went, is counted once',
    versioned: true,
    run: async (world) => {
      onBatches(world, (_call, number) => (number === 1 ? without(orphanKey('1.parquet')) : undefined));
      await deletedOnce(world, true);
    },
  },
  {
    name: 'OR-08 DA-01 a key that the answer calls an InternalError, though it went, is counted once',
    versioned: true,
    run: async (world) => {
      const Key = orphanKey('1.parquet');
      const failed = `<Error>${elements({ Key, Code: 'InternalError', Message: 'by the proxy' })}</Error>`;
      onBatches(world, (_call, number) => (number === 1 ? without(Key, failed) : undefined));
      await deletedOnce(world, true);
    },
  },
];

/** Three orphans are gone, each counted as deleted and each with one marker, which restore finds. */
async function deletedOnce(world: S3DeleteWorld, versioned: boolean): Promise<void> {
  const before = await world.contents();
  const { record } = await world.run();
  assert.equal(record.verdict, 'DELETED');
  assert.deepEqual([record.deleted_files_count, record.already_absent_files_count], [3, 0]);
  assert.deepEqual(await world.left(), []);
  if (!versioned) return;
  assert.equal((await world.markers()).length, 3);
  assert.equal((await world.restore(record)).restored, 3);
  assert.deepEqual(await world.contents(), before);
}
