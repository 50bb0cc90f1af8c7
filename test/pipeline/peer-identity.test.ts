/** Spellings of one file, over whole runs: what the metadata records against what the bucket lists. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { ALLOW_ALL, lostFiles } from '#test/support/orphan-world.ts';
import { RunWorld } from '#test/support/run-world.ts';
import { refuses, stray, sweep, tableWith } from '#test/support/sweep.ts';

/** Data files are recorded otherwise than they lie. */
const spellData = (from: string, to: string) => ({
  spell: (path: string) => (path.endsWith('.parquet') ? path.replace(from, to) : path),
});

/** The first data file in one spelling, the second in another. */
function alternate(...spellings: readonly ((path: string) => string)[]) {
  let count = 0;
  return {
    spell: (path: string) =>
      path.endsWith('.parquet') ? (spellings[count++ % spellings.length] as (path: string) => string)(path) : path,
  };
}

test('PI-01 PI-14 FM-10 FM-14 SU-02 GO-23 s3, s3a, s3n and S3 in one table name the listed files', async () => {
  const swap = (scheme: string) => (path: string) => path.replace(/^s3:/, `${scheme}:`);
  const made = await tableWith(alternate(swap('s3a'), swap('s3n'), swap('S3'), swap('s3')), 4);

  await sweep(made, stray(made, 'data/dead.parquet'));
});

test('SA-22 FM-11 GO-24 SP-12 another scheme over a root refuses and names both; mapped or ignored the files stay', async () => {
  const made = await tableWith(spellData('s3://', 'scheme1://'));
  const dead = stray(made, 'data/dead.parquet');

  await refuses(made, 'PrefixMismatchError');
  await refuses(made, 'PrefixMismatchError', { dry_run: true });
  await sweep(made, dead, { equal_schemes: { scheme1: 's3' } });
});

test('SA-23 SP-13 GO-38 SU-06 another authority over a root refuses and names it; mapped the files stay', async () => {
  const made = await tableWith(spellData('s3://b/', 's3://servicename1/'));
  const dead = stray(made, 'data/dead.parquet');

  const refused = await refuses(made, 'PrefixMismatchError');
  assert.match(refused.cause ?? '', /servicename1/);
  await sweep(made, dead, { equal_authorities: { servicename1: 'b' } });
});

test('FM-13 GO-30 GO-32 SA-19 mode IGNORE keeps what another prefix names, plain or with percent signs, and takes the rest', async () => {
  const world = new RunWorld();
  const table = await world.table(spellData('s3://b/', 's3://other/'));
  await table.append(3, { names: ['a.parquet', 'path%20to.parquet', 'path%zz.parquet'] });
  const made = { world, table };

  await sweep(made, stray(made, 'data/dead.parquet'), { prefix_mismatch_mode: 'IGNORE' });
});

test('SA-24 FM-12 GO-33 mode DELETE and unknown modes are refused: they would unprotect what the metadata names', async () => {
  const made = await tableWith(spellData('s3://b/', 's3://other/'));
  for (const mode of ['DELETE', '999']) {
    const record = await refuses(made, 'InvalidInputError', { prefix_mismatch_mode: mode });
    assert.equal(record.requests.list, 0);
  }
});

test('SA-20 SU-03 SU-07 SU-08 paths without scheme or without authority name the listed files', async () => {
  const cut = (to: string) => (path: string) => path.replace('s3://b/', to);
  const plain = await tableWith(alternate(cut('/'), cut('s3:///')), 6);
  await sweep(plain, stray(plain, 'data/dead.parquet'));

  const schemes = await tableWith(alternate(cut('file:/'), cut('file:///'), cut('hdfs:///')), 6);
  const dead = stray(schemes, 'data/dead.parquet');
  await refuses(schemes, 'PrefixMismatchError');
  await sweep(schemes, dead, { equal_schemes: { file: 's3', hdfs: 's3' } });
});

test('FM-08 FM-09 SA-21 a scheme with one slash and no authority is no form that we read: refused, never taken for another file', async () => {
  await refuses(await tableWith(spellData('s3://b/', 's3:/')), 'PrefixMismatchError');
});

test('DR-11 a table that records some paths with and some without a scheme keeps all of them', async () => {
  const made = await tableWith({
    spell: (path) => (/(-m0\.avro|\.parquet)$/.test(path) ? path.replace('s3://b/', '/') : path),
  });

  await sweep(made, stray(made, 'data/dead.parquet'));
});

test('GO-11 SA-19 PI-04 slashes more or fewer than the key has name the same file', async () => {
  const made = await tableWith(
    {
      ...spellData('/part/', '//part///'),
      partitionFields: [],
    },
    0,
  );
  await made.table.append(2, { names: ['part/a.parquet', 'part/b.parquet'] });

  await sweep(made, stray(made, 'data/dead.parquet', 'data/part//dead.parquet'));
});

test('SA-19 PI-04 a spelling of a root that no listing shows ends the run: files under it were not looked at', async () => {
  await refuses(await tableWith(spellData('/wh/t/data/', '/wh/t///data//')), 'ListingIncompleteError');
});

