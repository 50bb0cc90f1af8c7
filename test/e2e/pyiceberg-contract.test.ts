/**
 * What PyIceberg and we call referenced is the same: of tables that it writes, and of tables that our writer writes. Runs where
 * a Python with pyiceberg[pyarrow,sql-sqlite] is at hand (`ICESWEEP_PYTHON`, else python3).
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { TableWriter, type TableWriterOptions } from '#test/support/table-writer.ts';
import { walkTable } from '#test/support/table-writer-walk.ts';

const python = process.env['ICESWEEP_PYTHON'] ?? 'python3';
const script = join(import.meta.dirname, 'pyiceberg_tables.py');

interface Described {
  readonly name: string;
  readonly metadata: string;
  readonly references: readonly string[];
  readonly deleted: readonly string[];
}

function hasPyIceberg(context: TestContext): boolean {
  const probe = spawnSync(python, ['-c', 'import pyiceberg, pyarrow, sqlalchemy'], { encoding: 'utf8' });
  if (probe.status === 0) return true;
  context.skip(`no Python with pyiceberg, pyarrow and sqlalchemy (${python}); set ICESWEEP_PYTHON`);
  return false;
}

function runPython(args: readonly string[]): Described[] {
  const run = spawnSync(python, [script, ...args], { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
  assert.equal(run.status, 0, run.stderr);
  return run.stdout
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Described);
}

function withFolder(use: (folder: string) => Promise<void> | void): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'icesweep-pyiceberg-'));
  return Promise.resolve(use(folder)).finally(() => rmSync(folder, { recursive: true, force: true }));
}

const readFile = (recorded: string): Uint8Array =>
  readFileSync(recorded.startsWith('file:') ? recorded.replace(/^file:\/\//, '') : recorded);

/** Our references, less the hints, which PyIceberg does not know. */
function ours(metadata: string): { readonly references: string[]; readonly deleted: string[] } {
  const walked = walkTable(metadata, readFile);
  const references = [...walked.references].filter((path) => !/version-hint\.te?xt$/.test(path));
  return { references: references.sort(), deleted: [...walked.deleted].sort() };
}

test('tables written by PyIceberg are read exactly', async (context) => {
  if (!hasPyIceberg(context)) return;
  await withFolder((folder) => {
    const tables = runPython(['write', folder]);
    assert.equal(tables.length, 6);
    for (const { name, metadata, references, deleted } of tables) {
      assert.deepEqual(ours(metadata), { references, deleted }, name);
    }
    context.diagnostic(
      `${tables.length} tables, ${tables.reduce((sum, table) => sum + table.references.length, 0)} references`,
    );
  });
});

const variants: readonly Partial<TableWriterOptions>[] = [
  { formatVersion: 1 },
  { formatVersion: 2, codec: 'null', partitionFields: ['p'] },
  { formatVersion: 2, codec: 'deflate', names: 'hadoop' },
  { formatVersion: 2, codec: 'zstandard', gzip: 'gz' },
];

test('PyIceberg reads what our writer writes, and finds the same files', async (context) => {
  if (!hasPyIceberg(context)) return;
  await withFolder(async (folder) => {
    for (const [index, options] of variants.entries()) {
      const place = { bucket: 'disk', prefix: join(folder, `t${index}`) };
      const sink = { put: (_bucket: string, key: string, bytes: Uint8Array) => putFile(key, bytes) };
      const writer = new TableWriter(sink, { location: `file://${place.prefix}`, place, ...options });
      await writer.append(5);
      await writer.tag('one');
      await writer.overwrite(2);
      if (options.formatVersion !== 1) await writer.positionDelete();
      if (options.formatVersion !== 1) await writer.equalityDelete();
      await writer.addStatistics();
      await writer.stage();
      await writer.plantOrphans();
      const metadata = writer.metadataFile?.recorded ?? '';
      const [described] = runPython(['read', metadata]);
      assert.deepEqual(
        ours(metadata),
        { references: described?.references, deleted: described?.deleted },
        JSON.stringify(options),
      );
      const found = described?.references.map((path) => path.replace(/^file:\/\//, '')) ?? [];
      const booked = [...writer.referenced()].filter((key) => !key.endsWith('version-hint.text'));
      assert.deepEqual([...found].sort(), booked.sort());
    }
  });
});

function putFile(path: string, bytes: Uint8Array): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, bytes);
}
