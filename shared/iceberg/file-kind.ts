/** Kinds guessed from names, for counting and for the report only. They never decide about a file. */
import { parsePendingManifest } from './flink.ts';
import { isMetadataJsonName } from './metadata-names.ts';

export type FileKind =
  | 'data'
  | 'position_delete'
  | 'equality_delete'
  | 'dv'
  | 'manifest'
  | 'manifest_list'
  | 'metadata_file'
  | 'statistics'
  | 'version_hint'
  | 'other';

const CONTENT = /\.(?:parquet|orc|avro)$/i;
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi;

/** First match counts. */
const KINDS: readonly (readonly [FileKind, (name: string) => boolean])[] = [
  ['metadata_file', isMetadataJsonName],
  ['version_hint', (name) => /^version-hint\.te?xt$/.test(name)],
  ['manifest_list', (name) => /^snap-.*\.avro$/.test(name)],
  ['manifest', (name) => /-m\d+\.(?:avro|parquet)$/.test(name) || /^optimized-m-.*\.avro$/.test(name)],
  ['manifest', (name) => parsePendingManifest(name) !== null],
  ['statistics', (name) => /\.stats$/.test(name) || /^partition-stats-/.test(name)],
  ['equality_delete', (name) => CONTENT.test(name) && /eq(?:uality)?[-_]?del/i.test(name)],
  [
    'position_delete',
    (name) => CONTENT.test(name) && /(?:^|[-_.])(?:pos(?:ition)?[-_]?)?deletes?(?:[-_.]|$)/i.test(name),
  ],
  ['dv', (name) => name.endsWith('.puffin')],
  ['data', (name) => CONTENT.test(name)],
];

/** The kind that a key's name suggests. A manifest of another name counts as data: only its folder could tell. */
export function fileKind(key: string): FileKind {
  const name = key.slice(key.lastIndexOf('/') + 1);
  return KINDS.find(([, matches]) => matches(name))?.[0] ?? 'other';
}

/** The id of the write that left a file: the last UUID in its name (commit, operation or query); null where there is none. */
export function writeOperation(key: string): string | null {
  const name = key.slice(key.lastIndexOf('/') + 1);
  return name.match(UUID)?.at(-1)?.toLowerCase() ?? null;
}
