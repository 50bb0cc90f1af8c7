/** Long histories scaled down: the workers, bundled and in processes of their own, within what the stack states for them. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { deleteFromHistory, planHistory } from '#test/support/histories.ts';

test('SM-03 manifests that many lists share are planned once', async (context) => {
  const named = (snapshot: number) => [Math.max(0, snapshot - 40), snapshot + 1] as const;
  const planned = await planHistory({ snapshots: 600, manifests: 600, named });

  assert.equal(planned.manifests, 600);
  context.diagnostic(`${planned.calls} calls, ${planned.peaks}`);
});

test('SM-04 plan, recheck and delete take a metadata file with thousands of snapshots', async (context) => {
  context.diagnostic(
    await deleteFromHistory({ snapshots: 4000, manifests: 1, lists: 1, named: () => [0, 1], gzip: true }),
  );
});
