/** Names of table metadata files (DESIGN section 3, version grammar). */

export interface MetadataName {
  /** `hadoop`: `v<N>`, committed by rename; `catalog`: `<NNNNN>-<uuid>`, pointed to by a catalog. */
  readonly form: 'hadoop' | 'catalog';
  readonly version: bigint;
  /** What follows the number of a catalog name, where it is a UUID, as the grammar wants. Later files of any such form still count. */
  readonly uuid?: string;
}

/** Every spelling with and without gzip: `v1.metadata.json`, `v1.gz.metadata.json`, `v1.gzip.metadata.json`, `v1.metadata.json.gz`. */
const SUFFIXES = [
  '.metadata.json',
  '.gz.metadata.json',
  '.gzip.metadata.json',
  '.metadata.json.gz',
  '.metadata.json.gzip',
];

const HADOOP = /^v(\d+)$/;
const CATALOG = /^(\d+)-([^/]+)$/;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Form and version of a metadata file's name; null for any other name, which counts only where it is named explicitly. */
export function parseMetadataName(fileName: string): MetadataName | null {
  const stem = metadataStem(fileName);
  if (stem === null) return null;
  const hadoop = HADOOP.exec(stem);
  if (hadoop !== null) return { form: 'hadoop', version: BigInt(hadoop[1] as string) };
  const catalog = CATALOG.exec(stem);
  if (catalog === null) return null;
  const [, version, rest] = catalog as unknown as [string, string, string];
  return { form: 'catalog', version: BigInt(version), ...(UUID.test(rest) ? { uuid: rest } : {}) };
}

/** Whether a name or key is one of a metadata file, whatever its version grammar. */
export function isMetadataJsonName(name: string): boolean {
  return SUFFIXES.some((suffix) => name.endsWith(suffix));
}

export interface RankedMetadata {
  readonly name: string;
  readonly version: bigint;
  readonly lastUpdatedMs: number;
}

/** Orders by version, then `last-updated-ms`, then name; the last one is current. */
export function compareCandidates(a: RankedMetadata, b: RankedMetadata): number {
  if (a.version !== b.version) return a.version < b.version ? -1 : 1;
  if (a.lastUpdatedMs !== b.lastUpdatedMs) return a.lastUpdatedMs - b.lastUpdatedMs;
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}

/** The name without its ending, gzip or not; null for other files. */
export function metadataStem(fileName: string): string | null {
  // The longest suffix: `v1.gz.metadata.json` ends with `.metadata.json` as well.
  const suffix = SUFFIXES.filter((candidate) => fileName.endsWith(candidate)).sort((a, b) => b.length - a.length)[0];
  return suffix === undefined ? null : fileName.slice(0, -suffix.length);
}
