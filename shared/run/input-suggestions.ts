/** What an unknown name in the input most likely meant. Answered, never silently taken: a mistyped `dryrun` must not delete. */

/** Names that other systems give to what we call otherwise; compared without case, `-` and `_`. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  retentionthreshold: 'older_than',
  retention: 'older_than',
  retentiondays: 'older_than',
  retentionhours: 'older_than',
  orphanfileretentionperiodindays: 'older_than',
  minage: 'older_than',
  maxage: 'older_than',
  minfileage: 'older_than',
  age: 'older_than',
  tablename: 'table',
  tableidentifier: 'table',
  identifier: 'table',
  dry: 'dry_run',
  simulate: 'dry_run',
  deletemode: 'dry_run',
  tableuri: 'table',
  metadatafile: 'metadata_location',
  metadatapath: 'metadata_location',
  maxdeletedpercent: 'max_orphan_percent',
  maxdeletepercent: 'max_orphan_percent',
  threshold: 'max_orphan_percent',
  parallelism: 'max_concurrent_deletes',
  concurrency: 'max_concurrent_deletes',
  deletespersecond: 'delete_cooldown_seconds',
  cooldown: 'delete_cooldown_seconds',
  locationconflictmode: 'former_table_uuids',
  reason: 'comment',
  planid: 'plan',
  plandigest: 'override',
};

const bare = (name: string): string => name.toLowerCase().replace(/[-_ ]/g, '');

/** Edit distance with swapped neighbours as one edit. */
export function editDistance(a: string, b: string): number {
  let older: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const change = a[i - 1] === b[j - 1] ? 0 : 1;
      let cost = Math.min(previous[j]! + 1, row[j - 1]! + 1, previous[j - 1]! + change);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) cost = Math.min(cost, older[j - 2]! + 1);
      row.push(cost);
    }
    older = previous;
    previous = row;
  }
  return previous[b.length]!;
}

/** The known name that `name` is nearest to, or undefined where none is near. */
export function suggestName(name: string, known: readonly string[]): string | undefined {
  const meant = bare(name);
  const elsewhere = ELSEWHERE[meant];
  if (elsewhere !== undefined) return elsewhere;
  const ranked = known
    .map((candidate) => ({ candidate, distance: editDistance(meant, bare(candidate)) }))
    .sort((a, b) => a.distance - b.distance);
  const nearest = ranked[0];
  return nearest !== undefined && nearest.distance <= Math.max(1, Math.floor(meant.length / 3))
    ? nearest.candidate
    : undefined;
}
