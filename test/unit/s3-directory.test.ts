import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readFile, realpath, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type BucketBackend, S3Refusal } from '#infra/local/s3/backend.ts';
import { DirectoryBucket } from '#infra/local/s3/directory-bucket.ts';

let base: string;
before(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), 'icesweep-dir-')));
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
    await mkdir(join(directory, file, '..'), { recursive: true });
    await writeFile(join(directory, file), file);
  }
  const at = `${directory.slice(1)}/`;
  return { directory, at, bucket: new DirectoryBucket({ directory: '/', mounts: () => [at] }) };
}

async function keysOf(bucket: BucketBackend, prefix: string, after?: string): Promise<string[]> {
  const keys: string[] = [];
  for await (const { key } of bucket.scan(prefix, after)) keys.push(key.slice(prefix.length));
  return keys;
}

function refuses(work: Promise<unknown>, status: number): Promise<void> {
  return assert.rejects(work, (error: unknown) => error instanceof S3Refusal && error.status === status);
}

test('nothing outside the mounts is served', async () => {
  const { directory, at } = await place(['in/x', 'in-not/y', 'z']);
  const bucket = new DirectoryBucket({ directory: '/', mounts: () => [`${at}in/`] });
  assert.deepEqual(await keysOf(bucket, at), ['in/x']);
  for (const key of ['in-not/y', 'z', 'in/../z']) {
    await assert.rejects(bucket.head(at + key), S3Refusal);
    await assert.rejects(bucket.read(at + key, 0, 1), S3Refusal);
    await assert.rejects(bucket.put(at + key, Buffer.from('!'), {}), S3Refusal);
    await bucket.delete(at + key, {}).catch(() => undefined);
  }
  assert.equal(await readFile(join(directory, 'z'), 'utf8'), 'z');
  assert.equal(await readFile(join(directory, 'in-not/y'), 'utf8'), 'in-not/y');
});

test('mounts may be added later and lie in each other; every file is shown once', async () => {
  const { at } = await place(['a/x', 'a/b/y', 'c/z']);
  const mounts = [`${at}a/b/`];
  const bucket = new DirectoryBucket({ directory: '/', mounts: () => mounts });
  assert.deepEqual(await keysOf(bucket, at), ['a/b/y']);
  mounts.push(`${at}c/`, `${at}a/`);
  assert.deepEqual(await keysOf(bucket, at), ['a/b/y', 'a/x', 'c/z']);
  assert.deepEqual(await keysOf(bucket, ''), [`${at}a/b/y`, `${at}a/x`, `${at}c/z`]);
});

test('only regular files are objects', async () => {
  const { directory, at, bucket } = await place(['x']);
  await mkdir(join(directory, 'empty'));
  execFileSync('mkfifo', [join(directory, 'pipe')]);
  assert.deepEqual(await keysOf(bucket, at), ['x']);
  await refuses(bucket.head(`${at}pipe`), 404);
  await refuses(bucket.read(`${at}pipe`, 0, 1), 404);
  await refuses(bucket.head(`${at}empty`), 404);
});

test('a changed content has another ETag, also with size and time as before', async () => {
  const { directory, at, bucket } = await place(['x']);
  const file = join(directory, 'x');
  await utimes(file, 1_600_000_000, 1_600_000_000);
  const first = await bucket.head(`${at}x`);
  assert.equal(first.lastModifiedMs, 1_600_000_000_000);
  assert.equal((await bucket.head(`${at}x`)).etag, first.etag);
  await writeFile(file, 'y');
  await utimes(file, 1_600_000_000, 1_600_000_000);
  const second = await bucket.head(`${at}x`);
  assert.deepEqual([second.sizeBytes, second.lastModifiedMs], [first.sizeBytes, first.lastModifiedMs]);
  assert.notEqual(second.etag, first.etag);
  await refuses(bucket.delete(`${at}x`, { ifMatch: first.etag }), 412);
  assert.equal(await readFile(file, 'utf8'), 'y');
});

