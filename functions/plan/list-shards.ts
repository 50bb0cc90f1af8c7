/**
 * Listing shards: raw intervals of keys below the roots, of about 100,000 keys each, at most 2,000 (DESIGN section 6). Any
 * boundaries cover every key exactly once; where they lie only decides how even the shards are.
 */
import { inOrder } from '#shared/catalog/table-objects.ts';
import { foldKey } from '#shared/identity/fold-key.ts';
import type { Root } from '#shared/identity/types.ts';
import type { ListItem } from '#shared/run/plan.ts';
import type { ObjectStore } from '#shared/storage/object-store.ts';
import { KeyTree } from './key-tree.ts';

export const KEYS_PER_SHARD = 100_000;
export const MOST_SHARDS = 2000;
/** More prefixes than shards, so that uneven ones even out. */
const LEAVES_PER_SHARD = 3;
const REQUESTS_AT_ONCE = 16;

const byBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

interface SizedRoot {
  readonly root: Root;
  readonly tree: KeyTree;
  readonly keys: number;
}

/** Live references under a root, by the manifest sample. */
function referencedUnder(root: Root, sample: readonly string[], references: number, ignoreCase: boolean): number {
  if (sample.length === 0) return 0;
  const prefix = foldKey(root.prefix, ignoreCase);
  return (references * sample.filter((key) => key.startsWith(prefix)).length) / sample.length;
}

async function sizeOf(root: Root, referenced: number, question: ListShardsQuestion): Promise<SizedRoot> {
  const tree = new KeyTree(question.store, root.bucket, question.mayAsk);
  const small = await tree.countIfSmall(root.prefix);
  return { root, tree, keys: small ?? Math.max(referenced, await tree.estimate(root)) };
}

/** Folders level by level until there are enough; `undefined` children mean a flat folder. */
async function expandFolders(tree: KeyTree, prefix: string, wanted: number): Promise<string[]> {
  let level = [prefix];
  const flat: string[] = [];
  while (level.length > 0 && level.length + flat.length < wanted && !tree.isSpent) {
    const next: string[] = [];
    const answers = await inOrder(level, REQUESTS_AT_ONCE, async (folder) =>
      tree.isSpent ? [] : await tree.folders(folder),
    );
    level.forEach((folder, index) => {
      const below = answers[index]!;
      if (below.length === 0) flat.push(folder);
      else next.push(...below);
    });
    level = next;
  }
  return [...flat, ...level];
}

/** Splits prefixes by their next character until there are enough. */
async function expandFlat(tree: KeyTree, leaves: readonly string[], wanted: number): Promise<string[]> {
  let open = [...leaves];
  const done: string[] = [];
  while (open.length > 0 && open.length + done.length < wanted && !tree.isSpent) {
    const next: string[] = [];
    const answers = await inOrder(open, REQUESTS_AT_ONCE, async (leaf) => {
      const small = tree.isSpent ? 0 : await tree.countIfSmall(leaf);
      return small === undefined ? await tree.children(leaf) : [];
    });
    open.forEach((leaf, index) => {
      const children = answers[index]!;
      if (children.length === 0) done.push(leaf);
      else next.push(...children);
    });
    open = next;
  }
  return [...done, ...open];
}

/** `shards - 1` of the prefixes, evenly. A prefix as a boundary parts what sorts before its keys from them. */
function chooseBoundaries(prefixes: readonly string[], rootPrefix: string, shards: number): string[] {
  const sorted = [...new Set(prefixes)].filter((prefix) => prefix !== rootPrefix).sort(byBytes);
  const count = Math.min(shards - 1, sorted.length);
  const chosen = Array.from({ length: count }, (_, index) => {
    return sorted[Math.floor(((index + 1) * sorted.length) / (count + 1))]!;
  });
  return [...new Set(chosen)];
}

async function cut(sized: SizedRoot, shards: number): Promise<string[]> {
  if (shards <= 1) return [];
  const { root, tree } = sized;
  const wanted = shards * LEAVES_PER_SHARD;
  const folders = await expandFolders(tree, root.prefix, wanted);
  const leaves = folders.length >= wanted ? folders : await expandFlat(tree, folders, wanted);
  return chooseBoundaries(leaves, root.prefix, shards);
}

/** The intervals that boundaries make of a root: `(null, b1]`, `(b1, b2]`, …, `(bn, null]`. */
export function intervals(boundaries: readonly string[]): Pick<ListItem, 'after' | 'through'>[] {
  return Array.from({ length: boundaries.length + 1 }, (_, index) => ({
    after: boundaries[index - 1] ?? null,
    through: boundaries[index] ?? null,
  }));
}

export interface ListShardsQuestion {
  readonly roots: readonly Root[];
  readonly store: ObjectStore;
  /** Folded keys of live entries, a sample. */
  readonly sample: readonly string[];
  /** Live entries altogether, about. */
  readonly references: number;
  readonly ignoreCase: boolean;
  /** False once probing has had its time. An attempt that is repeated after that may cut elsewhere, and is told so when it writes. */
  readonly mayAsk?: () => boolean;
}

export async function planListShards(question: ListShardsQuestion): Promise<ListItem[]> {
  const { roots, sample, references, ignoreCase } = question;
  const sized = await Promise.all(
    roots.map((root) => sizeOf(root, referencedUnder(root, sample, references, ignoreCase), question)),
  );
  const keys = sized.reduce((total, each) => total + each.keys, 0);
  // Each root has at least one shard of its own, which the limit must leave room for.
  const perShard = Math.max(KEYS_PER_SHARD, keys / Math.max(1, MOST_SHARDS - roots.length));
  const items: ListItem[] = [];
  for (const each of sized) {
    const boundaries = await cut(each, Math.ceil(each.keys / perShard));
    for (const interval of intervals(boundaries)) {
      items.push({ shard: items.length, bucket: each.root.bucket, prefix: each.root.prefix, ...interval });
    }
  }
  return items;
}
