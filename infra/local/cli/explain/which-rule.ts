/** Which rule keeps a listed file that no metadata names, in the order in which the run asks them (DESIGN section 6). For words only. */
import picomatch from 'picomatch';
import { parsePendingManifest, startsWithJobId } from '#shared/iceberg/flink.ts';
import { foldKey } from '#shared/identity/fold-key.ts';
import { type Place, recordedPath } from '#shared/identity/references.ts';
import { humanDuration, humanTime } from '#shared/report/format.ts';
import type { Plan } from '#shared/run/plan.ts';
import type { ObjectHead } from '#shared/storage/object-store.ts';

export interface Explained {
  readonly verdict: 'kept' | 'orphan' | 'absent' | 'unknown';
  readonly because: string;
}

function protection(plan: Plan, relative: string): string | undefined {
  const name = relative.slice(relative.lastIndexOf('/') + 1);
  if (relative.split('/').some((part) => part === '.' || part === '..')) return 'its key has a dot segment';
  if (parsePendingManifest(name) !== null) return 'its name is that of a pending Flink manifest';
  if (startsWithJobId(name, plan.flink.job_ids))
    return 'its name starts with the id of a Flink job that committed here';
  const hidden = relative
    .split('/')
    .find((part) => /^[_.]/.test(part) && !plan.partition_fields.some((field) => part.startsWith(`${field}=`)));
  if (hidden !== undefined)
    return `${JSON.stringify(hidden)} is a hidden name (it begins with _ or . and is no partition)`;
  const glob = plan.input.exclude.find((pattern) =>
    picomatch.isMatch(relative, pattern.endsWith('/') ? `${pattern}**` : pattern, { dot: true, posix: true }),
  );
  return glob === undefined ? undefined : `the exclude glob ${JSON.stringify(glob)} matches it`;
}

function byTime(plan: Plan, head: ObjectHead): string | undefined {
  const t0 = Date.parse(plan.t0);
  const time = head.lastModifiedMs;
  const written = humanTime(new Date(Number.isFinite(time) ? time : 0).toISOString());
  if (!Number.isFinite(time) || time < Date.UTC(2006, 0, 1) || time > t0 + 86_400_000)
    return 'undated: the store gives no plausible time for it';
  if (time >= Date.parse(plan.cutoff)) {
    const age = time > t0 ? 'written after the run began' : `${humanDuration(t0 - time)} old at the run's start`;
    return `too young: written ${written}, ${age}; the cut-off was ${humanTime(plan.cutoff)}`;
  }
  const waits = plan.writer_time === null || time >= Date.parse(plan.writer_time);
  if (waits && t0 - time < plan.input.max_writer_lag_ms) {
    const since =
      plan.writer_time === null
        ? 'the table has no data commit yet'
        : `the newest data commit, less a day, is of ${humanTime(plan.writer_time)}`;
    return `waiting: written ${written}, and ${since}; a late commit may still name it until it is ${humanDuration(plan.input.max_writer_lag_ms)} old`;
  }
  return undefined;
}

/** The key relative to its root, whatever spelling either has; undefined where it lies outside all roots of the run. */
export function belowRoot(plan: Plan, place: Place): string | undefined {
  const fold = (key: string): string => foldKey(key, plan.identity.ignoreCase);
  const own = plan.roots.filter(({ bucket }) => bucket === place.bucket);
  const exact = own.find(({ prefix }) => place.key.startsWith(prefix));
  if (exact !== undefined) return place.key.slice(exact.prefix.length);
  const folded = fold(place.key);
  const root = own.find(({ prefix }) => folded.startsWith(fold(prefix)));
  return root === undefined ? undefined : folded.slice(fold(root.prefix).length);
}

export function outsideTheRoots(plan: Plan): Explained {
  const roots = plan.roots.map((one) => recordedPath(one.bucket, one.prefix, plan.identity));
  return {
    verdict: 'kept',
    because: `outside the roots of the run (${roots.join(', ')}), which are all it may touch`,
  };
}

/**
 * Why a file that is there, and that no metadata names, is not on the list.
 *
 * @param relative its key below its root
 */
export function whichRule(
  plan: Plan,
  { key, relative }: { key: string; relative: string },
  head: ObjectHead,
): Explained {
  if (head.sizeBytes === 0 && /(?:\/|_\$folder\$)$/.test(key))
    return { verdict: 'kept', because: 'a folder marker, no file' };
  const rule = protection(plan, relative);
  if (rule !== undefined) return { verdict: 'kept', because: `protected: ${rule}` };
  const time = byTime(plan, head);
  if (time !== undefined) return { verdict: 'kept', because: time };
  return {
    verdict: 'unknown',
    because:
      'no metadata names it now and no rule keeps it: it was named when the run looked, came later, or hides behind a false positive of the filter; the next run, with another salt, decides anew',
  };
}