test('files and directories that vanish during a listing are passed over', async () => {
  const { directory, at, bucket } = await place(['a', 'b', 'c/d', 'e/f', 'g']);
  const seen: string[] = [];
  for await (const { key } of bucket.scan(at, undefined)) {
    if (seen.length === 0) {
      await rm(join(directory, 'b'));
      await rm(join(directory, 'c'), { recursive: true });
    }
    seen.push(key.slice(at.length));
  }
  assert.deepEqual(seen, ['a', 'e/f', 'g']);
});

test('a managed directory keeps everything over a restart, and unfinished writes are no objects', async () => {
  const directory = join(base, 'managed');
  const open = () => new DirectoryBucket({ directory, managed: true });
  const keys = ['a', 'a//b', 'a/b', 'a/b=', 'é/😀', '../x', './y', '/lead', 'trail/', '+plus', 'a%2Fb', 'CON', '%'];
  const etags = new Map<string, string>();
  for (const key of keys) etags.set(key, (await open().put(key, Buffer.from(key), {})).etag);
  await writeFile(join(directory, '+unfinished'), 'half');
  const sorted = [...keys].sort((left, right) => Buffer.compare(Buffer.from(left), Buffer.from(right)));
  assert.deepEqual(await keysOf(open(), ''), sorted);
  for (const key of keys) {
    assert.equal((await open().head(key)).etag, etags.get(key));
    assert.equal((await open().read(key, 0, 100)).toString(), key);
  }
  await assert.rejects(stat(join(base, 'x')));
});

test('a listing starts in the middle of nested directories', async () => {
  const { at, bucket } = await place(['a/1', 'a/2', 'a-b', 'a/b/3', 'a0', 'b/c/4']);
  const all = ['a-b', 'a/1', 'a/2', 'a/b/3', 'a0', 'b/c/4'];
  for (const [index, key] of all.entries()) {
    assert.deepEqual(await keysOf(bucket, at, at + key), all.slice(index + 1), key);
  }
  assert.deepEqual(await keysOf(bucket, at, `${at}a/b/`), ['a/b/3', 'a0', 'b/c/4']);
  assert.deepEqual(await keysOf(bucket, `${at}a`), ['-b', '/1', '/2', '/b/3', '0']);
});

test('a name that is no UTF-8 is listed where no file can be, and is neither read nor deleted', async () => {
  const { directory, at, bucket } = await place(['data/a', 'data/bad%FF', 'data/z/b', 'zz']);
  const raw = (name: string, byte: number) => Buffer.concat([Buffer.from(join(directory, name)), Buffer.from([byte])]);
  await writeFile(raw('data/bad', 0xff), 'four');
  await writeFile(raw('data/bad', 0xfe), '');
  await mkdir(raw('data/dir', 0xe9));
  await writeFile(Buffer.concat([raw('data/dir', 0xe9), Buffer.from('/inside')]), 'x');

  const keys = await keysOf(bucket, at);
  const odd = ['data/./bad%FE', 'data/./bad%FF', 'data/./dir%E9/inside'];

  assert.deepEqual(keys, [...odd, 'data/a', 'data/bad%FF', 'data/z/b', 'zz']);
  for (const key of keys) assert.deepEqual(await keysOf(bucket, at, at + key), keys.slice(keys.indexOf(key) + 1));
  for (const prefix of ['data/./', 'data/./bad', 'data/./dir%E9/']) {
    const under = odd.filter((key) => key.startsWith(prefix));
    assert.deepEqual(
      await keysOf(bucket, at + prefix),
      under.map((key) => key.slice(prefix.length)),
    );
  }
  for (const key of odd) {
    await assert.rejects(bucket.head(at + key), { code: 'InvalidArgument' });
    await assert.rejects(bucket.delete(at + key, {}), { code: 'InvalidArgument' });
  }
  assert.equal(await readFile(raw('data/bad', 0xff), 'utf8'), 'four');
});
