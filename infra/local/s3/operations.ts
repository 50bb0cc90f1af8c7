/** The operations of the embedded server over bucket backends. */
import { type BucketBackend, S3Refusal, type StoredMeta, type VersionMeta } from './backend.ts';
import { listPage } from './list-page.ts';
import type { S3Request } from './request.ts';
import { elements, escapeXml, formEncode, textsOf, unescapeXml } from './xml.ts';

export interface S3Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export interface Buckets {
  get(name: string): BucketBackend;
  create(name: string): void;
  delete(name: string): void;
  names(): readonly string[];
}

const NAMESPACE = 'xmlns="http://s3.amazonaws.com/doc/2006-03-01/"';
const MOST_DELETES = 1000;

function answer(
  status: number,
  headers: Readonly<Record<string, string>> = {},
  body: Buffer = Buffer.alloc(0),
): S3Answer {
  return { status, headers, body };
}

export function xmlAnswer(root: string, content: string, status = 200): S3Answer {
  const text = `<?xml version="1.0" encoding="UTF-8"?>\n<${root} ${NAMESPACE}>${content}</${root}>`;
  return answer(status, { 'content-type': 'application/xml' }, Buffer.from(text));
}

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

async function deleteObjects(
  request: S3Request,
  buckets: Buckets,
  keyErrors: Readonly<Record<string, string>>,
): Promise<S3Answer> {
  const bucket = buckets.get(request.bucket);
  const xml = request.body.toString('utf8');
  // XML 1.0 cannot carry these, raw or as references: a store that checks refuses the whole request.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these characters are what is looked for.
  if (/[\u0000-\u0008\u000b\u000c\u000e-\u001f]|&#(?:x[0-8bcef]|x1[0-9a-f]|[0-8]|1[124-9]|2\d|3[01]);/i.test(xml)) {
    throw new S3Refusal(400, 'MalformedXML');
  }
  const objects = textsOf(xml, 'Object').map((object) => ({
    key: unescapeXml(textsOf(object, 'Key')[0] ?? ''),
    etag: textsOf(object, 'ETag')[0],
    versionId: textsOf(object, 'VersionId')[0],
  }));
  if (objects.length === 0 || objects.length > MOST_DELETES) {
    throw new S3Refusal(400, 'MalformedXML', 'The XML you provided was not well-formed or did not validate');
  }
  const quiet = textsOf(xml, 'Quiet')[0] === 'true';
  let content = '';
  for (const { key, etag, versionId } of objects) {
    try {
      const injected = keyErrors[key];
      if (injected !== undefined) throw new S3Refusal(200, injected);
      const deleted = await bucket.delete(key, {
        ...(etag === undefined ? {} : { ifMatch: unescapeXml(etag) }),
        ...(versionId === undefined ? {} : { versionId: unescapeXml(versionId) }),
      });
      const isMarker = deleted.deleteMarker === true;
      if (quiet) continue;
      content += `<Deleted>${elements({
        Key: key,
        VersionId: versionId,
        DeleteMarker: isMarker ? true : undefined,
        DeleteMarkerVersionId: isMarker ? deleted.versionId : undefined,
      })}</Deleted>`;
    } catch (error) {
      if (!(error instanceof S3Refusal)) throw error;
      content += `<Error>${elements({ Key: key, Code: error.code, Message: error.message })}</Error>`;
    }
  }
  return xmlAnswer('DeleteResult', content);
}

async function listObjects(request: S3Request, buckets: Buckets): Promise<S3Answer> {
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

async function listVersions(request: S3Request, buckets: Buckets): Promise<S3Answer> {
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
