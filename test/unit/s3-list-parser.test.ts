import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { elements, formEncode } from '#infra/local/s3/xml.ts';
import { decodeFormKey } from '#shared/storage/form-decode.ts';
import { parseListing } from '#shared/storage/list-xml.ts';
import { type ListPage, StoreError } from '#shared/storage/object-store.ts';
import { openS3Store } from '#test/support/open-s3-store.ts';

let server: Server;
let endpoint: string;
let reply = '';

before(async () => {
  server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'application/xml' });
    response.end(reply);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

after(() => {
  server.close();
  server.closeAllConnections();
});

interface DocumentParts {
  readonly keys: readonly string[];
  readonly prefixes: readonly string[];
  readonly url: boolean;
  readonly token?: string;
}

function documentOf({ keys, prefixes, url, token }: DocumentParts): string {
  const encode = url ? formEncode : (key: string) => key;
  const owner = '<Owner><ID>i&amp;d</ID><DisplayName>Key</DisplayName></Owner>';
  const contents = keys.map((key, index) => {
    const fields = elements({
      Key: encode(key),
      LastModified: new Date(1_600_000_000_000 + index * 1001).toISOString(),
      ETag: `"${index}"`,
      Size: index * 7,
      StorageClass: 'STANDARD',
    });
    return `<Contents>${fields}${index % 2 === 0 ? owner : ''}</Contents>`;
  });
  const rolled = prefixes.map((prefix) => `<CommonPrefixes>${elements({ Prefix: encode(prefix) })}</CommonPrefixes>`);
  const head = elements({
    Name: 'b',
    Prefix: '',
    KeyCount: keys.length + prefixes.length,
    MaxKeys: 1000,
    EncodingType: url ? 'url' : undefined,
    IsTruncated: token !== undefined,
    NextContinuationToken: token,
  });
  const namespace = 'xmlns="http://s3.amazonaws.com/doc/2006-03-01/"';
  const body = head + contents.join('') + rolled.join('');
  return `<?xml version="1.0" encoding="UTF-8"?>\n<ListBucketResult ${namespace}>${body}</ListBucketResult>`;
}

function listWith(listParser: 'strict' | 'sdk', text: string): Promise<ListPage> {
  reply = text;
  return openS3Store(endpoint, { listParser }).list({ bucket: 'b', prefix: '' });
}

const anyKey = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }).map((key) => key.toWellFormed());
// Without EncodingType=url a key holds only what XML 1.0 can carry.
const xmlKey = fc.stringMatching(/^[!-~é😀]{1,40}$/u);

function parts(key: fc.Arbitrary<string>, url: boolean): fc.Arbitrary<DocumentParts> {
  return fc.record(
    {
      keys: fc.array(key, { maxLength: 20 }),
      prefixes: fc.array(key, { maxLength: 4 }),
      url: fc.constant(url),
      token: fc.base64String({ minLength: 4, maxLength: 40 }),
    },
    { requiredKeys: ['keys', 'prefixes', 'url'] },
  );
}

test('PI-06 the strict reader and the SDK read the same page', async () => {
  await fc.assert(
    fc.asyncProperty(fc.oneof(parts(anyKey, true), parts(xmlKey, false)), async (given) => {
      const text = documentOf(given);
      const strict = await listWith('strict', text);
      assert.deepEqual(strict, await listWith('sdk', text));
      assert.deepEqual([strict.objects.map(({ key }) => key), strict.commonPrefixes], [given.keys, given.prefixes]);
      assert.equal(strict.continuationToken, given.token);
    }),
    { numRuns: 60 },
  );
});

test('SM-05 a page of 1000 keys with & and quotes is read whole by both', async () => {
  const keys = Array.from({ length: 1000 }, (_, index) => `d/a&b="${index}" <x>.parquet`);
  for (const url of [true, false]) {
    const text = documentOf({ keys, prefixes: [], url, token: 'next' });
    const strict = await listWith('strict', text);
    assert.deepEqual(
      strict.objects.map(({ key }) => key),
      keys,
    );
    assert.deepEqual(strict, await listWith('sdk', text));
  }
});

test('an object reads the same in the usual form and in any other', () => {
  const page = (objects: string) =>
    parseListing(Buffer.from(`<ListBucketResult><IsTruncated>false</IsTruncated>${objects}</ListBucketResult>`))
      .Contents;
  const text = fc.stringMatching(/^[a-z0-9/%+=. ]{1,30}$/);
  fc.assert(
    fc.property(text, text, fc.nat(), fc.boolean(), fc.nat(2), fc.constantFrom('&quot;', '&#34;', '"'), (...made) => {
      const [key, etag, size, classed, sums, quote] = made;
      const time = '2024-05-06T07:08:09.123Z';
      const fields = [
        `<Key>${key}</Key>`,
        `<LastModified>${time}</LastModified>`,
        `<ETag>${quote}${etag}${quote}</ETag>`,
        ...Array(sums).fill('<ChecksumAlgorithm>CRC32</ChecksumAlgorithm>'),
        `<Size>${size}</Size>`,
        ...(classed ? ['<StorageClass>STANDARD</StorageClass>'] : []),
      ];
      const usual = page(`<Contents>${fields.join('')}</Contents>`);
      assert.deepEqual(usual, [{ Key: key, Size: size, LastModified: new Date(time), ETag: `"${etag}"` }]);
      assert.deepEqual(page(`<Contents>${fields.toReversed().join('')}</Contents>`), usual);
    }),
  );
});

