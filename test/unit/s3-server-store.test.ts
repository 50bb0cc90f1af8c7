import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { DirectoryBucket } from '#infra/local/s3/directory-bucket.ts';
import { MemoryBucket } from '#infra/local/s3/memory-bucket.ts';
import { type S3Server, startS3Server } from '#infra/local/s3/server.ts';
import { openS3Store } from '#test/support/open-s3-store.ts';
import { type Ability, registerChecks } from '#test/support/store-contract.ts';
import { deleteChecks, versionChecks } from '#test/support/store-delete-checks.ts';
import { listChecks } from '#test/support/store-list-checks.ts';
import { objectChecks } from '#test/support/store-object-checks.ts';

const all: readonly Ability[] = [
  'anyKey',
  'conditionalDelete',
  'conditionalPut',
  'batchLimit',
  'controlCharacters',
  'delimiterAfter',
  'missingBucket',
  'secondMarker',
  'versionPages',
];
// File names are what a plain directory has: no empty, `.` or `..` components, no key that is also a folder.
const plain = all.filter((ability) => ability !== 'anyKey');

let directory: string;
let mount: string;
let server: S3Server;

before(async () => {
  directory = await realpath(await mkdtemp(join(tmpdir(), 'icesweep-s3-')));
  mount = `${directory.slice(1)}/plain/`;
  server = await startS3Server({
    buckets: {
      memory: new MemoryBucket(),
      versioned: new MemoryBucket({ versioning: 'Enabled' }),
      managed: new DirectoryBucket({ directory: join(directory, 'managed'), managed: true }),
      local: new DirectoryBucket({ directory: '/', mounts: () => [mount] }),
    },
  });
});

after(async () => {
  await server.close();
  await rm(directory, { recursive: true, force: true });
});

const checks = [...objectChecks, ...listChecks, ...deleteChecks];
const subject = (bucket: string, prefix = () => '') => ({
  store: openS3Store(server.endpoint),
  bucket,
  prefix: prefix(),
});

registerChecks('server over memory', checks, () => subject('memory'), new Set(all));
registerChecks('server over a managed directory', checks, () => subject('managed'), new Set(all));
registerChecks('server over plain directories', checks, () => subject('local', () => mount), new Set(plain));
registerChecks('server with versions', versionChecks, () => subject('versioned'), new Set(all));
