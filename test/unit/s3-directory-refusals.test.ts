import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, readFile, realpath, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { type BucketBackend, S3Refusal } from '#infra/local/s3/backend.ts';
import { DirectoryBucket } from '#infra/local/s3/directory-bucket.ts';
import { writeRefusalOf } from '#infra/local/s3/file-errors.ts';
import { stepAfterDenial } from '#shared/storage/denied.ts';
import { PROJECT } from '#test/support/cli-world.ts';

let base: string;
before(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), 'icesweep-refusals-')));
  await chmod(base, 0o755);
});
after(() => rm(base, { recursive: true, force: true }));

interface Place {
  readonly directory: string;
  /** Key prefix of the directory, with its slash. */
  readonly at: string;
  readonly bucket: DirectoryBucket;
}

async function place(files: readonly string[]): Promise<Place> {
  const directory = await mkdtemp(join(base, 'case-'));
  await chmod(directory, 0o755);
  for (const file of files) {
    await mkdir(dirname(join(directory, file)), { recursive: true });
    await writeFile(join(directory, file), file);
  }
  const at = `${directory.slice(1)}/`;
  return { directory, at, bucket: new DirectoryBucket({ directory: '/', mounts: () => [at] }) };
}

async function keysOf(bucket: BucketBackend, prefix: string): Promise<string[]> {
  const keys: string[] = [];
  for await (const { key } of bucket.scan(prefix, undefined)) keys.push(key.slice(prefix.length));
  return keys;
}

function refuses(work: Promise<unknown>, status: number): Promise<void> {
  return assert.rejects(work, (error: unknown) => {
    assert.ok(error instanceof S3Refusal, String(error));
    assert.equal(error.status, status, error.message);
    return true;
  });
}

/** Runs work as a user who may not read everything; root's rights hide what is tested. */
async function asNobody(context: TestContext, work: () => Promise<void>): Promise<void> {
  if (process.seteuid === undefined) return context.skip('users are a matter of POSIX');
  const isRoot = process.geteuid?.() === 0;
  if (isRoot) process.seteuid(65534);
  try {
    await work();
  } finally {
    if (isRoot) process.seteuid(0);
  }
}

test('links are neither listed, read, written through nor deleted through', async () => {
  const { directory, at, bucket } = await place(['real/x', 'inside/y']);
  const outside = await mkdtemp(join(base, 'outside-'));
  await writeFile(join(outside, 'secret'), 'secret');
  await symlink(join(outside, 'secret'), join(directory, 'file-link'));
  await symlink(outside, join(directory, 'dir-link'));
  await symlink(join(directory, 'real'), join(directory, 'inner-link'));
  assert.deepEqual(await keysOf(bucket, at), ['inside/y', 'real/x']);
  for (const prefix of ['dir-link/', 'inner-link/', 'dir-link/sec']) {
    assert.deepEqual(await keysOf(bucket, at + prefix), [], prefix);
  }
  for (const key of ['file-link', 'dir-link/secret', 'inner-link/x']) {
    await refuses(bucket.head(at + key), 404);
    await refuses(bucket.read(at + key, 0, 1), 404);
    await refuses(bucket.put(at + key, Buffer.from('!'), {}), 403);
    assert.deepEqual(await bucket.delete(at + key, {}), {});
  }
  await refuses(bucket.put(`${at}dir-link/new/er`, Buffer.from('x'), {}), 403);
  assert.deepEqual(await readdir(outside), ['secret']);
  assert.equal(await readFile(join(outside, 'secret'), 'utf8'), 'secret');
  assert.equal(await readFile(join(directory, 'real/x'), 'utf8'), 'real/x');
  assert.ok((await readdir(directory)).includes('file-link'));
});

