/**
 * What table metadata names directly: the roots of reachability less the manifests' entries (DESIGN section 3). Each kind is a
 * function of its own, so that a new one, such as v4's relative paths, is one more line in {@link directReferences}.
 */
import type { PlannedReference } from '#shared/run/plan.ts';
import type { TableMetadata } from './types.ts';

/** Every path that the metadata file names or stands for, in no order, repeats included. */
export function directReferences(meta: TableMetadata): PlannedReference[] {
  return [
    ...ownFile(meta),
    ...metadataLog(meta),
    ...versionHints(meta),
    ...manifestLists(meta),
    ...inlineManifests(meta),
    ...statistics(meta),
    ...partitionStatistics(meta),
  ];
}

/** The metadata file itself; a table without snapshots still protects it. */
function ownFile(meta: TableMetadata): PlannedReference[] {
  return [{ path: meta.metadataLocation, kind: 'metadata_file' }];
}

/** Spec, "Table Metadata Fields", `metadata-log`: earlier files, needed to roll back. One that is gone does no harm (CA-05). */
function metadataLog(meta: TableMetadata): PlannedReference[] {
  return meta.metadataLog.map(({ metadataFile }) => ({ path: metadataFile, kind: 'metadata_file' }));
}

/** The hint of file-system catalogs, under the location with or without a final slash (CA-03). Never deleted, whoever wrote it. */
function versionHints(meta: TableMetadata): PlannedReference[] {
  const folder = `${meta.location.replace(/\/+$/, '')}/metadata`;
  return ['version-hint.text', 'version-hint.txt'].map((name) => ({ path: `${folder}/${name}`, kind: 'version_hint' }));
}

/** Spec, "Snapshots": of every snapshot in `snapshots`, whatever refs and logs say (RE-03, RE-04, RE-05, RE-07). */
function manifestLists(meta: TableMetadata): PlannedReference[] {
  return meta.snapshots.flatMap(({ manifestList }) =>
    manifestList === undefined ? [] : [{ path: manifestList, kind: 'manifest_list' as const }],
  );
}

/** Spec v1, "Snapshots", `manifests`: paths of manifests instead of a list. */
function inlineManifests(meta: TableMetadata): PlannedReference[] {
  return meta.snapshots.flatMap(({ manifests }) =>
    (manifests ?? []).map((path) => ({ path, kind: 'manifest' as const })),
  );
}

/** Spec, "Table Statistics" (RE-01). */
function statistics(meta: TableMetadata): PlannedReference[] {
  return meta.statistics.map((path) => ({ path, kind: 'statistics' }));
}

/** Spec, "Partition Statistics". */
function partitionStatistics(meta: TableMetadata): PlannedReference[] {
  return meta.partitionStatistics.map((path) => ({ path, kind: 'partition_statistics' }));
}
