/** Answers ListObjectsV2 with pages of 1,000 keys as S3 writes them, rendered once. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const pages = Number(process.argv[2]);

function keyOf(index: number): string {
  const bits = index.toString(2).padStart(20, '0');
  const folders = `${bits.slice(0, 4)}/${bits.slice(4, 8)}/${bits.slice(8, 12)}/${bits.slice(12)}`;
  return `wh/t/data/${folders}/event_day%3D2024-01-01/00000-0-${String(index).padStart(12, '0')}-4f3a-9d21-00001.parquet`;
}

function render(page: number): Buffer {
  const contents = Array.from({ length: 1000 }, (_, at) => {
    const index = page * 1000 + at;
    // Young files, so that what is measured is listing and classing, not the writing of candidates.
    return `<Contents><Key>${keyOf(index)}</Key><LastModified>2026-01-26T10:11:12.000Z</LastModified><ETag>&quot;d41d8cd98f00b204e9800998ecf8427e&quot;</ETag><ChecksumAlgorithm>CRC64NVME</ChecksumAlgorithm><ChecksumType>FULL_OBJECT</ChecksumType><Size>${100_000 + index}</Size><StorageClass>STANDARD</StorageClass></Contents>`;
  });
  const more = page + 1 < pages;
  const token = more ? `<NextContinuationToken>${page + 1}</NextContinuationToken>` : '';
  return Buffer.from(
    `<?xml version="1.0" encoding="UTF-8"?>\n<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>b</Name><Prefix>wh/t/data/</Prefix><KeyCount>1000</KeyCount><MaxKeys>1000</MaxKeys><EncodingType>url</EncodingType><IsTruncated>${more}</IsTruncated>${token}${contents.join('')}</ListBucketResult>`,
  );
}

const rendered = Array.from({ length: pages }, (_, page) => render(page));

const server = createServer((request, response) => {
  const token = new URL(request.url ?? '/', 'http://stub').searchParams.get('continuation-token');
  response.writeHead(200, { 'content-type': 'application/xml' });
  response.end(rendered[Number(token ?? 0)]);
});
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
