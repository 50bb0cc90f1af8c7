import { MemoryStore } from '#test/support/memory-store.ts';
import { type Ability, registerChecks } from '#test/support/store-contract.ts';
import { deleteChecks, versionChecks } from '#test/support/store-delete-checks.ts';
import { listChecks } from '#test/support/store-list-checks.ts';
import { objectChecks } from '#test/support/store-object-checks.ts';

// A bucket that was never made is made on first use, so its absence is nothing to check.
const abilities = new Set<Ability>([
  'anyKey',
  'conditionalDelete',
  'conditionalPut',
  'batchLimit',
  'controlCharacters',
  'delimiterAfter',
  'secondMarker',
  'versionPages',
]);

registerChecks(
  'memory store',
  [...objectChecks, ...listChecks, ...deleteChecks],
  () => ({ store: new MemoryStore(), bucket: 'b', prefix: '' }),
  abilities,
);

registerChecks(
  'memory store with versions',
  [...versionChecks, ...listChecks],
  () => {
    const store = new MemoryStore();
    store.createBucket('b', { versioning: 'Enabled' });
    return { store, bucket: 'b', prefix: '' };
  },
  abilities,
);