test('what may not be read is denied, never absent', async (context) => {
  const { directory, at, bucket } = await place(['ok', 'locked/x', 'closed/y', 'file']);
  await chmod(join(directory, 'locked'), 0o000);
  await chmod(join(directory, 'closed'), 0o444);
  await chmod(join(directory, 'file'), 0o000);
  await asNobody(context, async () => {
    await refuses(bucket.read(`${at}file`, 0, 4), 403);
    await refuses(bucket.head(`${at}locked/x`), 403);
    await refuses(bucket.read(`${at}locked/x`, 0, 4), 403);
    await refuses(bucket.delete(`${at}locked/x`, {}), 403);
    await refuses(keysOf(bucket, `${at}locked/`), 403);
    await refuses(keysOf(bucket, at), 403);
    // Its names can be read, its files cannot be looked at.
    await refuses(keysOf(bucket, `${at}closed/`), 403);
    await refuses(bucket.delete(`${at}ok`, {}), 403);
    await refuses(bucket.put(`${at}new`, Buffer.from('x'), {}), 403);
  });
  for (const name of ['locked', 'closed']) await chmod(join(directory, name), 0o755);
  assert.deepEqual(await keysOf(bucket, at), ['closed/y', 'file', 'locked/x', 'ok']);
});

test('PI-04 a key that a plain directory cannot hold is refused, not read as another', async () => {
  const { at, bucket } = await place(['data/x', 'file']);
  for (const key of ['data//x', '/data/x', './data/x', 'data/../data/x', 'data/', 'data/x\0']) {
    await refuses(bucket.head(at + key), 400);
    await refuses(bucket.read(at + key, 0, 1), 400);
    await refuses(bucket.delete(at + key, {}), 400);
    await refuses(bucket.put(at + key, Buffer.from('!'), {}), 400);
  }
  // The folder of another key, below a file, longer than any name.
  await refuses(bucket.put(`${at}data`, Buffer.from('!'), {}), 400);
  await refuses(bucket.put(`${at}file/below`, Buffer.from('!'), {}), 403);
  await refuses(bucket.put(at + 'l'.repeat(256), Buffer.from('!'), {}), 400);
  for (const key of ['data', 'file/below', 'l'.repeat(256)]) await refuses(bucket.head(at + key), 404);
  assert.deepEqual(await keysOf(bucket, at), ['data/x', 'file']);
});

test('a managed directory holds components of any length, in their order', async () => {
  const bucket = new DirectoryBucket({ directory: await mkdtemp(join(base, 'long-')), managed: true });
  const long = (length: number) => 'l'.repeat(length);
  const keys = [
    ...[229, 230, 231, 232, 461, 462, 463, 900].map(long),
    ...[230, 231, 300].flatMap((length) => [`${long(length)}/a`, `${long(length)}-b`, `${long(length)}0`]),
    `${'é😀'.repeat(60)}/${'%'.repeat(120)}`,
    `${long(231)}..`,
    `${long(231)}/../x`,
  ];
  for (const key of keys) await bucket.put(key, Buffer.from(key), {});
  const sorted = [...keys].sort((left, right) => Buffer.compare(Buffer.from(left), Buffer.from(right)));
  assert.deepEqual(await keysOf(bucket, ''), sorted);
  assert.deepEqual(await keysOf(bucket, `${long(300)}/`), ['a']);
  for (const key of keys) {
    assert.equal((await bucket.read(key, 0, 2000)).toString(), key);
    await bucket.delete(key, {});
  }
  assert.deepEqual(await keysOf(bucket, ''), []);
});

test('a foreign file in a managed directory is no object', async () => {
  const directory = await mkdtemp(join(base, 'foreign-'));
  const bucket = new DirectoryBucket({ directory, managed: true });
  for (const name of ['.DS_Store', 'plain', '%zz=', '+half=']) await writeFile(join(directory, name), '');
  await bucket.put('own', Buffer.from('x'), {});
  assert.deepEqual(await keysOf(bucket, ''), ['own']);
});

