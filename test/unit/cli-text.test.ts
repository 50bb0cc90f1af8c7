import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { confirmationText, confirmDeletion, nameToType } from '#infra/local/cli/confirm.ts';
import type { OrphanSummary } from '#infra/local/cli/orphans/orphan-summary.ts';
import { OrphanCounter } from '#infra/local/cli/orphans/orphan-summary.ts';
import { recordText } from '#infra/local/cli/text/record-text.ts';
import { runsText } from '#infra/local/cli/text/runs-text.ts';
import { FakeTerminal } from '#test/support/fake-terminal.ts';
import { runRecord } from '#test/support/run-record.ts';

const style = { width: 80, colour: false };
const summary: OrphanSummary = {
  files: 214_902,
  bytes: 18_253_611_008,
  oldest: '2025-03-01T10:00:00.000Z',
  newest: '2026-11-20T10:00:00.000Z',
  kinds: [
    { name: 'data', files: 214_000, bytes: 18_000_000_000 },
    { name: 'position_delete', files: 902, bytes: 253_611_008 },
  ],
  sample: [
    's3://lake/analytics/orders/data/day=2025-03-01/00000-1-5e0a6ad8-8b9a-4c37-8a6f-6d7f6e3a8a11-0-00001.parquet',
    's3://lake/analytics/orders/metadata/x\u001b[31m.avro',
  ],
};

describe('the text of a run at 80 columns', () => {
  test('a dry run says what would go, why the rest stays, and stands on what', () => {
    assert.equal(
      recordText(
        runRecord({ metadata_location: 's3://lake/analytics/orders/metadata/v12.metadata.json' }),
        style,
        summary,
      ),
      `[DRY RUN] s3://lake/analytics/orders: 214,902 orphan files (17.0 GiB) would be
  deleted

              files      size
data      1,250,400   4.9 TiB
metadata        812  86.8 MiB
orphans     214,902  17.0 GiB

orphans by kind
  data             214,000   16.8 GiB
  position delete      902  241.9 MiB

kept: 311 too young, 17 waiting for a late commit, 4 protected by a rule, 96
  outside the roots

for example
  …a/day=2025-03-01/00000-1-5e0a6ad8-8b9a-4c37-8a6f-6d7f6e3a8a11-0-00001.parquet
  s3://lake/analytics/orders/metadata/x\\u001b[31m.avro
  … and 214,900 more

run       plan-orders-20261130T051600-4f2a
cut-off   2026-11-27 05:16 UTC; newer files are kept
metadata  s3://lake/analytics/orders/metadata/v12.metadata.json
read      402 manifests, 1,036,300 referenced files, 1,251,212 listed files
orphaned  content 17.2%, metadata 4.2%`,
    );
  });

  test('a refusal names the error, its reason, the gate and the next step', () => {
    const record = runRecord({
      verdict: 'REFUSED',
      error: 'LocationConflictError',
      cause: 'Another table has its metadata under s3://lake/analytics/orders/metadata/.',
      next_step: 'Separate the tables, or name a dropped one in former_table_uuids.',
      gates: [{ name: 'foreign_metadata_files', value: 2, limit: 0, passed: false }],
      scanned_files_count: 0,
      orphan_files_count: 0,
      kept: { young: 0, protected: 0, waiting: 0, undated: 0, unmanaged: 0 },
      metadata_location: null,
      cutoff: null,
    });

    assert.equal(
      recordText(record, style),
      `[REFUSED] s3://lake/analytics/orders: refused; nothing was deleted

LocationConflictError: Another table has its metadata under
  s3://lake/analytics/orders/metadata/.
did not pass: foreign_metadata_files is 2, limit 0

run  plan-orders-20261130T051600-4f2a

next: Separate the tables, or name a dropped one in former_table_uuids.`,
    );
  });

  test('a refusal that a digest may overrule shows the digest', () => {
    const refused = (error: string) => recordText(runRecord({ verdict: 'REFUSED', error }), style);

    assert.match(refused('ThresholdExceededError'), /^digest {4}a{64}$/m);
    assert.doesNotMatch(refused('LocationConflictError'), /a{64}/);
  });

  test('a deletion shows before and after, and that markers keep the bytes', () => {
    const record = runRecord({
      verdict: 'DELETED',
      dry_run: false,
      deleted_files_count: 214_902,
      deleted_bytes: 18_253_611_008,
      bytes_reclaimed: false,
      after: { data_files: 1_036_300, data_bytes: 5_381_746_388_992, metadata_files: 800, metadata_bytes: 90_000_000 },
      metadata_location: null,
      sample: [],
    });

    assert.equal(
      recordText(record, style),
      `[DELETED] s3://lake/analytics/orders: 214,902 orphan files (17.0 GiB) deleted

              files      size  files after  size after
data      1,250,400   4.9 TiB    1,036,300     4.9 TiB
metadata        812  86.8 MiB          800    85.8 MiB
orphans     214,902  17.0 GiB            0         0 B

kept: 311 too young, 17 waiting for a late commit, 4 protected by a rule, 96
  outside the roots

run       plan-orders-20261130T051600-4f2a
cut-off   2026-11-27 05:16 UTC; newer files are kept
read      402 manifests, 1,036,300 referenced files, 1,251,212 listed files
orphaned  content 17.2%, metadata 4.2%
versions  markers were written; bytes stay until old versions expire; icesweep
          restore plan-orders-20261130T051600-4f2a undoes it`,
    );
  });

  test('colour paints the verdict only, and without it there is no escape', () => {
    const plain = recordText(runRecord(), style, summary);

    assert.equal(
      recordText(runRecord(), { ...style, colour: true }, summary),
      plain.replace('[DRY RUN]', '\u001b[1;36m[DRY RUN]\u001b[0m'),
    );
    assert.ok(!plain.includes('\u001b'));
  });

  test('no line but a path is wider than the terminal', () => {
    for (const width of [48, 60, 80]) {
      for (const line of recordText(runRecord({ metadata_location: null }), { width, colour: false }, summary).split(
        '\n',
      )) {
        assert.ok([...line].length <= width, `${line.length} > ${width}: ${line}`);
      }
    }
  });
});

