/** What the embedded server asks of a bucket, and how a bucket says no. */

export class S3Refusal extends Error {
  override readonly name = 'S3Refusal';
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string = code) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

export interface StoredMeta {
  readonly key: string;
  readonly sizeBytes: number;
  readonly lastModifiedMs: number;
  /** With its quotes. */
  readonly etag: string;
  readonly versionId?: string;
}

export interface VersionMeta extends StoredMeta {
  readonly versionId: string;
  readonly isLatest: boolean;
  readonly isDeleteMarker: boolean;
}

export interface PutConditions {
  readonly ifNoneMatch?: string;
  readonly ifMatch?: string;
}

export interface DeleteAnswer {
  readonly versionId?: string;
  readonly deleteMarker?: boolean;
}

export interface BucketBackend {
  head(key: string, versionId?: string): Promise<StoredMeta>;
  read(key: string, start: number, end: number, versionId?: string): Promise<Buffer>;
  put(key: string, body: Buffer, conditions: PutConditions): Promise<StoredMeta>;
  /** `ifMatch` refuses with 412 where the object differs and 404 where there is none. */
  delete(key: string, options: { readonly ifMatch?: string; readonly versionId?: string }): Promise<DeleteAnswer>;
  /**
   * Current objects under a prefix with keys strictly after `after`, in byte order. Of keys that the delimiter rolls up into one
   * common prefix the first is enough.
   */
  scan(prefix: string, after: string | undefined, delimiter?: string): AsyncIterable<StoredMeta> | Iterable<StoredMeta>;
  scanVersions(prefix: string): AsyncIterable<VersionMeta> | Iterable<VersionMeta>;
  versioning(): 'Enabled' | 'Suspended' | undefined;
  setVersioning(status: 'Enabled' | 'Suspended'): void;
  tags(key: string): ReadonlyMap<string, string>;
  setTags(key: string, tags: ReadonlyMap<string, string>): void;
}

export function noSuchKey(key: string): S3Refusal {
  return new S3Refusal(404, 'NoSuchKey', `The specified key does not exist: ${key}`);
}

export function preconditionFailed(): S3Refusal {
  return new S3Refusal(412, 'PreconditionFailed', 'At least one of the preconditions did not hold');
}
