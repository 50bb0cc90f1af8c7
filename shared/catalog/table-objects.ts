/**
 * Reading a table's storage with errors that say what to do. Absence is the only fault that is answered as a value; denied,
 * throttled and broken replies never look like an empty table.
 */
import {
  AccessDeniedError,
  ListingIncompleteError,
  MetadataUnreadableError,
  ServiceUnavailableError,
} from '#shared/errors.ts';
import { stepAfterDenial } from '#shared/storage/denied.ts';
import {
  type ByteRange,
  isStoreFault,
  type ListedObject,
  type ListPage,
  type ListRequest,
  type ObjectHead,
  type ObjectStore,
  type StoredObject,
  StoreError,
} from '#shared/storage/object-store.ts';

/** The named error that a store's refusal stands for. */
export function nameStoreError(error: unknown, action: string, bucket: string, key: string): unknown {
  if (!(error instanceof StoreError)) return error;
  const what = `s3://${bucket}/${key}`;
  switch (error.fault) {
    case 'AccessDenied':
      return new AccessDeniedError(`${action} on ${what} was denied.`, {
        cause: error,
        next: `${stepAfterDenial(error, `Grant ${action} there.`)} Then start a new run.`,
      });
    case 'NoSuchBucket':
      return new MetadataUnreadableError(
        `${what}, which the metadata names, cannot be read: there is no such bucket.`,
        {
          cause: error,
          next: "Map the recorded prefix to where the files lie, with path_aliases or --mount, or repair the table's metadata.",
        },
      );
    case 'Throttled':
    case 'Unavailable':
      return new ServiceUnavailableError(`The store did not answer ${action} on ${what}: ${error.message}`, {
        cause: error,
      });
    default:
      return new MetadataUnreadableError(`${action} on ${what} failed: ${error.message}`, { cause: error });
  }
}

/** The object, or undefined where there is none. */
export async function readObject(
  store: ObjectStore,
  bucket: string,
  key: string,
  range?: ByteRange,
): Promise<StoredObject | undefined> {
  try {
    return await store.get(bucket, key, range === undefined ? {} : { range });
  } catch (error) {
    if (isStoreFault(error, 'NotFound')) return undefined;
    throw nameStoreError(error, 's3:GetObject', bucket, key);
  }
}

/** The head, or undefined where there is no such object. */
export async function headObject(store: ObjectStore, bucket: string, key: string): Promise<ObjectHead | undefined> {
  try {
    return await store.head(bucket, key);
  } catch (error) {
    if (isStoreFault(error, 'NotFound')) return undefined;
    throw nameStoreError(error, 's3:GetObject', bucket, key);
  }
}

export async function listPage(store: ObjectStore, request: ListRequest): Promise<ListPage> {
  try {
    return await store.list(request);
  } catch (error) {
    throw nameStoreError(error, 's3:ListBucket', request.bucket, request.prefix);
  }
}

export interface Listing {
  readonly objects: readonly ListedObject[];
  readonly commonPrefixes: readonly string[];
  readonly pages: number;
}

export interface WholeListingOptions {
  /** Objects that are asked about; all where it is absent. */
  readonly keeps?: (key: string) => boolean;
  /** False once time is up: then the listing ends by name, not by a worker that dies. */
  readonly hasTime?: () => boolean;
}

/**
 * Everything under a prefix, in one answer; for folders whose size is known to be small beside the table's, or of which only
 * few objects are kept.
 */
export async function listWhole(
  store: ObjectStore,
  request: ListRequest,
  { keeps = () => true, hasTime = () => true }: WholeListingOptions = {},
): Promise<Listing> {
  const objects: ListedObject[] = [];
  const commonPrefixes: string[] = [];
  const tokens = new Set<string>();
  let token: string | undefined;
  let pages = 0;
  for (;;) {
    const page = await listPage(store, token === undefined ? request : { ...request, continuationToken: token });
    pages += 1;
    for (const object of page.objects) if (keeps(object.key)) objects.push(object);
    for (const prefix of page.commonPrefixes) commonPrefixes.push(prefix);
    if (!page.truncated) return { objects, commonPrefixes, pages };
    token = page.continuationToken;
    if (token === undefined || token === '' || tokens.has(token)) {
      throw new ListingIncompleteError(
        `The listing of s3://${request.bucket}/${request.prefix} says that more follows, but not where.`,
        { next: 'Nothing was deleted; start a new run.' },
      );
    }
    tokens.add(token);
    if (!hasTime()) {
      throw new ListingIncompleteError(
        `The folder s3://${request.bucket}/${request.prefix} has too many files for one call: ${pages} pages were listed, and more follow.`,
        { next: 'Remove old metadata files first (write.metadata.delete-after-commit.enabled), then start a new run.' },
      );
    }
  }
}

/** Runs `work` over the items, at most `limit` at a time, answers in order. The first failure ends it. */
export async function inOrder<T, R>(
  items: readonly T[],
  limit: number,
  work: (item: T, index: number) => Promise<R>,
): Promise<R[]> {
  const results = new Array<R>(items.length);
  let next = 0;
  let failed = false;
  const worker = async (): Promise<void> => {
    while (next < items.length && !failed) {
      const index = next;
      next += 1;
      try {
        results[index] = await work(items[index] as T, index);
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker));
  return results;
}

/** Answers in order, at most `limit` of them under way or waiting to be taken. The first failure ends it. */
export async function* ahead<T, R>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<R>,
): AsyncGenerator<{ readonly item: T; readonly answer: R }> {
  const begun: Promise<R>[] = [];
  let next = 0;
  try {
    for (const item of items) {
      for (; next < items.length && begun.length < limit; next++) {
        const answer = work(items[next] as T);
        // Awaited in its turn; until then a failure is nobody's.
        answer.catch(() => {});
        begun.push(answer);
      }
      yield { item, answer: await (begun.shift() as Promise<R>) };
    }
  } finally {
    await Promise.allSettled(begun);
  }
}
