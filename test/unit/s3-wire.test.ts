import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { DirectoryBucket } from '#infra/local/s3/directory-bucket.ts';
import { MemoryBucket } from '#infra/local/s3/memory-bucket.ts';
import { type S3Server, startS3Server } from '#infra/local/s3/server.ts';
import { createS3Client } from '#shared/storage/s3-client.ts';
import { registerWireChecks, type WireAbility } from '#test/support/s3-conformance.ts';

const abilities = new Set<WireAbility>(['digests', 'quiet', 'formEncoding', 'tokens', 'tagging', 'makesBuckets']);
let directory: string;
let server: S3Server;

before(async () => {
  directory = await realpath(await mkdtemp(join(tmpdir(), 'icesweep-wire-')));
  server = await startS3Server({
    buckets: {
      memory: new MemoryBucket(),
      managed: new DirectoryBucket({ directory: join(directory, 'managed'), managed: true }),
      local: new DirectoryBucket({ directory: '/', mounts: () => [`${directory.slice(1)}/plain/`] }),
    },
  });
});

after(async () => {
  await server.close();
  await rm(directory, { recursive: true, force: true });
});

function subject(bucket: string, prefix = '') {
  const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };
  return { client: createS3Client({ endpoint: server.endpoint, credentials, attempts: 1 }), bucket, prefix };
}

registerWireChecks('memory', () => subject('memory'), abilities);
registerWireChecks('managed directory', () => subject('managed'), abilities);
registerWireChecks('plain directories', () => subject('local', `${directory.slice(1)}/plain/`), abilities);
