/**
 * Scan shards: manifests in the order of their lists, tiny neighbours packed together and large lists split, so that one
 * worker reads about a million entries (DESIGN section 3).
 */
import type { PlannedManifest, PlannedReference } from '#shared/run/plan.ts';
import { entriesOf } from './key-sample.ts';

const ENTRIES_PER_SHARD = 1_000_000;
const BYTES_PER_SHARD = 256 * 1024 * 1024;
/** Keeps a shard's own file small where manifests are tiny. */
const MANIFESTS_PER_SHARD = 5000;
const REFERENCES_PER_SHARD = 200_000;

export interface ShardWork {
  readonly manifests: readonly PlannedManifest[];
  readonly references: readonly PlannedReference[];
}

export function packManifests(manifests: readonly PlannedManifest[]): PlannedManifest[][] {
  const shards: PlannedManifest[][] = [];
  let open: PlannedManifest[] = [];
  let entries = 0;
  let bytes = 0;
  for (const manifest of manifests) {
    const size = entriesOf(manifest);
    const length = manifest.length ?? 0;
    const full =
      entries + size > ENTRIES_PER_SHARD || bytes + length > BYTES_PER_SHARD || open.length >= MANIFESTS_PER_SHARD;
    if (open.length > 0 && full) {
      shards.push(open);
      open = [];
      entries = 0;
      bytes = 0;
    }
    open.push(manifest);
    entries += size;
    bytes += length;
  }
  if (open.length > 0) shards.push(open);
  return shards;
}

/** Manifests and direct references side by side. There is always a shard: a map must never be given no items. */
export function packShards(
  manifests: readonly PlannedManifest[],
  references: readonly PlannedReference[],
): ShardWork[] {
  const packed = packManifests(manifests);
  const count = Math.max(1, packed.length, Math.ceil(references.length / REFERENCES_PER_SHARD));
  const perShard = Math.ceil(references.length / count);
  return Array.from({ length: count }, (_, index) => ({
    manifests: packed[index] ?? [],
    references: references.slice(index * perShard, (index + 1) * perShard),
  }));
}
