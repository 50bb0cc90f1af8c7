/**
 * Follows the documents as a newcomer would: a fresh folder, real tables, each command as it stands there and in that order,
 * and what the document shows must be what is shown. What cannot run here is named below, with where it runs or why nowhere.
 */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { parseCommand } from '#infra/local/cli/arguments/parse-command.ts';
import { PROJECT } from '#test/support/cli-world.ts';
import { Newcomer, type Question } from '#test/support/newcomer.ts';
import { hasTerminals } from '#test/support/pty.ts';
import { blocksOf, commandsOf, missingLine, readDocument, type Told } from '#test/support/readme.ts';

const README = readDocument('README.md');
const DOCUMENTS = ['README.md', 'CONTRIBUTING.md'];

/** Commands that another place runs: a file of the project and the text in it that does. */
const ELSEWHERE: Readonly<Record<string, readonly [file: string, text: string]>> = {
  'npm ci': ['.ci/run', 'npm ci '],
  'npm test': ['.ci/run', 'npm test'],
  'npm run typecheck': ['.ci/run', 'npm run typecheck'],
  'npm run lint': ['.ci/run', 'npm run lint'],
  'npm run synth': ['.ci/run', 'npm run synth'],
  'npm run build': ['test/infra/schemas.test.ts', 'writeSchemas('],
  'npm run package': ['test/e2e/consumer.test.ts', 'packTarball('],
  'npm install <checkout>/dist/icesweep-0.1.0.tgz aws-cdk-lib constructs': [
    'test/e2e/consumer.test.ts',
    "execFileSync('tar', ['-xzf', tarball",
  ],
  'npx icesweep': ['test/e2e/consumer.test.ts', "'.bin', 'icesweep'"],
};

/** Commands that need an account, a network or hours; a check below does what can be done without. */
const NOWHERE: Readonly<Record<string, string>> = {
  'npx cdk bootstrap': 'needs an AWS account',
  'npx cdk deploy -c icesweep:tableLocations=s3://lake/warehouse/':
    'needs an AWS account; synthesized with its settings',
  'npx cdk deploy -c icesweep:tableLocations=s3://lake/warehouse/ -c icesweep:dryRunByDefault=false':
    'needs an AWS account; synthesized with its settings',
  'npx cdk destroy': 'needs an AWS account',
  'npm run icesweep -- start analytics.orders --state-machine <arn> --dry-run':
    'needs a deployment; its flags are parsed',
  'npm run icesweep -- lock analytics.orders --catalog glue --run-table <run-table> --comment compaction':
    'needs a deployment; its flags are parsed',
  'npm run icesweep -- unlock analytics.orders --catalog glue --run-table <run-table>':
    'needs a deployment; its flags are parsed',
  'npm run icesweep -- runs analytics.orders --run-table <run-table>': 'needs a deployment; its flags are parsed',
  'npm run icesweep -- report <run> --run-table <run-table> --work-bucket <work-bucket> --html report.html':
    'needs a deployment; its flags are parsed',
  'npm run icesweep -- explain <run> <path> --run-table <run-table> --work-bucket <work-bucket>':
    'needs a deployment; its flags are parsed',
  'npm run test:slow': 'takes hours; the script is there',
  'npm run bench': 'takes long and measures; the script is there',
};

interface Expectation {
  /** What the output must hold beside what the document shows. */
  readonly shows: RegExp;
  readonly asks?: Question;
}

const ASKED: Question = [/to go on: /, 'orders'];

