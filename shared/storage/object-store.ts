/**
 * The port through which every stage sees an object store. Adapters: `s3-store.ts` (AWS SDK) and the in-process store of
 * the tests. Keys are byte-exact: what was listed is what is read and deleted.
 */
import { IcesweepError } from '#shared/errors.ts';

/** One object as a listing shows it. `lastModifiedMs` is NaN where the store gave no usable time. */
export interface ListedObject {
  readonly key: string;
  readonly sizeBytes: number;
  readonly lastModifiedMs: number;
  /** As the store gives it, with its quotes; empty where absent. */
  readonly etag: string;
}

export interface ListRequest {
  readonly bucket: string;
  readonly prefix: string;
  readonly startAfter?: string;
  readonly delimiter?: string;
  readonly continuationToken?: string;
  readonly maxKeys?: number;
}

/** One page. Keys and prefixes are decoded, in UTF-8 byte order as the store gave them. */
export interface ListPage {
  readonly objects: readonly ListedObject[];
  readonly commonPrefixes: readonly string[];
  readonly truncated: boolean;
  readonly continuationToken?: string;
}

export interface StoredObject {
  readonly body: Buffer;
  /** Size of the whole object, also for a ranged read. */
  readonly sizeBytes: number;
  readonly etag: string;
  readonly lastModifiedMs: number;
}

export interface ObjectHead {
  readonly sizeBytes: number;
  readonly etag: string;
  readonly lastModifiedMs: number;
}

export interface ObjectVersion {
  readonly key: string;
  readonly versionId: string;
  readonly isDeleteMarker: boolean;
  readonly isLatest: boolean;
  readonly sizeBytes: number;
  readonly lastModifiedMs: number;
  readonly etag: string;
}

export interface VersionPage {
  readonly versions: readonly ObjectVersion[];
  readonly truncated: boolean;
  readonly nextKeyMarker?: string;
  readonly nextVersionIdMarker?: string;
}

export interface DeleteIdentifier {
  readonly key: string;
  /** Delete only if the object still has this ETag. */
  readonly etag?: string;
}

/** The store's answer for the keys of one DeleteObjects request; keys in neither list are unknown. */
export interface DeleteReply {
  readonly deleted: readonly { readonly key: string; readonly versionId?: string; readonly deleteMarker?: boolean }[];
  readonly errors: readonly { readonly key: string; readonly code: string; readonly message: string }[];
}

export type Versioning = 'Enabled' | 'Suspended' | 'Unversioned';

export interface ByteRange {
  /** First byte, inclusive. */
  readonly start: number;
  /** Last byte, inclusive; past the end is allowed. */
  readonly end: number;
}

/**
 * Every method rejects with a {@link StoreError}. A reader takes `NotFound` for absence only; `AccessDenied`, `Throttled`
 * and `Unavailable` never mean absence.
 */
export interface ObjectStore {
  /** A range that starts at or past the end answers an empty body. */
  get(bucket: string, key: string, options?: { readonly range?: ByteRange }): Promise<StoredObject>;
  head(bucket: string, key: string): Promise<ObjectHead>;
  /** `ifNoneMatch: '*'` writes only where nothing is; the loser gets `PreconditionFailed`. */
  put(
    bucket: string,
    key: string,
    body: Uint8Array,
    options?: { readonly ifNoneMatch?: '*'; readonly ifMatch?: string; readonly contentType?: string },
  ): Promise<{ readonly etag: string; readonly versionId?: string }>;
  list(request: ListRequest): Promise<ListPage>;
  listVersions(request: {
    readonly bucket: string;
    readonly prefix: string;
    readonly keyMarker?: string;
    readonly versionIdMarker?: string;
    readonly maxKeys?: number;
  }): Promise<VersionPage>;
  /** One request, never retried inside. `checksum` chooses what protects the body. */
  deleteObjects(
    bucket: string,
    objects: readonly DeleteIdentifier[],
    options?: { readonly checksum?: 'crc32' | 'md5' },
  ): Promise<DeleteReply>;
  /** One request, never retried inside. With `versionId` removes exactly that version or marker. */
  deleteObject(
    bucket: string,
    key: string,
    options?: { readonly ifMatch?: string; readonly versionId?: string },
  ): Promise<{ readonly versionId?: string; readonly deleteMarker?: boolean }>;
  versioning(bucket: string): Promise<Versioning>;
}

export type StoreFault =
  | 'NotFound'
  | 'NoSuchBucket'
  | 'AccessDenied'
  | 'PreconditionFailed'
  | 'Throttled'
  | 'Unavailable'
  | 'BadRequest'
  | 'NotImplemented';

/** A store's refusal, classed by what it means for the caller; `code` is the store's own word. */
export class StoreError extends IcesweepError {
  override readonly name = 'StoreError';
  readonly verdict = 'FAILED' as const;
  readonly fault: StoreFault;
  readonly code: string;
  readonly status: number | undefined;

  constructor(
    fault: StoreFault,
    message: string,
    details: { readonly code?: string; readonly status?: number; readonly cause?: unknown } = {},
  ) {
    super(message, details.cause === undefined ? {} : { cause: details.cause });
    this.fault = fault;
    this.code = details.code ?? fault;
    this.status = details.status;
  }
}

export function isStoreFault(error: unknown, ...faults: readonly StoreFault[]): error is StoreError {
  return error instanceof StoreError && faults.includes(error.fault);
}
