/** Walks a table in memory with the readers under test: everything that a metadata file names, by kind. */

import { forEachEntry } from '#shared/iceberg/manifest.ts';
import { promisedEntries, readManifestList } from '#shared/iceberg/manifest-list.ts';
import { parseTableMetadata } from '#shared/iceberg/metadata-json.ts';
import { directReferences } from '#shared/iceberg/reachability.ts';
import type { TableMetadata } from '#shared/iceberg/types.ts';

export interface WalkedTable {
  readonly meta: TableMetadata;
  /** Recorded paths of everything referenced. */
  readonly references: ReadonlySet<string>;
  /** Of live entries only: what coverage counts. */
  readonly contentFiles: ReadonlySet<string>;
  /** Paths of DELETED entries. */
  readonly deleted: ReadonlySet<string>;
  /** Manifests, each read once. */
  readonly manifests: ReadonlySet<string>;
  readonly entries: number;
}

/** `read` gives the bytes of a recorded path, or throws. */
export function walkTable(metadataLocation: string, read: (recorded: string) => Uint8Array): WalkedTable {
  const meta = parseTableMetadata(read(metadataLocation), metadataLocation);
  const direct = directReferences(meta);
  const references = new Set(direct.map(({ path }) => path));
  const walked = {
    meta,
    references,
    contentFiles: new Set<string>(),
    deleted: new Set<string>(),
    manifests: new Set<string>(),
    entries: 0,
  };
  const scan = (path: string, entries?: number, length?: number) => {
    references.add(path);
    if (walked.manifests.has(path)) return;
    walked.manifests.add(path);
    forEachEntry(read(path), path, { entries, length }, (status, _content, filePath, referenced) => {
      walked.entries++;
      const file = filePath.view().toString();
      if (status === 2) {
        walked.deleted.add(file);
        return;
      }
      references.add(file);
      walked.contentFiles.add(file);
      if (referenced.length > 0) references.add(referenced.view().toString());
    });
  };
  for (const { path, kind } of direct) {
    if (kind === 'manifest') scan(path);
    if (kind !== 'manifest_list') continue;
    for (const row of readManifestList(read(path), path))
      scan(row.manifestPath, promisedEntries(row), row.manifestLength);
  }
  return walked;
}