/** Commands that this test runs, in the documents' order. */
const HERE: Readonly<Record<string, Expectation>> = {
  'npm start': { shows: /checked: all \d+ planted orphans are gone/ },
  'npm run icesweep -- plan ./warehouse/db/orders --older-than 3d': { shows: /\[DRY RUN\].*13 orphan files/ },
  'npm run icesweep -- plan ./warehouse/db/orders': { shows: /\[DRY RUN\].*13 orphan files/ },
  'npm run icesweep -- explain <run> <path>': { shows: /orphan: no metadata names it/ },
  'npm run icesweep -- run ./warehouse/db/orders': { shows: /\[DELETED\]/, asks: ASKED },
  'npm run icesweep -- runs': { shows: /DELETED +13/ },
  'npm run icesweep -- report <run> --html report.html': { shows: /report\.html/ },
  'npm run icesweep -- runs --html fleet.html': { shows: /fleet\.html/ },
  'npm run icesweep -- plan s3://lake/db/orders --endpoint-url http://127.0.0.1:9000': { shows: /13 orphan files/ },
  'npm run icesweep -- delete <run>': { shows: /\[DELETED\]/, asks: ASKED },
  'npm run icesweep -- restore <run>': { shows: /13 files restored/, asks: [/Type yes to go on: /, 'yes'] },
  'npm run -s icesweep -- plan hdfs://nn/wh/t --mount hdfs://nn/wh/t=./copy --older-than 7d --output jsonl': {
    shows: /^(?:\{"orphan_file_location":"hdfs:\/\/nn\/wh\/t\/.*\}\n){13}$/m,
  },
  'npm run model': { shows: /Inputs of the model:/ },
};

const told = DOCUMENTS.flatMap((name) => commandsOf(readDocument(name)));

test('what is filled in is what the README says that the reader fills in', () => {
  for (const name of ['<run>', '<path>', 'http://127.0.0.1:9000', './warehouse/db/orders', 's3://lake/db/orders'])
    assert.ok(README.includes(`| \`${name}\` |`), name);
  for (const name of ['hdfs://nn/wh/t', './copy', '<arn>', '<run-table>', '<work-bucket>'])
    assert.ok(README.includes(`\`${name}\``), name);
});

test('every command of the documents runs in this test, runs in a named place, or says why it runs nowhere', () => {
  const known = new Set([...Object.keys(HERE), ...Object.keys(ELSEWHERE), ...Object.keys(NOWHERE)]);
  const commands = new Set(told.map(({ command }) => command));

  assert.deepEqual(
    [...commands].filter((command) => !known.has(command)),
    [],
    'commands without an entry',
  );
  assert.deepEqual(
    [...known].filter((command) => !commands.has(command)),
    [],
    'entries without a command',
  );
});

test('what is said to run elsewhere does', () => {
  for (const [command, [file, text]] of Object.entries(ELSEWHERE))
    assert.ok(readFileSync(join(PROJECT, file), 'utf8').includes(text), `${command}: no ${text} in ${file}`);
});

test('what runs nowhere is at least understood: scripts are there, flags and settings are known', () => {
  const { scripts } = JSON.parse(readDocument('package.json')) as { scripts: Record<string, string> };
  const settings = readDocument('infra/app.ts');
  for (const command of Object.keys(NOWHERE)) {
    const words = command.split(' ');
    if (words[0] === 'npm') assert.ok((words[2] as string) in scripts, command);
    if (command.startsWith('npm run icesweep -- ')) parseCommand(words.slice(4));
    for (const [, name] of command.matchAll(/-c icesweep:(\w+)=/g)) assert.ok(settings.includes(`'${name}',`), command);
  }
});

describe('a newcomer', () => {
  const newcomer = new Newcomer();
  before(() => newcomer.open());
  after(() => newcomer.close());

  const once = new Map<string, Told>();
  for (const one of told) if (one.command in HERE && !once.has(one.command)) once.set(one.command, one);

  for (const { command, output } of once.values()) {
    const { shows, asks } = HERE[command] as Expectation;
    const skip = asks !== undefined && !hasTerminals() ? 'needs script of util-linux' : false;
    test(`types ${command}`, { skip }, async () => {
      const shown = await newcomer.type(command, asks);

      assert.match(shown, shows);
      assert.equal(output === undefined ? undefined : missingLine(output, shown), undefined, shown);
    });
  }

  test('finds the pages where the commands put them', () => {
    for (const page of ['.icesweep/demo/report.html', 'report.html', 'fleet.html'])
      assert.ok(existsSync(join(newcomer.folder, page)), page);
  });

  test('finds the table of costs as the model prints it', async () => {
    const table = (await newcomer.type('npm run model')).split('\n').filter((line) => line.startsWith('|'));

    assert.ok(table.length > 4);
    for (const line of table) assert.ok(README.includes(line), line);
  });

  test('synthesizes what would be deployed, with the tables file as it is shown', async () => {
    const tables = blocksOf(README).find(({ language, text }) => language === 'json' && text.includes('"tables"'));
    writeFileSync(join(newcomer.folder, 'tables.json'), tables?.text as string);
    await newcomer.type(
      `CDK_OUTDIR=deployed CDK_CONTEXT_JSON='{"icesweep:tableLocations":"s3://lake/warehouse/","icesweep:dryRunByDefault":"false"}' npm run -s synth`,
    );

    const assembly = join(newcomer.folder, 'deployed');
    const templates = readdirSync(assembly).filter((name) => name.endsWith('.template.json'));
    const text = templates.map((name) => readFileSync(join(assembly, name), 'utf8')).join('\n');
    for (const part of ['analytics.orders', 'analytics.clicks', 'cron(0 3 * * ? *)', 'rate(7 days)', 'Europe/Berlin'])
      assert.ok(text.includes(part), part);
  });
});
