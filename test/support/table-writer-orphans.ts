/** Leavings of every kind, named as engines name them: failed writes, lost commits, expired snapshots. */
import type { FileKind } from '#shared/iceberg/file-kind.ts';
import type { Dice } from './table-writer-model.ts';

export interface PlantedOrphan {
  /** Below the location. */
  readonly path: string;
  readonly kind: FileKind;
  readonly bytes: Uint8Array;
  readonly key: string;
}

/** The orphans to put, with keys still to be completed. */
export function plantedOrphans(dice: Dice, partition: readonly string[], version: number): PlantedOrphan[] {
  const folder = partition.map((name) => `${name}=p0/`).join('');
  const orphan = (path: string, kind: FileKind, length = 64): PlantedOrphan => ({
    path,
    kind,
    bytes: dice.bytes(length),
    key: '',
  });
  const id = dice.snapshotId();
  return [
    orphan(`data/${folder}00000-7-${dice.uuid()}-00001.parquet`, 'data', 300),
    orphan(`data/${folder}00001-7-${dice.uuid()}-00002.orc`, 'data', 200),
    orphan(`data/${folder}20240101_000000_00001_abcde-${dice.uuid()}.parquet`, 'data'),
    orphan(`data/${folder}00000-0-${dice.uuid()}-00001-deletes.parquet`, 'position_delete'),
    orphan(`data/${folder}eq-delete-${dice.uuid()}.parquet`, 'equality_delete'),
    orphan(`data/merged-dvs-${id}-1.puffin`, 'dv'),
    orphan('data/no extension & odd+name é%.bin', 'other'),
    orphan('data/empty.parquet', 'data', 0),
    orphan(`metadata/${dice.uuid()}-m0.avro`, 'manifest', 150),
    orphan(`metadata/snap-${id}-1-${dice.uuid()}.avro`, 'manifest_list', 120),
    orphan(`metadata/${id}-${dice.uuid()}.stats`, 'statistics'),
    orphan(`metadata/partition-stats-${id}-${dice.uuid()}.parquet`, 'statistics'),
    orphan(`metadata/${dice.uuid()}-version-hint.temp`, 'other', 2 + (version % 2)),
  ];
}
