/** DeleteObjects: every key answered for by itself. */
import { type Buckets, type S3Answer, xmlAnswer } from './answer.ts';
import { S3Refusal } from './backend.ts';
import type { S3Request } from './request.ts';
import { elements, textsOf, unescapeXml } from './xml.ts';

const MOST_DELETES = 1000;

export async function deleteObjects(
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
      const injected = Object.hasOwn(keyErrors, key) ? keyErrors[key] : undefined;
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