for (const suffix of ['', '/', '//', '///']) {
  test(`TR-05 PI-04 CA-03 a location that ends with ${JSON.stringify(suffix)} keeps its rows, its hint and loses its strays`, async () => {
    const world = new RunWorld();
    const prefix = `wh/t${suffix === '' ? '/' : suffix}`;
    const location = `s3://b/wh/t${suffix}`;
    const table = await world.table({
      location,
      place: { bucket: 'b', prefix },
      names: 'hadoop',
    });
    const files = await table.append(3);
    await table.deleteFiles(files.slice(0, 1));
    await table.append(1);
    await table.expire(1);
    const made = { world, table };
    const expired = [...table.unreferenced()].filter((key) => !/v\d+\.metadata\.json$/.test(key));
    assert.ok(expired.includes(files[0]?.key as string));

    // A table named by its folder is looked for without its final slashes; one that lies under them is named by its file.
    const named = prefix === 'wh/t/' ? {} : { metadata_location: `s3://b/${table.metadataFile?.key}` };
    await sweep(made, [...expired, ...stray(made, 'data/dead.parquet')], { table: location, ...named });
    assert.ok(world.keys().includes(`${prefix}metadata/version-hint.text`));
  });
}

test('PI-06 PI-08 GO-15 GO-27 DV-01 keys with any printable character stay under their own name, and dead ones go', async () => {
  const odd = [
    'a b',
    'c=a#1',
    'c=a?1',
    'n=a%2Fb',
    'p+q',
    'x&y',
    "it's",
    'é',
    'e\u0301',
    '😀',
    'k:v',
    's3:x',
    '%',
    '%zz',
    'a;b',
    '~@!$,^`{}[]|',
  ];
  const world = new RunWorld();
  const table = await world.table();
  await table.append(odd.length, { names: odd.map((name) => `${name}/live.parquet`) });
  const made = { world, table };

  await sweep(made, stray(made, ...odd.map((name) => `data/${name}/dead.parquet`)));
});

test('PI-13 a file of the same name in another folder protects nothing', async () => {
  const world = new RunWorld();
  const table = await world.table();
  await table.append(1, { names: ['p=1/00000.parquet'] });
  const made = { world, table };

  await sweep(made, stray(made, 'data/p=2/00000.parquet', 'data/00000.parquet', 'data/p=1/p=1/00000.parquet'));
});

test('PI-09 GO-22 a recorded path with a parent segment refuses, and the folder it points to is never listed', async () => {
  const made = await tableWith(spellData('/data/', '/data/../other/'));
  const prefixes: string[] = [];
  made.world.tables.options = { onCall: ({ operation, key }) => void (operation === 'list' && prefixes.push(key)) };

  await refuses(made, 'PrefixMismatchError');
  assert.ok(!prefixes.some((prefix) => prefix.startsWith('wh/t/other')));
});

test('PI-11 SA-13 a relative path is refused unless an alias says where it lies', async () => {
  const made = await tableWith(spellData('s3://b/wh/t/data/', 'warehouse/t/data/'));
  const dead = stray(made, 'data/dead.parquet');

  await refuses(made, 'PrefixMismatchError');
  await sweep(made, dead, { path_aliases: { 'warehouse/t': 's3://b/wh/t' } });
});

test('CH-23b CH-23 RE-13 files that lie in another bucket are counted as outside, and nothing there is touched', async () => {
  const world = new RunWorld();
  world.tables.createBucket('c');
  world.tables.seed('c', 'elsewhere/dead.parquet', Buffer.from('x'), world.writeMs);
  const table = await world.table();
  await table.append(3);
  const outside = await world.table({
    location: 's3://b/wh/u',
    properties: { 'write.data.path': 's3://c/elsewhere' },
    spell: (path) => (path.endsWith('.parquet') ? path.replace('s3://b/wh/u/data/', 's3://c/elsewhere/') : path),
    seed: 5,
  });
  const [file] = await outside.append(1);
  await world.tables.bucket('b').delete((file as { key: string }).key, {});

  const { record } = await world.run({ ...ALLOW_ALL, table: 's3://b/wh/u' });

  assert.equal(record.verdict, 'NOTHING_TO_DO', record.cause);
  assert.equal(record.outside_roots_count, 1);
  assert.ok(
    record.warnings.some((warning) => warning.includes('s3://c/elsewhere')),
    record.warnings.join('\n'),
  );
  assert.deepEqual(world.tables.keys('c'), ['elsewhere/dead.parquet']);
  assert.deepEqual(lostFiles({ world, table }), []);
});

test('CH-22 GO-26 a path of a scheme that nobody declared refuses, wherever its key lies', async () => {
  await refuses(await tableWith(spellData('s3://b/wh/t/', 'gs://far/away/')), 'PrefixMismatchError');
});

test('GO-04 GO-05 GO-06 GO-07 GO-25 equal names: groups with blanks, and a name of its own before its group', async () => {
  const made = await tableWith(spellData('s3://b/', 's3://host1/'));
  const dead = stray(made, 'data/dead.parquet');

  await sweep(made, dead, { equal_authorities: { 'host1, host2': 'elsewhere', host1: 'b' } });
});
