/** What every adapter of the object store port must do; run against each of them by `s3-*.test.ts`. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isStoreFault, type ListedObject, type ObjectStore, type StoreFault } from '#shared/storage/object-store.ts';

/** What a store can do beyond the least; checks that need more are not registered for it. */
export type Ability =
  /** Any key fits, also such as a file system reads otherwise. */
  | 'anyKey'
  | 'conditionalDelete'
  /** Conditional puts hold against puts at the same time. */
  | 'conditionalPut'
  | 'batchLimit'
  | 'controlCharacters'
  /** A delete of a key that a marker hides writes another marker. */
  | 'secondMarker'
  /** Listings of versions come in pages of the size that was asked for. */
  | 'versionPages'
  | 'missingBucket'
  /** A common prefix that the StartAfter lies inside of is shown. */
  | 'delimiterAfter';

export interface StoreUnderTest {
  readonly store: ObjectStore;
  readonly bucket: string;
  /** Where the checks may write; empty or ending with `/`. */
  readonly prefix: string;
}

export interface CheckContext {
  readonly store: ObjectStore;
  readonly bucket: string;
  /** Of this check alone; ends with `/`. */
  readonly at: string;
}

export interface Check {
  readonly name: string;
  readonly needs?: readonly Ability[];
  run(context: CheckContext): Promise<void>;
}

/** Registers the checks that the subject has the abilities for. */
export function registerChecks(
  title: string,
  checks: readonly Check[],
  subject: () => Promise<StoreUnderTest> | StoreUnderTest,
  abilities: ReadonlySet<Ability>,
): void {
  checks.forEach((check, index) => {
    if (check.needs?.some((need) => !abilities.has(need))) return;
    test(`${title}: ${check.name}`, async () => {
      const { store, bucket, prefix } = await subject();
      await check.run({ store, bucket, at: `${prefix}check-${index}/` });
    });
  });
}

/** Puts small objects, a few at a time; the body of each is its key. */
export async function putKeys({ store, bucket }: CheckContext, keys: readonly string[]): Promise<void> {
  for (let start = 0; start < keys.length; start += 50) {
    await Promise.all(keys.slice(start, start + 50).map((key) => store.put(bucket, key, Buffer.from(key))));
  }
}

export interface Walked {
  readonly keys: readonly string[];
  readonly objects: readonly ListedObject[];
  readonly commonPrefixes: readonly string[];
  readonly pages: number;
}

/** Every page of a listing; a truncated page without a new token fails. */
export async function walk(
  { store, bucket }: CheckContext,
  request: { readonly prefix: string; readonly delimiter?: string; readonly startAfter?: string; maxKeys?: number },
): Promise<Walked> {
  const objects: ListedObject[] = [];
  const commonPrefixes: string[] = [];
  const tokens = new Set<string>();
  let token: string | undefined;
  let pages = 0;
  for (;;) {
    const page = await store.list({ bucket, ...request, ...(token === undefined ? {} : { continuationToken: token }) });
    pages++;
    objects.push(...page.objects);
    commonPrefixes.push(...page.commonPrefixes);
    if (!page.truncated) return { keys: objects.map(({ key }) => key), objects, commonPrefixes, pages };
    token = page.continuationToken;
    assert.ok(token !== undefined && !tokens.has(token), 'a truncated page has a token of its own');
    tokens.add(token);
  }
}

/** Asserts the fault that a promise rejects with. */
export async function rejectsWith(work: Promise<unknown>, fault: StoreFault): Promise<void> {
  await assert.rejects(work, (error: unknown) => {
    assert.ok(isStoreFault(error, fault), `expected ${fault}, got ${String(error)}`);
    return true;
  });
}

export function byBytes(keys: readonly string[]): string[] {
  return [...keys].sort((left, right) => Buffer.compare(Buffer.from(left), Buffer.from(right)));
}
