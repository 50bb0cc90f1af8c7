/** One element of `snapshots` (Iceberg spec, "Snapshots"). */
import { arrayOf, type Fields, fieldsOf, optionalText, stringMap } from './json-fields.ts';
import { toBigInt } from './lossless-json.ts';
import type { Snapshot } from './types.ts';

/** Reads one snapshot. Exactly one of `manifest-list` and (v1) `manifests` must lead to its files. */
export function parseSnapshot(item: unknown, source: string): Snapshot {
  const fields = fieldsOf(item, 'a snapshot', source);
  const snapshotId = toBigInt(fields.get('snapshot-id')) ?? fields.fail('snapshot-id', 'is not a whole number');
  const common = {
    snapshotId,
    sequenceNumber: toBigInt(fields.get('sequence-number')) ?? 0n,
    timestampMs: Number(
      toBigInt(fields.get('timestamp-ms')) ?? fields.fail('timestamp-ms', 'is not a time in milliseconds'),
    ),
    summary: summary(fields),
    ...parent(fields),
  };
  const manifestList = optionalText(fields, 'manifest-list');
  const inline = fields.get('manifests');
  const hasInline = inline !== undefined && inline !== null;
  if (manifestList !== undefined && !hasInline) return { ...common, manifestList };
  if (manifestList === undefined && hasInline) return { ...common, manifests: inlineManifests(fields) };
  return fields.fail(
    'manifest-list',
    `and manifests are ${hasInline ? 'both' : 'neither'} given for snapshot ${snapshotId}, so its files cannot be told`,
  );
}

function parent(fields: Fields): { readonly parentSnapshotId?: bigint } {
  const id = toBigInt(fields.get('parent-snapshot-id'));
  return id === undefined || id === -1n ? {} : { parentSnapshotId: id };
}

/** Whether the snapshot names an encryption key of its own (Iceberg spec v3, "Snapshots", `key-id`). */
export function hasOwnKey(item: unknown, source: string): boolean {
  return optionalText(fieldsOf(item, 'a snapshot', source), 'key-id') !== undefined;
}

/** What is asked of a summary: writers fill it with a dozen counters, which is most of a long history's file. */
const isAskedFor = (key: string): boolean =>
  key === 'operation' || key === 'added-data-files' || key.startsWith('flink.job-id');

/** Early v1 files keep `operation` beside the summary. */
function summary(fields: Fields): Readonly<Record<string, string>> {
  const map = Object.fromEntries(Object.entries(stringMap(fields, 'summary')).filter(([key]) => isAskedFor(key)));
  const operation = optionalText(fields, 'operation');
  return operation === undefined || map['operation'] !== undefined ? map : { ...map, operation };
}

function inlineManifests(fields: Fields): readonly string[] {
  return arrayOf(fields, 'manifests').map((path) => {
    return typeof path === 'string' && path !== ''
      ? path
      : fields.fail('manifests', 'holds something that is not a path');
  });
}
