/** Long histories in full, each stage in a process with the memory that the stack states for it. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { deleteFromHistory, planHistory } from '#test/support/histories.ts';
import type { HistoryOptions } from '#test/support/made-up-history.ts';

const HISTORIES: Readonly<Record<string, HistoryOptions>> = {
  '100,000 manifests of 1,000 snapshots': {
    snapshots: 1000,
    manifests: 100_000,
    named: (snapshot) => [snapshot * 100, snapshot * 100 + 100],
  },
  'one manifest list that names 100,000 manifests': { snapshots: 1, manifests: 100_000, named: () => [0, 100_000] },
  '24 manifest lists that name the same 100,000 manifests': {
    snapshots: 24,
    manifests: 100_000,
    named: () => [0, 100_000],
  },
  '50,000 snapshots that share manifests': {
    snapshots: 50_000,
    manifests: 50_000,
    named: (snapshot) => [Math.max(0, snapshot - 10), snapshot + 1],
  },
};

for (const [what, options] of Object.entries(HISTORIES)) {
  test(`the plan stage takes ${what}`, async (context) => {
    const planned = await planHistory(options);

    assert.equal(planned.manifests, options.manifests);
    context.diagnostic(`${planned.shards} scan shards, ${planned.calls} calls, ${planned.peaks}`);
  });
}

/** The last is just below the size above which metadata is refused. */
for (const [snapshots, gzip] of [
  [200_000, false],
  [200_000, true],
  [355_000, false],
] as const) {
  test(`SM-04 every stage takes a metadata file with ${snapshots} snapshots (gzip: ${gzip})`, async (context) => {
    // One list for all of them: the file is what is large.
    context.diagnostic(await deleteFromHistory({ snapshots, manifests: 1, lists: 1, named: () => [0, 1], gzip }));
  });
}
