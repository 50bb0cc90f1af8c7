/** What the names in a metadata folder tell, without a file being read (DESIGN section 3). */
import { type MetadataName, parseMetadataName } from '#shared/iceberg/metadata-names.ts';
import type { ListedObject, ObjectStore } from '#shared/storage/object-store.ts';
import type { FolderView } from './catalog.ts';
import { inOrder, listPage } from './table-objects.ts';

export const READS_AT_ONCE = 8;

export interface Candidate {
  readonly key: string;
  readonly name: MetadataName;
}

export const fileName = (key: string): string => key.slice(key.lastIndexOf('/') + 1);

export function candidateOf(key: string): Candidate | undefined {
  const name = parseMetadataName(fileName(key));
  return name === null ? undefined : { key, name };
}

/** Objects of the folder itself, not of folders below it. */
function directChildren(objects: readonly ListedObject[], prefix: string): readonly ListedObject[] {
  return objects.filter(({ key }) => !key.slice(prefix.length).includes('/'));
}

/** Names that a writer of version `version` would use, as prefixes: `v<N>.` covers every gzip spelling. */
function namePrefixes(version: bigint): readonly string[] {
  const digits = version.toString();
  const padded = digits.padStart(5, '0');
  return padded === digits ? [`v${digits}.`, `${digits}-`] : [`v${digits}.`, `${padded}-`, `${digits}-`];
}

/** Metadata files named for `from` or a later version, asked for upward until no name answers. */
export async function askUpward(
  store: ObjectStore,
  view: FolderView,
  known: ReadonlySet<string>,
): Promise<Candidate[]> {
  const found: Candidate[] = [];
  let version = BigInt(view.version);
  for (;;) {
    const answers = await inOrder([...namePrefixes(version), ...namePrefixes(version + 1n)], READS_AT_ONCE, (name) =>
      listPage(store, { bucket: view.bucket, prefix: view.prefix + name, maxKeys: 100 }),
    );
    const fresh = answers
      .flatMap(({ objects }) => directChildren(objects, view.prefix))
      .map(({ key }) => candidateOf(key))
      .filter((candidate) => candidate !== undefined)
      .filter(({ key }) => !known.has(key) && !found.some((earlier) => earlier.key === key));
    if (fresh.length === 0) return found;
    found.push(...fresh);
    const highest = highestVersion(fresh.map(({ key }) => fileName(key)));
    version = highest > version ? highest : version + 1n;
  }
}

export function highestVersion(names: readonly string[]): bigint {
  return names.reduce((most, name) => {
    const version = parseMetadataName(name)?.version ?? 0n;
    return version > most ? version : most;
  }, 0n);
}
