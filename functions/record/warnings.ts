/** What a record warns of: the plan's own warnings, and what the other stages met. At most 50 sentences. */
import { type Place, recordedPath } from '#shared/identity/references.ts';
import { counted } from '#shared/report/format.ts';
import { MOST_UNMANAGED_PREFIXES, type Plan } from '#shared/run/plan.ts';
import type { Gathered } from './gather.ts';

export function warningsOf({ plan, scans, lists }: Gathered, versioned: boolean, deleted: number): string[] {
  const warnings = [...(plan?.input.warnings ?? []), ...(plan?.warnings ?? [])];
  const waiting = sum(
    lists.map((receipt) => receipt.classes.waiting.content.files + receipt.classes.waiting.metadata.files),
  );
  if (waiting > 0)
    warnings.push(`${waiting} files are newer than the last data commit and may wait for a late one; they were kept.`);
  if (plan !== undefined) warnings.push(...unlistedFolders(plan));
  const odd = scans.flatMap((receipt) => receipt.pending_not_avro);
  if (odd.length > 0)
    warnings.push(`${odd.length} pending manifests are no Avro files and were kept, ${odd[0]} among them.`);
  const dotted = sum(lists.map((receipt) => receipt.dot_segments_count));
  if (plan !== undefined && dotted > 0) {
    const { bucket, key } = lists.flatMap(({ bucket, dot_segments }) =>
      dot_segments.map((key) => ({ bucket, key })),
    )[0] as Place;
    warnings.push(
      `${counted(dotted, 'file')} with a dot segment in the key, or with a name that is no UTF-8 (shown below ./ with %XX for its bytes), counted and kept: ${recordedPath(bucket, key, plan.identity)} among them.`,
    );
  }
  if (versioned && deleted > 0) {
    warnings.push(
      'The bucket is versioned: delete markers were written, the bytes are billed until the versions expire.',
    );
  }
  return [...new Set(warnings)].slice(0, 50);
}

/** The location's other folders are known by name alone: nothing in them was counted. */
function unlistedFolders({ input, location, unmanaged }: Plan): string[] {
  const { prefixes } = unmanaged;
  if (prefixes.length === 0 || input.location !== undefined) return [];
  const names = prefixes.slice(0, 3).map((prefix) => prefix.split('/').at(-2));
  const many = prefixes.length === MOST_UNMANAGED_PREFIXES ? 'At least ' : '';
  return [
    `${many}${counted(prefixes.length, 'folder')} of ${location} outside the roots: ${names.join(', ')}${prefixes.length > 3 ? ', …' : ''}. Nothing in there was listed or counted; scope TABLE lists the whole location.`,
  ];
}

export function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, value) => total + value, 0);
}
