/** ListObjectsV2 and ListObjectVersions. */
import { type Buckets, type S3Answer, xmlAnswer } from './answer.ts';
import { S3Refusal, type VersionMeta } from './backend.ts';
import { listPage } from './list-page.ts';
import type { S3Request } from './request.ts';
import { elements, formEncode } from './xml.ts';

export async function listObjects(request: S3Request, buckets: Buckets): Promise<S3Answer> {
  const { query } = request;
  const optional = (name: string) => query.get(name) ?? undefined;
  const prefix = query.get('prefix') ?? '';
  const maxKeys = Number(query.get('max-keys') ?? 1000);
  if (!Number.isInteger(maxKeys) || maxKeys < 0) throw new S3Refusal(400, 'InvalidArgument');
  const page = await listPage(buckets.get(request.bucket), {
    prefix,
    maxKeys,
    ...pick('delimiter', optional('delimiter')),
    ...pick('startAfter', optional('start-after')),
    ...pick('continuationToken', optional('continuation-token')),
  });
  const isUrl = query.get('encoding-type') === 'url';
  const encode = isUrl ? formEncode : (key: string) => key;
  const contents = page.objects.map(
    (object) =>
      `<Contents>${elements({
        Key: encode(object.key),
        LastModified: new Date(object.lastModifiedMs).toISOString(),
        ETag: object.etag,
        Size: object.sizeBytes,
        StorageClass: 'STANDARD',
      })}</Contents>`,
  );
  const prefixes = page.commonPrefixes.map(
    (common) => `<CommonPrefixes>${elements({ Prefix: encode(common) })}</CommonPrefixes>`,
  );
  const head = elements({
    Name: request.bucket,
    Prefix: encode(prefix),
    Delimiter: query.has('delimiter') ? encode(query.get('delimiter') as string) : undefined,
    StartAfter: query.has('start-after') ? encode(query.get('start-after') as string) : undefined,
    MaxKeys: maxKeys,
    KeyCount: page.objects.length + page.commonPrefixes.length,
    IsTruncated: page.truncated,
    NextContinuationToken: page.nextToken,
    EncodingType: isUrl ? 'url' : undefined,
  });
  return xmlAnswer('ListBucketResult', head + contents.join('') + prefixes.join(''));
}

function pick<Name extends string>(name: Name, value: string | undefined): { readonly [K in Name]?: string } {
  return value === undefined ? {} : ({ [name]: value } as { readonly [K in Name]?: string });
}

export async function listVersions(request: S3Request, buckets: Buckets): Promise<S3Answer> {
  const { query } = request;
  const keyMarker = query.get('key-marker') ?? '';
  const versionMarker = query.get('version-id-marker') ?? '';
  const limit = Math.min(Number(query.get('max-keys') ?? 1000), 1000);
  const isUrl = query.get('encoding-type') === 'url';
  const encode = isUrl ? formEncode : (key: string) => key;
  let content = '';
  let count = 0;
  let last: VersionMeta | undefined;
  let passing = keyMarker !== '';
  let truncated = false;
  for await (const version of buckets.get(request.bucket).scanVersions(query.get('prefix') ?? '')) {
    if (passing) {
      // Past the marker: the very version where one is named, else every version of the marker's key.
      if (version.key === keyMarker && (versionMarker === '' || version.versionId !== versionMarker)) continue;
      if (version.key === keyMarker && version.versionId === versionMarker) {
        passing = false;
        continue;
      }
      if (Buffer.compare(Buffer.from(version.key), Buffer.from(keyMarker)) <= 0) continue;
      passing = false;
    }
    if (count === limit) {
      truncated = true;
      break;
    }
    count++;
    last = version;
    const common = { Key: encode(version.key), VersionId: version.versionId, IsLatest: version.isLatest };
    const modified = new Date(version.lastModifiedMs).toISOString();
    content += version.isDeleteMarker
      ? `<DeleteMarker>${elements({ ...common, LastModified: modified })}</DeleteMarker>`
      : `<Version>${elements({ ...common, LastModified: modified, ETag: version.etag, Size: version.sizeBytes })}</Version>`;
  }
  const head = elements({
    Name: request.bucket,
    IsTruncated: truncated,
    NextKeyMarker: truncated ? encode(last?.key ?? '') : undefined,
    NextVersionIdMarker: truncated ? last?.versionId : undefined,
    EncodingType: isUrl ? 'url' : undefined,
  });
  return xmlAnswer('ListVersionsResult', head + content);
}
