/**
 * Mutation testing of judging, identity and age: every change to these files makes a test fail, or stands in `survivors.ts`
 * with the reason why it need not. `GROUP=judging` runs one group.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import test from 'node:test';
import { promisify } from 'node:util';
import { type MutationGroup, mutationGroups } from './mutation-groups.ts';
import { survivors } from './survivors.ts';

const TOP = resolve(import.meta.dirname, '../..');
const STRYKER = resolve(TOP, 'node_modules/@stryker-mutator/core/bin/stryker.js');
const only = process.env['GROUP'];

interface Position {
  readonly line: number;
  readonly column: number;
}

interface Mutant {
  readonly mutatorName: string;
  readonly status: string;
  readonly replacement: string;
  readonly location: { readonly start: Position; readonly end: Position };
}

interface Report {
  readonly files: Readonly<Record<string, { readonly source: string; readonly mutants: readonly Mutant[] }>>;
}

function textAt(source: string, { start, end }: Mutant['location']): string {
  const lines = source.split('\n').slice(start.line - 1, end.line);
  lines[lines.length - 1] = lines.at(-1)?.slice(0, end.column - 1) ?? '';
  lines[0] = lines[0]?.slice(start.column - 1) ?? '';
  return lines.join('\n');
}

/** Words that the operator reads, which a test may or may not repeat. Names of rules and errors hold no space. */
function isWording({ mutatorName }: Mutant, original: string): boolean {
  return mutatorName === 'StringLiteral' && /\s/.test(original);
}

function isStated(file: string, original: string, { replacement }: Mutant): boolean {
  return survivors.some(
    (known) =>
      known.file === file &&
      original.startsWith(known.original) &&
      (known.replacement === undefined || known.replacement === replacement),
  );
}

async function mutate({ name, mutate: files, tests }: MutationGroup): Promise<Report> {
  const folder = `reports/mutation/${name}`;
  const base = JSON.parse(readFileSync(resolve(import.meta.dirname, 'stryker.config.json'), 'utf8'));
  const config = {
    ...base,
    mutate: files,
    commandRunner: { command: `node --test --test-isolation=none ${tests.join(' ')}` },
    jsonReporter: { fileName: `${folder}/report.json` },
    tempDirName: `.stryker-tmp/${name}`,
  };
  mkdirSync(resolve(TOP, folder), { recursive: true });
  writeFileSync(resolve(TOP, folder, 'config.json'), JSON.stringify(config));
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  await promisify(execFile)(process.execPath, [STRYKER, 'run', `${folder}/config.json`], {
    cwd: TOP,
    env,
    maxBuffer: 64 * 1024 * 1024,
  });
  return JSON.parse(readFileSync(resolve(TOP, folder, 'report.json'), 'utf8')) as Report;
}

for (const group of mutationGroups) {
  test(`every mutant of ${group.name} is noticed, or its survival has a stated reason`, {
    skip: only !== undefined && only !== group.name,
  }, async (context) => {
    const { files } = await mutate(group);
    const open: string[] = [];
    const count = { mutants: 0, noticed: 0, wording: 0, stated: 0 };
    for (const [file, { source, mutants }] of Object.entries(files)) {
      for (const mutant of mutants) {
        const original = textAt(source, mutant.location);
        count.mutants++;
        if (mutant.status === 'Killed' || mutant.status === 'Timeout') count.noticed++;
        else if (isWording(mutant, original)) count.wording++;
        else if (isStated(file, original, mutant)) count.stated++;
        else open.push(`${file}:${mutant.location.start.line} ${mutant.status}: ${original} → ${mutant.replacement}`);
      }
    }
    context.diagnostic(JSON.stringify(count));
    assert.ok(count.mutants > 0);
    assert.deepEqual(open, []);
  });
}
