/** One manifest's entries into the sink, with its books checked by the reader. */
import { forEachEntry } from '#shared/iceberg/manifest.ts';
import type { PlannedManifest } from '#shared/run/plan.ts';
import type { ScanReceipt } from '#shared/run/receipts.ts';
import type { ReferenceSink } from './reference-sink.ts';

export type EntryCounts = ScanReceipt['entries'];

export const NO_ENTRIES: EntryCounts = {
  live_data: 0,
  live_position_deletes: 0,
  live_equality_deletes: 0,
  deleted: 0,
};

/** Only status 2 is DELETED; an unknown status counts as live (DESIGN section 3). */
const DELETED = 2;
const AVRO_MAGIC = Buffer.from('Obj\x01', 'latin1');

/**
 * Feeds the sink. Null for a pending manifest that was fetched whole and is no Avro file: its name protects it, and it
 * names nothing. Anything else that cannot be read to its end throws.
 */
export function scanManifest(manifest: PlannedManifest, body: Buffer, sink: ReferenceSink): EntryCounts | null {
  if (manifest.kind === 'pending' && !body.subarray(0, 4).equals(AVRO_MAGIC)) return null;
  const counts = { live_data: 0, live_position_deletes: 0, live_equality_deletes: 0, deleted: 0 };
  const expectations = { entries: manifest.entries, length: manifest.length };
  const covered = manifest.kind === 'pinned';
  forEachEntry(body, manifest.path, expectations, (status, content, filePath, referencedDataFile) => {
    if (status === DELETED) {
      counts.deleted++;
      sink.deleted(filePath);
      return;
    }
    if (content === 1) counts.live_position_deletes++;
    else if (content === 2) counts.live_equality_deletes++;
    else counts.live_data++;
    sink.content(filePath, covered);
    if (referencedDataFile.length > 0) sink.content(referencedDataFile, false);
  });
  return counts;
}

export function countEntries(left: EntryCounts, right: EntryCounts): EntryCounts {
  return {
    live_data: left.live_data + right.live_data,
    live_position_deletes: left.live_position_deletes + right.live_position_deletes,
    live_equality_deletes: left.live_equality_deletes + right.live_equality_deletes,
    deleted: left.deleted + right.deleted,
  };
}