test('a put where nothing is leaves no unfinished file behind, whoever wins', async () => {
  const directory = await mkdtemp(join(base, 'race-'));
  // Two processes on the same directory know nothing of each other's turns.
  const buckets = [1, 2, 3].map(() => new DirectoryBucket({ directory, managed: true }));
  const puts = buckets.map((bucket, index) => bucket.put('k', Buffer.from(String(index)), { ifNoneMatch: '*' }));
  const settled = await Promise.allSettled(puts);
  assert.equal(settled.filter(({ status }) => status === 'fulfilled').length, 1);
  assert.deepEqual(await readdir(directory), ['k=']);
  assert.equal((await stat(join(directory, 'k='))).nlink, 1);
});

test('a large directory is read anew once it changed', async () => {
  const { directory, at, bucket } = await place([]);
  const names = Array.from({ length: 1200 }, (_, index) => `f${String(index).padStart(4, '0')}`);
  await Promise.all(names.map((name) => writeFile(join(directory, name), '')));
  await new Promise((resolve) => setTimeout(resolve, 2100));
  assert.deepEqual(await keysOf(bucket, at), names);
  await rm(join(directory, 'f0000'));
  await writeFile(join(directory, 'g'), '');
  assert.deepEqual(await keysOf(bucket, at), [...names.slice(1), 'g']);
});

/** What a delete of a key is answered in a process of a user who owns nothing here. */
function deleteAsNobody(at: string, key: string): string {
  const script = `
    import { DirectoryBucket } from '#infra/local/s3/directory-bucket.ts';
import { writeRefusalOf } from '#infra/local/s3/file-errors.ts';
    const bucket = new DirectoryBucket({ directory: '/', mounts: () => [${JSON.stringify(at)}] });
    await bucket.delete(${JSON.stringify(at + key)}, { ifMatch: '"none"' }).then(
      () => console.log('deleted'),
      (error) => console.log(error.status, error.message),
    );`;
  const uid = process.getuid?.() === 0 ? { uid: 65534 } : {};
  const args = ['--input-type=module', '--eval', script];
  return execFileSync(process.execPath, args, { ...uid, cwd: PROJECT, encoding: 'utf8' });
}

test('who may not delete in a folder is told so before there is anything to delete', async (context) => {
  if (process.getuid === undefined) return context.skip('users are a matter of POSIX');
  const { directory, at } = await place(['closed/a', 'open/a']);
  await chmod(join(directory, 'closed'), 0o555);
  await chmod(join(directory, 'open'), 0o777);

  const denied = deleteAsNobody(at, 'closed/.probe');

  assert.match(denied, new RegExp(`^403 EACCES: permission denied, access '${directory}/closed'`));
  assert.equal(
    stepAfterDenial(denied, 'Grant s3:DeleteObject.'),
    `Give this user the right to write to the folder ${directory}/closed (chmod or chown).`,
  );
  assert.match(deleteAsNobody(at, 'open/.probe'), /^404 /);
  assert.match(deleteAsNobody(at, 'none/.probe'), /^404 /);
});

test('the step after a denial is one of the store that denied', () => {
  const step = (message: string): string => stepAfterDenial(new Error(message), 'Grant s3:GetObject.');

  assert.equal(step('GetObject of s3://b/k: AccessDenied: Access Denied'), 'Grant s3:GetObject.');
  assert.equal(
    step("DeleteObjects of s3://b/k: AccessDenied: EACCES: permission denied, unlink '/srv/t/data/a b'"),
    'Give this user the right to write to the folder /srv/t/data (chmod or chown).',
  );
  assert.equal(
    step("AccessDenied: EACCES: permission denied, scandir '/srv/t/data'"),
    'Give this user the right to read /srv/t/data and to enter the folders above it (chmod or chown).',
  );
  assert.equal(
    step("AccessDenied: EROFS: read-only file system, unlink '/srv/t/data/a'"),
    'Mount the file system of /srv/t/data/a for writing.',
  );
});

test('a write to a full disk is refused for good, so that nobody waits for room', () => {
  for (const code of ['ENOSPC', 'EDQUOT']) {
    const refusal = writeRefusalOf(Object.assign(new Error(`${code}: no space`), { code }));

    assert.deepEqual([refusal.status, refusal.code], [400, 'NoSpaceLeft']);
  }
});
