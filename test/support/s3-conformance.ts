/** How a server speaks S3, seen through the AWS SDK: what the port's own contract (`store-contract.ts`) does not show. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import * as s3 from '@aws-sdk/client-s3';

export type WireAbility =
  /** Bodies are compared with the digests that came with them. */
  | 'digests'
  | 'quiet'
  | 'tagging'
  | 'makesBuckets'
  /** A space is `+` under EncodingType=url, as at AWS; some servers say `%20`. */
  | 'formEncoding'
  /** A token that the server never gave is refused. */
  | 'tokens';

export interface WireSubject {
  readonly client: s3.S3Client;
  readonly bucket: string;
  readonly prefix: string;
}

interface WireContext extends WireSubject {
  /** Of this check alone; ends with `/`. */
  readonly at: string;
}

interface WireCheck {
  readonly name: string;
  readonly needs?: WireAbility;
  run(context: WireContext): Promise<void>;
}

async function rejectsAs(work: Promise<unknown>, status: number, code: string): Promise<void> {
  await assert.rejects(work, (error: Error & { $metadata?: { httpStatusCode?: number } }) => {
    assert.deepEqual([error.$metadata?.httpStatusCode, error.name], [status, code]);
    return true;
  });
}

async function formEncoding({ client, bucket, at }: WireContext): Promise<void> {
  const keys = ['a b', 'a+b', 'a%b', 'é', 'x/y'].map((name) => at + name);
  for (const Key of keys) await client.send(new s3.PutObjectCommand({ Bucket: bucket, Key, Body: 'x' }));
  const reply = await client.send(
    new s3.ListObjectsV2Command({ Bucket: bucket, Prefix: at, EncodingType: 'url', Delimiter: '/' }),
  );
  assert.equal(reply.EncodingType, 'url');
  const plain = await client.send(new s3.ListObjectsV2Command({ Bucket: bucket, Prefix: at }));
  assert.deepEqual(
    plain.Contents?.map(({ Key }) => Key),
    [...keys].sort(),
  );
  const names = reply.Contents?.map(({ Key }) => Key?.slice(-7).replace(/^.*\//, ''));
  assert.deepEqual(names, ['a%25b', 'a+b', 'a%2Bb', '%C3%A9'].sort(byDecoded));
  assert.equal(reply.CommonPrefixes?.[0]?.Prefix?.endsWith('x/'), true);
}

function byDecoded(left: string, right: string): number {
  const decoded = (text: string) => Buffer.from(decodeURIComponent(text.replaceAll('+', ' ')));
  return Buffer.compare(decoded(left), decoded(right));
}

async function digests({ client, bucket, at }: WireContext): Promise<void> {
  const base = { Bucket: bucket, Key: `${at}d`, Body: 'hello' };
  const md5 = createHash('md5').update('hello').digest('base64');
  await client.send(new s3.PutObjectCommand({ ...base, ContentMD5: md5 }));
  await client.send(new s3.PutObjectCommand({ ...base, ChecksumAlgorithm: 'SHA256' }));
  const wrong = { ...base, Key: `${at}wrong`, Body: 'hallo' };
  await rejectsAs(client.send(new s3.PutObjectCommand({ ...wrong, ContentMD5: md5 })), 400, 'BadDigest');
  const crc = new s3.PutObjectCommand({ ...wrong, ChecksumCRC32: 'AAAAAA==' });
  await assert.rejects(client.send(crc), (error: s3.S3ServiceException) => error.$metadata.httpStatusCode === 400);
  const head = client.send(new s3.HeadObjectCommand({ Bucket: bucket, Key: wrong.Key }));
  await rejectsAs(head, 404, 'NotFound');
}

async function quietBatch({ client, bucket, at }: WireContext): Promise<void> {
  await client.send(new s3.PutObjectCommand({ Bucket: bucket, Key: `${at}q`, Body: 'x' }));
  const Delete = { Quiet: true, Objects: [{ Key: `${at}q` }] };
  const reply = await client.send(new s3.DeleteObjectsCommand({ Bucket: bucket, Delete }));
  assert.deepEqual([reply.Deleted ?? [], reply.Errors ?? []], [[], []]);
  const head = client.send(new s3.HeadObjectCommand({ Bucket: bucket, Key: `${at}q` }));
  await rejectsAs(head, 404, 'NotFound');
}

async function tagging({ client, bucket, at }: WireContext): Promise<void> {
  const target = { Bucket: bucket, Key: `${at}t` };
  await client.send(new s3.PutObjectCommand({ ...target, Body: 'body' }));
  const TagSet = [{ Key: 'a:b', Value: 'c d+e' }];
  await client.send(new s3.PutObjectTaggingCommand({ ...target, Tagging: { TagSet } }));
  assert.deepEqual((await client.send(new s3.GetObjectTaggingCommand(target))).TagSet, TagSet);
  const got = await client.send(new s3.GetObjectCommand(target));
  assert.equal(await got.Body?.transformToString(), 'body');
  await client.send(new s3.DeleteObjectTaggingCommand(target));
  assert.deepEqual((await client.send(new s3.GetObjectTaggingCommand(target))).TagSet ?? [], []);
}

async function streamed({ client, bucket, at }: WireContext): Promise<void> {
  // A stream of known length goes as aws-chunked with its checksum in the trailer.
  const body = Buffer.alloc(200_000, 'chunked ');
  const Body = Readable.from([body.subarray(0, 70_000), body.subarray(70_000)]);
  const target = { Bucket: bucket, Key: `${at}s` };
  await client.send(new s3.PutObjectCommand({ ...target, Body, ContentLength: body.length }));
  const got = await client.send(new s3.GetObjectCommand(target));
  assert.ok(body.equals(Buffer.from((await got.Body?.transformToByteArray()) ?? [])));
}

async function ranges({ client, bucket, at }: WireContext): Promise<void> {
  const target = { Bucket: bucket, Key: `${at}r` };
  await client.send(new s3.PutObjectCommand({ ...target, Body: '0123456789' }));
  const read = async (Range: string) => {
    const reply = await client.send(new s3.GetObjectCommand({ ...target, Range }));
    return [reply.$metadata.httpStatusCode, await reply.Body?.transformToString(), reply.ContentRange];
  };
  assert.deepEqual(await read('bytes=2-4'), [206, '234', 'bytes 2-4/10']);
  assert.deepEqual(await read('bytes=-3'), [206, '789', 'bytes 7-9/10']);
  assert.deepEqual(await read('bytes=8-'), [206, '89', 'bytes 8-9/10']);
  await rejectsAs(client.send(new s3.GetObjectCommand({ ...target, Range: 'bytes=10-' })), 416, 'InvalidRange');
}

async function buckets({ client }: WireContext): Promise<void> {
  const Bucket = `icesweep-made-${Date.now().toString(36)}`;
  await rejectsAs(client.send(new s3.HeadBucketCommand({ Bucket })), 404, 'NotFound');
  await client.send(new s3.CreateBucketCommand({ Bucket }));
  await client.send(new s3.HeadBucketCommand({ Bucket }));
  const { Buckets } = await client.send(new s3.ListBucketsCommand({}));
  assert.ok(Buckets?.some(({ Name }) => Name === Bucket));
  await client.send(new s3.PutObjectCommand({ Bucket, Key: 'x', Body: 'x' }));
  await rejectsAs(client.send(new s3.DeleteBucketCommand({ Bucket })), 409, 'BucketNotEmpty');
  await client.send(new s3.DeleteObjectCommand({ Bucket, Key: 'x' }));
  await client.send(new s3.DeleteBucketCommand({ Bucket }));
  await rejectsAs(client.send(new s3.ListObjectsV2Command({ Bucket })), 404, 'NoSuchBucket');
}

async function foreignToken({ client, bucket, at }: WireContext): Promise<void> {
  const token = new s3.ListObjectsV2Command({ Bucket: bucket, Prefix: at, ContinuationToken: 'made up' });
  await rejectsAs(client.send(token), 400, 'InvalidArgument');
}

async function emptyListing({ client, bucket, at }: WireContext): Promise<void> {
  const none = await client.send(new s3.ListObjectsV2Command({ Bucket: bucket, Prefix: `${at}none/` }));
  assert.deepEqual([none.KeyCount, none.IsTruncated, none.Contents ?? []], [0, false, []]);
}

export const wireChecks: readonly WireCheck[] = [
  { name: 'EncodingType=url is form encoding, without it keys are raw', needs: 'formEncoding', run: formEncoding },
  { name: 'digests of bodies are checked', needs: 'digests', run: digests },
  { name: 'a quiet batch answers errors only', needs: 'quiet', run: quietBatch },
  { name: 'tags are kept beside the body', needs: 'tagging', run: tagging },
  { name: 'a streamed body arrives whole', run: streamed },
  { name: 'ranges as HTTP has them', run: ranges },
  { name: 'buckets are made, found and removed', needs: 'makesBuckets', run: buckets },
  { name: 'a foreign token is refused', needs: 'tokens', run: foreignToken },
  { name: 'an empty listing is complete', run: emptyListing },
];

/** Registers the checks that the server has the abilities for. */
export function registerWireChecks(
  title: string,
  subject: () => WireSubject,
  abilities: ReadonlySet<WireAbility>,
): void {
  wireChecks.forEach((check, index) => {
    if (check.needs !== undefined && !abilities.has(check.needs)) return;
    test(`${title}: ${check.name}`, async () => {
      const { client, bucket, prefix } = subject();
      await check.run({ client, bucket, prefix, at: `${prefix}wire-${index}/` });
    });
  });
}