test('a key under EncodingType=url decodes as the general decoder does', () => {
  const decoded = (key: string): string | undefined => {
    try {
      return decodeFormKey(key);
    } catch {
      return undefined;
    }
  };
  const oracle = (key: string): string | undefined => {
    try {
      return decodeURIComponent(key.replaceAll('+', ' '));
    } catch {
      return undefined;
    }
  };
  const piece = fc.constantFrom(
    'a',
    '/',
    '+',
    '%',
    '%2',
    '%2B',
    '%2b',
    '%3D',
    '%25',
    '%C3%A9',
    '%C3',
    '%00',
    '%7F',
    'é',
    '%zz',
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
      assert.equal(decoded(pieces.join('')), oracle(pieces.join('')));
    }),
    { numRuns: 2000 },
  );
});

test('a page cut off anywhere is an error, never a shorter page', () => {
  const text = documentOf({ keys: ['a', 'b&c', 'd e'], prefixes: ['p/', 'q/'], url: true, token: 'next' });
  const bytes = Buffer.from(text);
  for (let end = 0; end < bytes.length; end++) {
    assert.throws(() => parseListing(bytes.subarray(0, end)), StoreError, `cut at ${end}`);
  }
  assert.equal(parseListing(bytes).Contents.length, 3);
});

const sound = documentOf({ keys: ['a', 'b'], prefixes: ['p/'], url: true });
const odd: Readonly<Record<string, string>> = {
  'an error document': '<Error><Code>SlowDown</Code></Error>',
  'a page of a proxy': '<html><body>hello</body></html>',
  'no document': '',
  'another root': sound.replaceAll('ListBucketResult', 'ListVersionsResult'),
  'two documents': sound + sound,
  'words after the end': `${sound}tail`,
  'words between elements': sound.replace('<Contents>', 'x<Contents>'),
  'an object less than promised': sound.replace(/<Contents>.*?<\/Contents>/, ''),
  'an object without key': sound.replace('<Key>a</Key>', ''),
  'an object with two keys': sound.replace('<Key>a</Key>', '<Key>a</Key><Key>b</Key>'),
  'an object with two sizes': sound.replace('<Size>0</Size>', '<Size>0</Size><Size>1</Size>'),
  'an object with two times': sound.replace('<ETag>', '<LastModified>2020-01-01T00:00:00Z</LastModified><ETag>'),
  'an object with two ETags': sound.replace('<Size>0</Size>', '<Size>0</Size><ETag>"x"</ETag>'),
  'a common prefix of two names': sound.replace('<Prefix>p/</Prefix>', '<Prefix>p/</Prefix><Prefix>q/</Prefix>'),
  'a size with an attribute': sound.replace('<Size>0</Size>', '<Size unit="1">0</Size>'),
  'an object with another size': sound.replace('<Size>0</Size>', '<Size>-1</Size>'),
  'an unknown entity': sound.replace('<Key>a</Key>', '<Key>&a;</Key>'),
  'an open entity': sound.replace('<Key>a</Key>', '<Key>a&amp</Key>'),
  'an element in a key': sound.replace('<Key>a</Key>', '<Key>a<b/></Key>'),
  'no word on the end': sound.replace('<IsTruncated>false</IsTruncated>', ''),
  'two words on the end': sound.replace('<IsTruncated>', '<IsTruncated>true</IsTruncated><IsTruncated>'),
  'an odd word on the end': sound.replace('>false<', '>no<'),
  'a tag with an attribute': sound.replace('<Contents>', '<Contents x="y">'),
  'an empty object': sound.replace('<Contents>', '<Contents/><Contents>'),
  'a lone percent': sound.replace('<Key>a</Key>', '<Key>100%</Key>'),
  'bytes that are no UTF-8': sound.replace('<Key>a</Key>', '<Key>%FF</Key>'),
};

for (const [name, text] of Object.entries(odd)) {
  test(`an odd listing is an error: ${name}`, async () => {
    await assert.rejects(listWith('strict', text), StoreError);
  });
}

test('bytes that are no UTF-8 are an error, not another key', () => {
  const bytes = Buffer.from(sound.replace('<Key>a</Key>', '<Key>\u007f</Key>'));
  bytes[bytes.indexOf(0x7f)] = 0xff;
  assert.throws(() => parseListing(bytes), StoreError);
});

test('SM-07 a truncated page without a token reaches the reader as such, not as the last page', async () => {
  const text = sound.replace('>false<', '>true<');
  for (const parser of ['strict', 'sdk'] as const) {
    const page = await listWith(parser, text);
    assert.deepEqual([page.truncated, page.continuationToken], [true, undefined]);
  }
});

test('time, size and ETag that are missing are not invented', async () => {
  const bare = sound.replace(/<LastModified>[^<]*<\/LastModified><ETag>[^<]*<\/ETag><Size>0<\/Size>/, '');
  const [first] = (await listWith('strict', bare)).objects;
  assert.deepEqual(first, { key: 'a', sizeBytes: Number.NaN, lastModifiedMs: Number.NaN, etag: '' });
});
