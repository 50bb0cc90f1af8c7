import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { takeProcessLock } from '#infra/local/state/process-lock.ts';
import { type CliWorld, cliWorld, LOCATION, runCli } from '#test/support/cli-world.ts';

describe('the command line over a table in a directory', () => {
  let world: CliWorld;
  let planned = '';
  before(async () => {
    world = await cliWorld();
  });
  after(() => world.remove());

  const pathsOf = (jsonl: string): string[] =>
    jsonl
      .split('\n')
      .filter(Boolean)
      .map((line) =>
        (JSON.parse(line) as { orphan_file_location: string }).orphan_file_location.slice(LOCATION.length + 1),
      )
      .sort();

  test('plan --output jsonl prints each orphan once, spelled as the table spells its paths, and deletes nothing', async () => {
    const before = world.remaining();
    const { code, out } = await world.run('plan', world.table, '--output', 'jsonl', '--quiet');

    assert.equal(code, 0);
    assert.deepEqual(pathsOf(out), world.orphans);
    assert.deepEqual(Object.keys(JSON.parse(out.split('\n')[0] as string)), [
      'orphan_file_location',
      'size_bytes',
      'last_modified',
      'kind',
    ]);
    assert.deepEqual(world.remaining(), before);
  });

  test('plan --output json prints exactly one document, and --detailed-exitcode tells of orphans', async () => {
    const { code, out } = await world.run('plan', world.table, '--output', 'json', '--quiet', '--detailed-exitcode');
    const record = JSON.parse(out) as { run_id: string; verdict: string; orphan_files_count: number };

    assert.equal(code, 2);
    assert.equal(record.verdict, 'DRY_RUN');
    assert.equal(record.orphan_files_count, world.orphans.length);
    planned = record.run_id;
  });

  test('explain tells an orphan from a referenced file, by the snapshot that names it', async () => {
    const orphan = await world.run('explain', planned, world.orphans[0] as string);
    const data = world.referenced.find((path) => path.startsWith('data/')) as string;
    const referenced = await world.run('explain', planned, `${LOCATION}/${data}`);

    assert.match(orphan.out, /orphan: no metadata names it/);
    const absent = await world.run('explain', planned, 'data/none.parquet');
    assert.match(
      absent.out.replace(/\s+/g, ' '),
      /absent: there is no object s3:\/\/lake\/sales\/orders\/data\/none\.parquet now/,
    );
    assert.match(
      referenced.out.replace(/\s+/g, ' '),
      /kept: referenced: named as data file \(ADDED\) by manifest .* of snapshot/,
    );
  });

  test('explain asks nothing of a bucket or folder outside the roots of the run', async () => {
    for (const path of ['s3://other/x', `${LOCATION}/elsewhere/x`, `${LOCATION}-2/data/x`]) {
      const { code, out, err } = await world.run('explain', planned, path);

      assert.equal(code, 0, err);
      assert.match(out.replace(/\s+/g, ' '), /kept: outside the roots of the run \(s3:\/\/lake/);
    }
  });

  test('without a terminal and without --yes nothing is deleted', async () => {
    const before = world.remaining();
    const { code, err } = await world.run('delete', planned, '--quiet');

    assert.equal(code, 64);
    assert.match(err, /^InvalidInputError: .*--yes/);
    assert.deepEqual(world.remaining(), before);
  });

  test('a second process is told which one holds the state folder, and does nothing', async () => {
    const lock = takeProcessLock(world.state, 'icesweep run other');
    const { code, err } = await world.run('plan', world.table);
    lock.release();

    assert.equal(code, 3);
    assert.match(err, new RegExp(`RunInProgressError: .* process ${process.pid} \\(icesweep run other`));
  });

  test('delete removes exactly what the plan lists, and the next plan finds nothing', async () => {
    const before = world.remaining();
    const { code, out } = await world.run('delete', planned, '--yes', '--quiet');
    const again = await world.run('plan', world.table, '--quiet', '--detailed-exitcode');

    assert.equal(code, 0, out);
    assert.deepEqual(
      before.filter((path) => !world.remaining().includes(path)),
      world.orphans,
    );
    assert.match(again.out, /^\[DRY RUN\].*no orphan files/);
    assert.equal(again.code, 0);
    const swept = await world.run('run', world.table, '--yes', '--quiet');
    assert.match(swept.out, /^\[NOTHING TO DO\].*no orphan files/);
  });

  test('the same plan is not deleted twice', async () => {
    const { code, err } = await world.run('delete', planned, '--yes', '--quiet');

    assert.equal(code, 3);
    assert.match(err, /PlanNotDeletableError/);
  });

  test('runs lists them newest first, report writes the page, runs --html the fleet', async () => {
    const list = await world.run('runs', world.table, '--output', 'json');
    const records = JSON.parse(list.out) as { run_id: string; started_at: string }[];
    const page = join(world.folder, 'report.html');
    const fleet = join(world.folder, 'fleet.html');
    const report = await world.run('report', planned, '--html', page);

    assert.ok(records.length >= 4);
    assert.deepEqual(
      records,
      [...records].sort((a, b) => (a.started_at < b.started_at ? 1 : -1)),
    );
    assert.equal(report.code, 0, report.err);
    assert.match(readFileSync(page, 'utf8'), /^<!doctype html>/);
    assert.equal((await world.run('runs', '--html', fleet)).code, 0);
    assert.match(readFileSync(fleet, 'utf8'), /Tables by waste/);
    const unwritable = await world.run('runs', '--html', '/no/where/fleet.html');
    assert.match(unwritable.err, /^InvalidInputError: --html \/no\/where\/fleet.html cannot be written/);
    assert.equal(unwritable.code, 64);
    assert.match((await world.run('runs', 'db.other')).out, /^No runs of db.other yet/);
  });
});

test('files whose names are no UTF-8 are counted, warned of and kept', async () => {
  const world = await cliWorld();
  const odd = Buffer.concat([Buffer.from(`${world.table}/data/lost-`), Buffer.from([0xff])]);
  writeFileSync(odd, 'lost');
  utimesSync(odd, 0, Date.now() / 1000 - 60 * 86_400);
  const { code, out, err } = await world.run('run', world.table, '--yes', '--quiet', '--output', 'json');
  const record = JSON.parse(out) as {
    deleted_files_count: number;
    warnings: string[];
    kept: { protected: number };
  };

  assert.equal(code, 0, err);
  assert.equal(record.deleted_files_count, world.orphans.length);
  assert.equal(record.kept.protected, 1);
  assert.match(
    record.warnings.join('\n'),
    /^1 file with .*UTF-8.* kept: s3:\/\/lake\/sales\/orders\/data\/\.\/lost-%FF among/m,
  );
  assert.equal(existsSync(odd), true);
  world.remove();
});

test('run tells of a lock on the table before it plans, and goes on once it is given back', async () => {
  const world = await cliWorld();
  await world.run('lock', world.table, '--comment', 'compaction');
  const locked = await world.run('run', world.table, '--yes');

  assert.match(locked.err, /^RunInProgressError: The table's lease is held by compaction until .*unlock/);
  assert.deepEqual([locked.code, locked.out], [3, '']);
  assert.match((await world.run('runs')).out, /^No runs yet/);
  assert.equal((await world.run('plan', world.table, '--quiet')).code, 0);
  await world.run('unlock', world.table);
  assert.equal((await world.run('run', world.table, '--yes', '--quiet')).code, 0);
  world.remove();
});

describe('bad input', () => {
  let world: CliWorld;
  before(async () => {
    world = await cliWorld();
  });
  after(() => world.remove());

  const cases: readonly (readonly [string, (world: CliWorld) => readonly string[], number, RegExp])[] = [
    ['an unknown flag', ({ table }) => ['plan', table, '--oldr-than', '3d'], 64, /InvalidInputError: .*--older-than/],
    ['an age without a unit', ({ table }) => ['plan', table, '--older-than', '3'], 64, /InvalidInputError: .*no unit/],
    ['an age below the floor', ({ table }) => ['plan', table, '--older-than', '1h'], 3, /OlderThanTooRecentError: /],
    [
      'a mount of nothing',
      () => ['plan', LOCATION, '--mount', `${LOCATION}=/no/where`],
      64,
      /InvalidInputError: .*no existing directory/,
    ],
    ['a table that needs a mount', () => ['plan', 'hdfs://nn/t'], 64, /InvalidInputError: .*--mount/],
    ['a directory without a table', ({ folder }) => ['plan', folder], 1, /TableNotFoundError: /],
    [
      'a port that is none',
      () => ['plan', 's3://b/t', '--endpoint-url', 'http://h:99999'],
      64,
      /InvalidInputError: .*http/,
    ],
    ['a limit of nothing', () => ['runs', '--limit', '0'], 64, /InvalidInputError: --limit is a whole number/],
    ['an unknown run', () => ['delete', 'no-such-run', '--yes'], 64, /InvalidInputError: .*no-such-run/],
  ];
  for (const [what, args, code, message] of cases) {
    test(`${what} gives one line with its name, its exit code, and touches nothing`, async () => {
      const before = world.remaining();
      const result = await world.run(...args(world));

      assert.match(result.err, message);
      assert.equal(result.err.trimEnd().split('\n').length, 1, result.err);
      assert.equal(result.code, code);
      assert.equal(result.out, '');
      assert.deepEqual(world.remaining(), before);
    });
  }

  test('reading commands make no state where there is none, and say so', async () => {
    const bare = join(world.folder, 'bare');
    mkdirSync(bare);
    for (const line of [['runs'], ['report', 'RUN'], ['explain', 'RUN', 'data/a.parquet'], ['restore', 'RUN']]) {
      for (const state of [bare, join(world.folder, 'none')]) {
        const { code, err } = await runCli([...line, '--state', state], world.folder);

        assert.equal(code, 64);
        assert.match(err, new RegExp(`^InvalidInputError: There (are no runs|is no run "RUN").*${state}`));
      }
    }
    assert.deepEqual(readdirSync(bare), []);
    assert.equal(existsSync(join(world.folder, 'none')), false);
  });

  test('a blank state folder is not the working directory', async () => {
    const { err, code } = await runCli(['runs', '--state='], world.folder);

    assert.match(err, /^InvalidInputError: --state names no folder/);
    assert.equal(code, 64);
  });

  test('with --output json the error is the one document on standard output', async () => {
    const { out, code } = await world.run('plan', world.table, '--older-than', '1h', '--output', 'json');

    assert.deepEqual((JSON.parse(out) as { error: string }).error, 'OlderThanTooRecentError');
    assert.equal(code, 3);
  });

  test('unreadable metadata is named, and no state is left behind', async () => {
    const broken = join(world.folder, 'broken');
    mkdirSync(join(broken, 'metadata'), { recursive: true });
    writeFileSync(join(broken, 'metadata/v1.metadata.json'), '{"format-version": 2');
    const { err, code } = await world.run('plan', broken);

    assert.match(err, /^MetadataUnreadableError: /);
    assert.equal(code, 1);
    assert.equal(existsSync(world.state), false);
  });

  test('a closed endpoint is told at once', async () => {
    const { err, code } = await world.run('plan', 's3://b/t', '--endpoint-url', 'http://127.0.0.1:9');

    assert.match(err, /^ServiceUnavailableError: The store http:\/\/127\.0\.0\.1:9 cannot be reached/);
    assert.equal(code, 1);
    assert.equal(existsSync(world.state), false);
  });

  test('a mount of another prefix than the metadata records says what is missing', async () => {
    const before = world.remaining();
    const { err, code } = await world.run('plan', 'hdfs://nn/t', '--mount', `hdfs://nn/t=${world.table}`, '--quiet');

    assert.match(err, /^MetadataUnreadableError: s3:\/\/lake\/\S+, which the metadata names, .*--mount/);
    assert.equal(code, 1);
    assert.deepEqual(world.remaining(), before);
  });
});
