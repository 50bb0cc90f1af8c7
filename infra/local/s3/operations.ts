/** The operations of the embedded server over bucket backends. */
import { answer, type Buckets, type S3Answer, xmlAnswer } from './answer.ts';
import { S3Refusal, type StoredMeta } from './backend.ts';
import { deleteObjects } from './delete-objects.ts';
import { listObjects, listVersions } from './listings.ts';
import type { S3Request } from './request.ts';
import { elements, escapeXml, textsOf, unescapeXml } from './xml.ts';

type Operation = (
  request: S3Request,
  buckets: Buckets,
  keyErrors: Readonly<Record<string, string>>,
) => Promise<S3Answer>;

export const operations: Readonly<Record<string, Operation>> = {
  ListBuckets: async (_request, buckets) =>
    xmlAnswer(
      'ListAllMyBucketsResult',
      `<Buckets>${buckets
        .names()
        .map((name) => `<Bucket><Name>${escapeXml(name)}</Name></Bucket>`)
        .join('')}</Buckets>`,
    ),
  CreateBucket: async (request, buckets) => {
    buckets.create(request.bucket);
    return answer(200, { location: `/${request.bucket}` });
  },
  DeleteBucket: async (request, buckets) => {
    for await (const _ of buckets.get(request.bucket).scan('', undefined)) throw new S3Refusal(409, 'BucketNotEmpty');
    buckets.delete(request.bucket);
    return answer(204);
  },
  HeadBucket: async (request, buckets) => {
    buckets.get(request.bucket);
    return answer(200);
  },
  GetBucketLocation: async (request, buckets) => {
    buckets.get(request.bucket);
    return xmlAnswer('LocationConstraint', '');
  },
  GetBucketVersioning: async (request, buckets) =>
    xmlAnswer('VersioningConfiguration', elements({ Status: buckets.get(request.bucket).versioning() })),
  PutBucketVersioning: async (request, buckets) => {
    const [status] = textsOf(request.body.toString(), 'Status');
    if (status !== 'Enabled' && status !== 'Suspended') throw new S3Refusal(400, 'MalformedXML');
    buckets.get(request.bucket).setVersioning(status);
    return answer(200);
  },
  GetObject: getObject,
  HeadObject: getObject,
  PutObject: async (request, buckets) => {
    const ifNoneMatch = header(request, 'if-none-match');
    const ifMatch = header(request, 'if-match');
    const stored = await buckets.get(request.bucket).put(request.key, request.body, {
      ...(ifNoneMatch === undefined ? {} : { ifNoneMatch }),
      ...(ifMatch === undefined ? {} : { ifMatch }),
    });
    return answer(200, metaHeaders(stored, false));
  },
  DeleteObject: async (request, buckets) => {
    const ifMatch = header(request, 'if-match');
    const versionId = request.query.get('versionId') ?? undefined;
    const deleted = await buckets.get(request.bucket).delete(request.key, {
      ...(ifMatch === undefined ? {} : { ifMatch }),
      ...(versionId === undefined ? {} : { versionId }),
    });
    return answer(204, {
      ...(deleted.versionId === undefined ? {} : { 'x-amz-version-id': deleted.versionId }),
      ...(deleted.deleteMarker === undefined ? {} : { 'x-amz-delete-marker': String(deleted.deleteMarker) }),
    });
  },
  DeleteObjects: deleteObjects,
  ListObjectsV2: listObjects,
  ListObjectVersions: listVersions,
  GetObjectTagging: async (request, buckets) => {
    await buckets.get(request.bucket).head(request.key);
    const tags = [...buckets.get(request.bucket).tags(request.key)];
    const set = tags.map(([Key, Value]) => `<Tag>${elements({ Key, Value })}</Tag>`).join('');
    return xmlAnswer('Tagging', `<TagSet>${set}</TagSet>`);
  },
  PutObjectTagging: async (request, buckets) => {
    const xml = request.body.toString();
    const bucket = buckets.get(request.bucket);
    await bucket.head(request.key);
    const tags = textsOf(xml, 'Tag').map((tag): [string, string] => [
      unescapeXml(textsOf(tag, 'Key')[0] ?? ''),
      unescapeXml(textsOf(tag, 'Value')[0] ?? ''),
    ]);
    bucket.setTags(request.key, new Map(tags));
    return answer(200);
  },
  DeleteObjectTagging: async (request, buckets) => {
    buckets.get(request.bucket).setTags(request.key, new Map());
    return answer(204);
  },
};

function header(request: S3Request, name: string): string | undefined {
  const value = request.headers[name];
  return typeof value === 'string' ? value : undefined;
}

function metaHeaders(meta: StoredMeta, full = true): Record<string, string> {
  return {
    etag: meta.etag,
    ...(meta.versionId === undefined ? {} : { 'x-amz-version-id': meta.versionId }),
    ...(full ? { 'last-modified': new Date(meta.lastModifiedMs).toUTCString(), 'accept-ranges': 'bytes' } : {}),
  };
}

async function getObject(request: S3Request, buckets: Buckets): Promise<S3Answer> {
  const bucket = buckets.get(request.bucket);
  const versionId = request.query.get('versionId') ?? undefined;
  const meta = await bucket.head(request.key, versionId);
  const ifMatch = header(request, 'if-match');
  if (ifMatch !== undefined && ifMatch !== meta.etag) throw new S3Refusal(412, 'PreconditionFailed');
  if (header(request, 'if-none-match') === meta.etag) return answer(304, metaHeaders(meta));
  if (request.operation === 'HeadObject') {
    return answer(200, { ...metaHeaders(meta), 'content-length': String(meta.sizeBytes) });
  }
  const range = rangeOf(header(request, 'range'), meta.sizeBytes);
  const body = await bucket.read(
    request.key,
    range?.start ?? 0,
    range === undefined ? meta.sizeBytes : range.end + 1,
    versionId,
  );
  const rangeHeaders =
    range === undefined ? undefined : { 'content-range': `bytes ${range.start}-${range.end}/${meta.sizeBytes}` };
  return answer(range === undefined ? 200 : 206, { ...metaHeaders(meta), ...rangeHeaders }, body);
}

function rangeOf(text: string | undefined, size: number): { readonly start: number; readonly end: number } | undefined {
  const match = /^bytes=(\d*)-(\d*)$/.exec(text ?? '');
  if (match === null || (match[1] === '' && match[2] === '')) return undefined;
  const [, first, last] = match as unknown as [string, string, string];
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === '' || last === '' ? size - 1 : Math.min(Number(last), size - 1);
  if (start >= size || start > end) throw new S3Refusal(416, 'InvalidRange', 'The requested range is not satisfiable');
  return { start, end };
}
