/** One delete request and the reading of its answer: every key ends in a result, or stays to be tried again. */
import { AccessDeniedError } from '#shared/errors.ts';
import type { SettledKey } from '#shared/run/outcomes.ts';
import type { CandidateLine } from '#shared/run/receipts.ts';
import { stepAfterDenial } from '#shared/storage/denied.ts';
import { type DeleteReply, isStoreFault, type ObjectStore, StoreError } from '#shared/storage/object-store.ts';

export interface SentRequest {
  readonly settled: readonly SettledKey[];
  /** Keys without an answer, or with one that a retry may mend. */
  readonly again: readonly string[];
  readonly throttled: boolean;
  /** Keys that were not asked for at all, since the look at the table had become too old for them. */
  readonly held?: readonly string[];
  /** The store could not answer at all: as much a reason to slow down as a throttle. */
  readonly unavailable: boolean;
  /** The store rejected the request as a whole: no DeleteObjects there, or another form of it wanted. Nothing was deleted. */
  readonly rejected?: StoreError;
}

const PASSING = new Set(['InternalError', 'ServiceUnavailable', 'SlowDown', 'RequestTimeout', 'OperationAborted']);
const THROTTLES = new Set(['SlowDown', 'ServiceUnavailable', 'ThrottlingException', 'TooManyRequests']);
const GONE = new Set(['NoSuchKey', 'NotFound', 'NoSuchVersion']);
const CHANGED = new Set(['PreconditionFailed', 'ConditionalRequestConflict']);

const MANY_DENIED = 10;
const GRANT_DELETE = 'Grant s3:DeleteObject and s3:GetObject under the roots of the table.';

/** Characters that XML 1.0 cannot carry: such keys travel in the URL of a single delete. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the control characters are the point of this pattern.
const NOT_IN_XML = /[\u0000-\u001f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;

export function travelsInXml(key: string): boolean {
  return !NOT_IN_XML.test(key);
}

/**
 * Sends one DeleteObjects. A rejection of the request as a whole is answered, not repeated here: every further request needs
 * a look at the table first.
 */
export async function sendBatch(
  store: ObjectStore,
  bucket: string,
  lines: readonly CandidateLine[],
  options: { readonly conditional: boolean; readonly checksum: 'crc32' | 'md5' },
): Promise<SentRequest> {
  const { conditional, checksum } = options;
  const identifiers = lines.map(({ key, etag }) => (conditional && etag !== '' ? { key, etag } : { key }));
  let reply: DeleteReply;
  try {
    reply = await store.deleteObjects(bucket, identifiers, { checksum });
  } catch (error) {
    return unanswered(error, bucket, lines);
  }
  return readReply(reply, lines);
}

/**
 * Single deletes: for keys that XML cannot carry, and for stores without DeleteObjects. Each is a request of its own, so
 * each asks whether the look at the table is still good; keys that it came too late for stay to be tried again.
 */
export async function sendSingles(
  store: ObjectStore,
  bucket: string,
  lines: readonly CandidateLine[],
  options: { readonly conditional: boolean; readonly mayStillGo: () => boolean },
): Promise<SentRequest> {
  const { conditional, mayStillGo } = options;
  const settled: SettledKey[] = [];
  const again: string[] = [];
  const held: string[] = [];
  let throttled = false;
  let refusal = '';
  for (const { key, etag } of lines) {
    if (!mayStillGo()) {
      held.push(key);
      continue;
    }
    try {
      const reply = await store.deleteObject(bucket, key, conditional && etag !== '' ? { ifMatch: etag } : {});
      settled.push(deletedKey(key, reply.versionId, reply.deleteMarker));
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      if (error.fault === 'NotFound') settled.push({ key, result: 'absent' });
      else if (error.fault === 'PreconditionFailed') settled.push({ key, result: 'changed' });
      else if (error.fault === 'Throttled' || error.fault === 'Unavailable') {
        throttled ||= error.fault === 'Throttled';
        again.push(key);
      } else {
        settled.push({ key, result: 'failed', code: error.code });
        refusal = error.message;
      }
    }
  }
  stopWhereAllDenied(settled, lines, refusal);
  const unavailable = again.length === lines.length && !throttled;
  return { settled, again, throttled, unavailable, ...(held.length === 0 ? {} : { held }) };
}

/** No usable answer: throttles and passing faults leave every key open; a rejection ends the stage by its name. */
function unanswered(error: unknown, bucket: string, lines: readonly CandidateLine[]): SentRequest {
  const again = lines.map((line) => line.key);
  if (isStoreFault(error, 'Throttled')) return { settled: [], again, throttled: true, unavailable: false };
  if (isStoreFault(error, 'Unavailable')) return { settled: [], again, throttled: false, unavailable: true };
  if (isStoreFault(error, 'AccessDenied')) {
    throw new AccessDeniedError(`Deleting from s3://${bucket} was denied.`, {
      cause: error,
      next: stepAfterDenial(error, `Grant s3:DeleteObject and s3:GetObject on s3://${bucket}/${lines[0]?.key ?? ''}.`),
    });
  }
  if (isStoreFault(error, 'NotImplemented', 'BadRequest'))
    return { settled: [], again, throttled: false, unavailable: false, rejected: error };
  throw error;
}

function readReply(reply: DeleteReply, lines: readonly CandidateLine[]): SentRequest {
  const deleted = new Map(reply.deleted.map((entry) => [entry.key, entry]));
  const errors = new Map(reply.errors.map((entry) => [entry.key, entry]));
  const settled: SettledKey[] = [];
  const again: string[] = [];
  let throttled = false;
  for (const { key } of lines) {
    const error = errors.get(key);
    const done = deleted.get(key);
    // An error goes before a success for the same key: the worse answer counts.
    if (error !== undefined) {
      throttled ||= THROTTLES.has(error.code);
      if (PASSING.has(error.code)) again.push(key);
      else if (GONE.has(error.code)) settled.push({ key, result: 'absent' });
      else if (CHANGED.has(error.code)) settled.push({ key, result: 'changed' });
      else settled.push({ key, result: 'failed', code: error.code });
    } else if (done !== undefined) settled.push(deletedKey(key, done.versionId, done.deleteMarker));
    else again.push(key);
  }
  stopWhereAllDenied(settled, lines, reply.errors[0]?.message ?? '');
  return { settled, again, throttled, unavailable: false };
}

/**
 * A whole request denied is a missing permission: more requests would be denied as well. A few keys may be denied by a policy
 * of their own; they count as failed, and the record tells whether anything was deleted at all.
 */
function stopWhereAllDenied(settled: readonly SettledKey[], lines: readonly CandidateLine[], refusal: string): void {
  const denied = settled.filter((entry) => entry.code === 'AccessDenied');
  if (denied.length < lines.length || lines.length < MANY_DENIED) return;
  throw new AccessDeniedError(`Deleting ${lines.length} files was denied, ${lines[0]?.key} among them.`, {
    next: stepAfterDenial(refusal, GRANT_DELETE),
  });
}

function deletedKey(key: string, versionId: string | undefined, marker: boolean | undefined): SettledKey {
  return marker === true && versionId !== undefined
    ? { key, result: 'deleted', version_id: versionId }
    : { key, result: 'deleted' };
}
