/** The object store port over the AWS SDK. */
import {
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetBucketVersioningCommand,
  GetObjectCommand,
  type GetObjectCommandOutput,
  HeadObjectCommand,
  ListObjectsV2Command,
  type ListObjectsV2CommandOutput,
  ListObjectVersionsCommand,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import type { RequestCounts } from '#shared/run/receipts.ts';
import { decodeFormKey } from './form-decode.ts';
import { installListParser } from './list-parser.ts';
import {
  type ByteRange,
  type DeleteIdentifier,
  type DeleteReply,
  isStoreFault,
  type ListPage,
  type ListRequest,
  type ObjectHead,
  type ObjectStore,
  type ObjectVersion,
  type StoredObject,
  StoreError,
  type Versioning,
  type VersionPage,
} from './object-store.ts';
import { toStoreError } from './s3-errors.ts';

export interface S3StoreOptions {
  /** `sdk` takes the SDK's own reading of listings instead of the strict and faster one. */
  readonly listParser?: 'strict' | 'sdk';
}

export class S3Store implements ObjectStore {
  readonly requests: { -readonly [Name in keyof RequestCounts]: number } = { get: 0, list: 0, put: 0, delete: 0 };
  readonly #client: S3Client;
  /** Without the SDK's retries: a delete is sent again only after a look at the table. */
  readonly #deleter: S3Client;

  constructor(client: S3Client, deleter: S3Client, options: S3StoreOptions = {}) {
    this.#client = client;
    this.#deleter = deleter;
    if (options.listParser !== 'sdk') installListParser(client);
  }

  async get(bucket: string, key: string, options: { readonly range?: ByteRange } = {}): Promise<StoredObject> {
    this.requests.get++;
    const { range } = options;
    const command = new GetObjectCommand({
      Bucket: bucket,
      Key: key,
      ...(range === undefined ? {} : { Range: `bytes=${range.start}-${range.end}` }),
    });
    try {
      const reply = await this.#client.send(command);
      const body = await bodyOf(reply);
      if (reply.ContentLength !== undefined && reply.ContentLength !== body.length) {
        throw new StoreError('Unavailable', `GetObject of s3://${bucket}/${key} ended after ${body.length} bytes.`);
      }
      const total = /\/(\d+)$/.exec(reply.ContentRange ?? '')?.[1];
      return {
        body,
        sizeBytes: total === undefined ? body.length : Number(total),
        etag: reply.ETag ?? '',
        lastModifiedMs: reply.LastModified?.getTime() ?? Number.NaN,
      };
    } catch (error) {
      const named = toStoreError(error, 'GetObject', bucket, key);
      if (range !== undefined && (named.status === 416 || named.code === 'InvalidRange')) {
        return { ...(await this.head(bucket, key)), body: Buffer.alloc(0) };
      }
      throw named;
    }
  }

  async head(bucket: string, key: string): Promise<ObjectHead> {
    this.requests.get++;
    try {
      const reply = await this.#client.send(new HeadObjectCommand({ Bucket: bucket, Key: key }));
      return {
        sizeBytes: reply.ContentLength ?? Number.NaN,
        etag: reply.ETag ?? '',
        lastModifiedMs: reply.LastModified?.getTime() ?? Number.NaN,
      };
    } catch (error) {
      throw toStoreError(error, 'HeadObject', bucket, key);
    }
  }

  async put(
    bucket: string,
    key: string,
    body: Uint8Array,
    options: { readonly ifNoneMatch?: '*'; readonly ifMatch?: string; readonly contentType?: string } = {},
  ): Promise<{ etag: string; versionId?: string }> {
    this.requests.put++;
    const command = new PutObjectCommand({
      Bucket: bucket,
      Key: key,
      Body: body,
      ...(options.ifNoneMatch === undefined ? {} : { IfNoneMatch: options.ifNoneMatch }),
      ...(options.ifMatch === undefined ? {} : { IfMatch: options.ifMatch }),
      ...(options.contentType === undefined ? {} : { ContentType: options.contentType }),
    });
    try {
      const reply = await this.#client.send(command);
      const etag = reply.ETag ?? '';
      return reply.VersionId === undefined ? { etag } : { etag, versionId: reply.VersionId };
    } catch (error) {
      throw toStoreError(error, 'PutObject', bucket, key);
    }
  }

  async list(request: ListRequest): Promise<ListPage> {
    this.requests.list++;
    const command = new ListObjectsV2Command({
      Bucket: request.bucket,
      Prefix: request.prefix,
      EncodingType: 'url',
      ...(request.startAfter === undefined ? {} : { StartAfter: request.startAfter }),
      ...(request.delimiter === undefined ? {} : { Delimiter: request.delimiter }),
      ...(request.continuationToken === undefined ? {} : { ContinuationToken: request.continuationToken }),
      ...(request.maxKeys === undefined ? {} : { MaxKeys: request.maxKeys }),
    });
    try {
      return readPage(await this.#client.send(command), request);
    } catch (error) {
      throw toStoreError(error, 'ListObjectsV2', request.bucket, request.prefix);
    }
  }

  async listVersions(request: Parameters<ObjectStore['listVersions']>[0]): Promise<VersionPage> {
    this.requests.list++;
    const command = new ListObjectVersionsCommand({
      Bucket: request.bucket,
      Prefix: request.prefix,
      EncodingType: 'url',
      ...(request.keyMarker === undefined ? {} : { KeyMarker: request.keyMarker }),
      ...(request.versionIdMarker === undefined ? {} : { VersionIdMarker: request.versionIdMarker }),
      ...(request.maxKeys === undefined ? {} : { MaxKeys: request.maxKeys }),
    });
    try {
      const reply = await this.#client.send(command);
      const decode = reply.EncodingType === 'url' ? decodeFormKey : (key: string) => key;
      const read = (entry: object, isDeleteMarker: boolean): ObjectVersion => {
        const { Key, VersionId, IsLatest, Size, LastModified, ETag } = entry as Record<string, never>;
        return {
          key: decode(Key ?? ''),
          versionId: VersionId ?? 'null',
          isDeleteMarker,
          isLatest: IsLatest === true,
          sizeBytes: Size ?? 0,
          lastModifiedMs: (LastModified as Date | undefined)?.getTime() ?? Number.NaN,
          etag: ETag ?? '',
        };
      };
      const versions = [
        ...(reply.Versions ?? []).map((entry) => read(entry, false)),
        ...(reply.DeleteMarkers ?? []).map((entry) => read(entry, true)),
      ];
      return {
        versions,
        truncated: reply.IsTruncated === true,
        ...(reply.NextKeyMarker === undefined ? {} : { nextKeyMarker: decode(reply.NextKeyMarker) }),
        ...(reply.NextVersionIdMarker === undefined ? {} : { nextVersionIdMarker: reply.NextVersionIdMarker }),
      };
    } catch (error) {
      throw toStoreError(error, 'ListObjectVersions', request.bucket, request.prefix);
    }
  }

  async deleteObjects(
    bucket: string,
    objects: readonly DeleteIdentifier[],
    options: { readonly checksum?: 'crc32' | 'md5' } = {},
  ): Promise<DeleteReply> {
    this.requests.delete++;
    const command = new DeleteObjectsCommand({
      Bucket: bucket,
      Delete: {
        Quiet: false,
        Objects: objects.map(({ key, etag }) => (etag === undefined ? { Key: key } : { Key: key, ETag: etag })),
      },
      // The SDK answers MD5 with a Content-MD5 header, which older S3-compatible stores demand.
      ...(options.checksum === 'md5' ? { ChecksumAlgorithm: 'MD5' as never } : {}),
    });
    try {
      const reply = await this.#deleter.send(command);
      return {
        deleted: (reply.Deleted ?? []).map((entry) => ({
          key: entry.Key ?? '',
          ...(entry.DeleteMarkerVersionId === undefined ? {} : { versionId: entry.DeleteMarkerVersionId }),
          ...(entry.DeleteMarker === undefined ? {} : { deleteMarker: entry.DeleteMarker }),
        })),
        errors: (reply.Errors ?? []).map((entry) => ({
          key: entry.Key ?? '',
          code: entry.Code ?? 'Unknown',
          message: entry.Message ?? '',
        })),
      };
    } catch (error) {
      throw toStoreError(error, 'DeleteObjects', bucket, objects[0]?.key ?? '');
    }
  }

  async deleteObject(
    bucket: string,
    key: string,
    options: { readonly ifMatch?: string; readonly versionId?: string } = {},
  ): Promise<{ versionId?: string; deleteMarker?: boolean }> {
    this.requests.delete++;
    const command = new DeleteObjectCommand({
      Bucket: bucket,
      Key: key,
      ...(options.ifMatch === undefined ? {} : { IfMatch: options.ifMatch }),
      ...(options.versionId === undefined ? {} : { VersionId: options.versionId }),
    });
    try {
      const reply = await this.#deleter.send(command);
      return {
        ...(reply.VersionId === undefined ? {} : { versionId: reply.VersionId }),
        ...(reply.DeleteMarker === undefined ? {} : { deleteMarker: reply.DeleteMarker }),
      };
    } catch (error) {
      throw toStoreError(error, 'DeleteObject', bucket, key);
    }
  }

  async versioning(bucket: string): Promise<Versioning> {
    try {
      const reply = await this.#client.send(new GetBucketVersioningCommand({ Bucket: bucket }));
      return reply.Status ?? 'Unversioned';
    } catch (error) {
      const named = toStoreError(error, 'GetBucketVersioning', bucket, '');
      if (isStoreFault(named, 'NotImplemented')) return 'Unversioned';
      throw named;
    }
  }
}

/** A reply without the fields that make it a page is no page. */
function readPage(reply: ListObjectsV2CommandOutput, request: ListRequest): ListPage {
  if (reply.IsTruncated === undefined || (reply.Contents === undefined && reply.KeyCount === undefined)) {
    throw new StoreError(
      'Unavailable',
      `The listing of s3://${request.bucket}/${request.prefix} came back empty of its fields.`,
    );
  }
  const decode = reply.EncodingType === 'url' ? decodeFormKey : (key: string) => key;
  const objects = (reply.Contents ?? []).map(({ Key, Size, LastModified, ETag }) => {
    if (Key === undefined) throw new StoreError('Unavailable', 'A listed object has no key.');
    return {
      key: decode(Key),
      sizeBytes: Size ?? Number.NaN,
      lastModifiedMs: LastModified?.getTime() ?? Number.NaN,
      etag: ETag ?? '',
    };
  });
  const base = {
    objects,
    commonPrefixes: (reply.CommonPrefixes ?? []).map((entry) => decode(entry.Prefix ?? '')),
    truncated: reply.IsTruncated,
  };
  return reply.NextContinuationToken === undefined ? base : { ...base, continuationToken: reply.NextContinuationToken };
}

/** Read into memory of the stated length: chunks that are joined at the end would take twice that of a large metadata file. */
async function bodyOf({ Body, ContentLength }: GetObjectCommandOutput): Promise<Buffer> {
  if (Body === undefined) return Buffer.alloc(0);
  if (ContentLength === undefined || !(Symbol.asyncIterator in Body))
    return Buffer.from(await Body.transformToByteArray());
  const body = Buffer.allocUnsafeSlow(ContentLength);
  let length = 0;
  for await (const chunk of Body as AsyncIterable<Uint8Array>) {
    body.set(chunk, length);
    length += chunk.length;
  }
  return body.subarray(0, length);
}
