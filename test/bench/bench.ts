/**
 * `npm run bench`: each row is a ratio against a named alternative, measured in the same run, each in a process of its own.
 * `--files 10m` takes the whole plan at ten times the size, `--json FILE` writes the rows, `--only NAME` runs some of them.
 */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type Measured, measure } from './measure.ts';

interface Row {
  readonly name: string;
  readonly script: string;
  readonly subject: string;
  readonly unit: string;
  readonly alternative: string;
  readonly against: string;
  readonly files: number;
  /** Of the alternative, where it cannot do as many. */
  readonly againstFiles?: number;
  /** Ours over the alternative is wanted below one: a native program. */
  readonly note?: (ours: Measured) => string;
}

export interface BenchResult {
  readonly name: string;
  readonly alternative: string;
  /** How many times the alternative needs what ours needs; null where it cannot be measured here. */
  readonly ratio: number | null;
  readonly value: number;
  readonly unit: string;
  readonly peak_rss_mb: number;
  readonly note: string;
}

const MILLION = 1_000_000;

function rows(files: number): Row[] {
  const scan = { script: 'scan.ts', subject: 'ours', unit: 'ns CPU/entry', files: MILLION };
  const filter = { script: 'filter.ts', subject: 'ours', unit: 'ns CPU/key', files: 10 * MILLION };
  const rate = ({ facts }: Measured) =>
    `${percent(facts['rate'])} false positives, ${facts['megabytes']?.toFixed(1)} MB`;
  const smaller = files / 10;
  return [
    { ...scan, name: 'manifest scan', alternative: 'avsc full decode into a Set', against: 'naive' },
    { ...scan, name: 'manifest scan', alternative: 'C with libdeflate', against: 'native' },
    {
      ...filter,
      name: 'filter, insert and ask',
      alternative: 'Set of strings, 1M',
      against: 'set',
      againstFiles: MILLION,
      note: rate,
    },
    {
      ...filter,
      name: 'filter, insert and ask',
      files: MILLION,
      alternative: 'npm bloomfilter',
      against: 'library',
    },
    {
      name: 'list and class a page',
      script: 'list.ts',
      subject: 'ours',
      unit: 'µs CPU/page',
      files,
      alternative: 'the SDK\u2019s own parsing',
      against: 'sdk',
    },
    {
      name: `whole plan, ${spell(files)} files`,
      script: 'plan.ts',
      subject: 'ours',
      unit: 'µs/file',
      files,
      alternative: 'one process, paths in a Set, no network',
      against: 'naive',
      note: workers,
    },
    {
      name: `whole plan, ${spell(files)} files`,
      script: 'plan.ts',
      subject: 'ours',
      unit: 'µs/file',
      files,
      alternative: `itself at ${spell(smaller)}`,
      against: 'ours',
      againstFiles: smaller,
      note: workers,
    },
  ];
}

function workers({ facts }: Measured): string {
  return `largest worker ${facts['worker_rss_mb']} MB; ${facts['orphans']} of ${facts['planted']} orphans`;
}

function percent(share = Number.NaN): string {
  return `${(share * 100).toFixed(4)} %`;
}

function spell(files: number): string {
  return files >= MILLION ? `${files / MILLION}M` : `${files / 1000}k`;
}

/** Subjects that several rows share are measured once. */
class Bench {
  readonly #known = new Map<string, ReturnType<typeof measure>>();

  #measure(script: string, subject: string, files: number): ReturnType<typeof measure> {
    const key = `${script} ${subject} ${files}`;
    let known = this.#known.get(key);
    if (known === undefined) {
      process.stderr.write(`measuring ${key} …\n`);
      known = measure(fileURLToPath(new URL(script, import.meta.url)), subject, files);
      this.#known.set(key, known);
    }
    return known;
  }

  async run(row: Row): Promise<BenchResult> {
    const ours = await this.#measure(row.script, row.subject, row.files);
    if ('absent' in ours) throw new Error(ours.absent);
    const other = await this.#measure(row.script, row.against, row.againstFiles ?? row.files);
    const absent = 'absent' in other;
    return {
      name: row.name,
      alternative: row.alternative,
      ratio: absent ? null : other.value / ours.value,
      value: ours.value,
      unit: row.unit,
      peak_rss_mb: Math.round(ours.facts['worker_rss_mb'] ?? ours.peakRssMb),
      note: absent ? other.absent : (row.note?.(ours) ?? ''),
    };
  }
}

function print(results: readonly BenchResult[]): void {
  const header = ['', 'value', 'unit', 'against', 'ratio', 'peak RSS', ''];
  const lines = results.map((result) => [
    result.name,
    result.value < 100 ? result.value.toFixed(1) : result.value.toFixed(0),
    result.unit,
    result.alternative,
    result.ratio === null ? '–' : `${result.ratio.toFixed(2)}×`,
    `${result.peak_rss_mb} MB`,
    result.note,
  ]);
  const widths = header.map((cell, column) =>
    Math.max(cell.length, ...lines.map((line) => (line[column] as string).length)),
  );
  for (const line of [header, ...lines]) {
    process.stdout.write(
      `${line
        .map((cell, column) => cell.padEnd(widths[column] as number))
        .join('  ')
        .trimEnd()}\n`,
    );
  }
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { files: { type: 'string', default: '1m' }, json: { type: 'string' }, only: { type: 'string' } },
  });
  const size = /^(\d+)([km]?)$/i.exec(values.files);
  if (size === null) throw new Error(`--files ${values.files}: write it like 10m.`);
  const files = Number(size[1]) * { '': 1, k: 1000, m: MILLION }[(size[2] as string).toLowerCase() as '' | 'k' | 'm'];
  const bench = new Bench();
  const results: BenchResult[] = [];
  for (const row of rows(files)) {
    if (values.only === undefined || row.name.includes(values.only)) results.push(await bench.run(row));
  }
  print(results);
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(results, null, 2)}\n`);
}

if (import.meta.main) await main();