describe('the list of runs', () => {
  test('has one line for each with its id and error below', () => {
    const records = [
      runRecord(),
      runRecord({
        verdict: 'REFUSED',
        error: 'LocationConflictError',
        table: 'db.t',
        orphan_files_count: 0,
        orphan_bytes: 0,
      }),
    ];

    assert.equal(
      runsText(records, 80),
      `started (UTC)     verdict  orphans      size  deleted  table
2026-11-30 05:16  DRY_RUN  214,902  17.0 GiB        0  …://lake/analytics/orders
  plan-orders-20261130T051600-4f2a
2026-11-30 05:16  REFUSED        0       0 B        0  db.t
  plan-orders-20261130T051600-4f2a LocationConflictError`,
    );
    assert.match(runsText([], 80), /No runs yet/);
  });

  test('on a narrow terminal has the table below and the deleted files left out', () => {
    const record = runRecord({ verdict: 'PARTIAL', table: 's3://lake/a/rather/long/location/of/analytics/orders' });

    assert.equal(
      runsText([record], 50),
      `started (UTC)     verdict  orphans      size
2026-11-30 05:16  PARTIAL  214,902  17.0 GiB
  …lake/a/rather/long/location/of/analytics/orders
  plan-orders-20261130T051600-4f2a`,
    );
    const refused = runRecord({ verdict: 'REFUSED', error: 'ReferencedFilesMissingError' });
    const all = runsText([refused, record], 50).split('\n');
    assert.deepEqual(
      all.filter((line) => [...line].length > 50),
      [],
    );
  });
});

describe('the confirmation', () => {
  test('shows count, size, oldest, newest and samples, and asks for the name', () => {
    assert.equal(
      confirmationText('s3://lake/analytics/orders', summary, 80),
      `
  oldest  2025-03-01 10:00 UTC
  newest  2026-11-20 10:00 UTC
  …a/day=2025-03-01/00000-1-5e0a6ad8-8b9a-4c37-8a6f-6d7f6e3a8a11-0-00001.parquet
  s3://lake/analytics/orders/metadata/x\\u001b[31m.avro
  …

Delete 214,902 orphan files (17.0 GiB) from s3://lake/analytics/orders?
Type the table's name, orders, to go on: `,
    );
    assert.equal(nameToType('analytics.orders'), 'analytics.orders');
  });

  test('fits a narrow terminal', () => {
    assert.equal(
      confirmationText('s3://lake/analytics/orders', summary, 50),
      `
  oldest  2025-03-01 10:00 UTC
  newest  2026-11-20 10:00 UTC
  …ad8-8b9a-4c37-8a6f-6d7f6e3a8a11-0-00001.parquet
  …lake/analytics/orders/metadata/x\\u001b[31m.avro
  …

Delete 214,902 orphan files (17.0 GiB) from
  s3://lake/analytics/orders?
Type the table's name, orders, to go on: `,
    );
  });

  test('takes the name for a yes, and nothing else', async () => {
    const answer = async (text: string | undefined) =>
      confirmDeletion('db.orders', summary, new FakeTerminal({ answers: [text] }));

    assert.equal(await answer('db.orders'), true);
    for (const no of ['y', 'yes', '', 'orders ', 'db.order', undefined]) assert.equal(await answer(no), false);
  });

  test('without a terminal nothing is deleted, and --yes is named', async () => {
    await assert.rejects(confirmDeletion('db.orders', summary, new FakeTerminal({ canAsk: false })), /--yes/);
  });
});

describe('the summary of a list', () => {
  test('takes samples of different folders and the range of times', () => {
    const counter = new OrphanCounter();
    const line = (path: string, time: string) => ({
      orphan_file_location: path,
      size_bytes: 10,
      last_modified: time,
      kind: 'data',
    });
    for (const at of [1, 2, 3]) counter.add(line(`a/${at}`, `2026-01-0${at}`));
    counter.add(line('b/1', '2025-01-01'));

    const { files, bytes, oldest, newest, sample } = counter.summary();

    assert.deepEqual(
      { files, bytes, oldest, newest },
      { files: 4, bytes: 40, oldest: '2025-01-01', newest: '2026-01-03' },
    );
    assert.deepEqual(sample, ['a/1', 'b/1', 'a/2']);
  });
});
