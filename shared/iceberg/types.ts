/** What icesweep takes from Iceberg metadata. Ids are bigint; paths are as recorded, never normalised here. */

export interface Snapshot {
  readonly snapshotId: bigint;
  readonly parentSnapshotId?: bigint;
  readonly sequenceNumber: bigint;
  readonly timestampMs: number;
  /** Exactly one of `manifestList` and `manifests` (v1 inline) is present; the parser refuses both or neither. */
  readonly manifestList?: string;
  readonly manifests?: readonly string[];
  /** `operation`, `added-data-files` and Flink's job ids; nothing else is kept. */
  readonly summary: Readonly<Record<string, string>>;
}

export interface TableMetadata {
  /** The recorded path or URI that it was read from. */
  readonly metadataLocation: string;
  readonly formatVersion: number;
  /** Absent in some v1 files: then the table is known by its location. */
  readonly tableUuid?: string;
  readonly location: string;
  readonly lastUpdatedMs: number;
  readonly lastSequenceNumber: bigint;
  readonly currentSnapshotId?: bigint;
  readonly properties: Readonly<Record<string, string>>;
  readonly snapshots: readonly Snapshot[];
  readonly metadataLog: readonly { readonly metadataFile: string; readonly timestampMs: number }[];
  readonly statistics: readonly string[];
  readonly partitionStatistics: readonly string[];
  /** Names of the partition fields of every spec. */
  readonly partitionFields: readonly string[];
  /** Table encryption keys, snapshot key-ids or an `encryption.key-id` property were found. */
  readonly encrypted: boolean;
}

/** One row of a manifest list. Counts and length are undefined where the list does not give them. */
export interface ManifestFile {
  readonly manifestPath: string;
  readonly manifestLength?: number;
  readonly content: 'data' | 'deletes';
  readonly sequenceNumber?: bigint;
  readonly addedFilesCount?: number;
  readonly existingFilesCount?: number;
  readonly deletedFilesCount?: number;
  readonly encrypted: boolean;
}

/** One manifest entry, projected. `status` may be a number that the spec does not know; only 2 is DELETED. */
export interface ManifestEntry {
  readonly status: number;
  /** 0 data, 1 position deletes (deletion vectors too), 2 equality deletes. */
  readonly content: number;
  readonly filePath: string;
  readonly referencedDataFile?: string;
  readonly encrypted: boolean;
}
