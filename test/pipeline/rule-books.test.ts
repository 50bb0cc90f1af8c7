/** The books of a run: what one stage says and the next one finds must agree, or nothing is deleted. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { alterBefore } from '#test/support/altered-run.ts';
import { ALLOW_ALL, orphanWorld } from '#test/support/orphan-world.ts';
import type { StageName } from '#test/support/run-world.ts';

type Change = (receipt: Record<string, unknown>) => Record<string, unknown>;

const more = (name: string): Change => {
  return (receipt) => ({ ...receipt, [name]: (receipt[name] as number) + 1 });
};

const CASES: readonly (readonly [what: string, StageName, receipt: string, Change, error: string])[] = [
  ['a manifest more scanned', 'evaluate', 'scan/0/receipt.json', more('manifests_read'), 'ScanIncompleteError'],
  ['a manifest more planned', 'evaluate', 'scan/0/receipt.json', more('manifests_planned'), 'ScanIncompleteError'],
  ['a fingerprint more written', 'evaluate', 'scan/0/receipt.json', more('fingerprints'), 'ScanIncompleteError'],
  ['an entry more merged', 'evaluate', 'filters/0/receipt.json', more('entries_merged'), 'FilterMismatchError'],
  ['another range', 'evaluate', 'filters/0/receipt.json', more('range'), 'FilterMismatchError'],
  ['another shard', 'evaluate', 'list/0/receipt.json', more('shard'), 'ListingIncompleteError'],
  [
    'an interval that begins later',
    'evaluate',
    'list/0/receipt.json',
    (receipt) => ({ ...receipt, after: 'wh/t/data/orphan-00000.parquet' }),
    'ListingIncompleteError',
  ],
  [
    'an end that was not reached',
    'evaluate',
    'list/0/receipt.json',
    (receipt) => ({ ...receipt, reached_end: false }),
    'ListingIncompleteError',
  ],
  [
    'a reference more than the filter holds',
    'list',
    'filters/0/receipt.json',
    (receipt) => {
      const distinct = receipt['distinct'] as Record<string, number>;
      return { ...receipt, distinct: { ...distinct, content: (distinct['content'] as number) + 1 } };
    },
    'FilterMismatchError',
  ],
];

for (const [what, stage, receipt, change, error] of CASES) {
  test(`${receipt} with ${what} ends the run`, async () => {
    const { world } = await orphanWorld(3);
    alterBefore(world, stage, receipt, change);
    const before = world.keys();

    const { failure } = await world.run(ALLOW_ALL);

    assert.equal(failure?.error, error);
    assert.deepEqual(world.keys(), before);
  });
}
