import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { COMMANDS } from '#infra/local/cli/arguments/commands.ts';
import { FLAGS } from '#infra/local/cli/arguments/flags.ts';
import { aliasesOf, mountOf, parseMount, parseMounts } from '#infra/local/cli/arguments/mounts.ts';
import { parseCommand } from '#infra/local/cli/arguments/parse-command.ts';
import { catalogOf, flagInputs } from '#infra/local/cli/arguments/run-input.ts';
import { resolveTableArgument } from '#infra/local/cli/arguments/table-argument.ts';
import { inputSchema } from '#shared/run/input-schema.ts';

let folder = '';
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'icesweep-cli-'));
  mkdirSync(join(folder, 'dt=1/orders/metadata'), { recursive: true });
  writeFileSync(join(folder, 'dt=1/orders/metadata/v1.metadata.json'), '{}');
});
after(() => rmSync(folder, { recursive: true, force: true }));

const inputError = (pattern: RegExp) => (error: Error) => {
  assert.equal(error.name, 'InvalidInputError');
  assert.match(error.message, pattern);
  return true;
};

describe('flags', () => {
  test('every input of the execution has a flag in kebab case', () => {
    const given = new Set(FLAGS.map((flag) => flag.input));
    const own = ['table', 'catalog'];
    const missing = Object.keys(inputSchema.shape).filter((name) => !given.has(name) && !own.includes(name));
    assert.deepEqual(missing, []);
    for (const flag of FLAGS) if (flag.input !== undefined) assert.equal(flag.name, flag.input.replaceAll('_', '-'));
  });

  test('become inputs with their types', () => {
    const { values, operands } = parseCommand(
      'plan s3://b/t --older-than 1d --max-orphan-percent 12.5 --exclude a/** --exclude b --equal-schemes s3a,oss=s3 --dry-run'.split(
        ' ',
      ),
    );

    assert.deepEqual(operands, ['s3://b/t']);
    assert.deepEqual(flagInputs(values), {
      dry_run: true,
      older_than: '1d',
      exclude: ['a/**', 'b'],
      max_orphan_percent: 12.5,
      equal_schemes: { 's3a,oss': 's3' },
    });
  });

  test('a switch can be switched off', () => {
    assert.equal(parseCommand(['run', 't/', '--no-dry-run']).values.get('dry-run'), false);
    assert.equal(parseCommand(['run', 't/', '--yes=false']).values.get('yes'), false);
  });

  test('a switch with a stray value is refused', () => {
    assert.throws(() => parseCommand(['run', 't/', '--yes=maybe']), inputError(/--yes takes no value/));
  });

  test('an unknown flag is refused with the one that was meant', () => {
    assert.throws(() => parseCommand(['run', 't/', '--dryrun']), inputError(/Did you mean --dry-run\?/));
    assert.throws(
      () => parseCommand(['plan', 't/', '--retention-threshold', '7d']),
      inputError(/Did you mean --older-than\?/),
    );
    assert.throws(() => parseCommand(['plan', 't/', '--yes']), inputError(/icesweep plan has no --yes/));
  });

  test('a flag without its value, twice, or with a word for a number is refused', () => {
    assert.throws(() => parseCommand(['plan', 't/', '--older-than']), inputError(/--older-than needs a value/));
    assert.throws(
      () => parseCommand(['plan', 't/', '--older-than', '1d', '--older-than', '2d']),
      inputError(/given 2 times/),
    );
    assert.throws(() => parseCommand(['plan', 't/', '--min-files', 'many']), inputError(/takes a number/));
  });

  test('a value may begin with a dash when it is joined by =', () => {
    assert.equal(parseCommand(['plan', 't/', '--comment=-x']).values.get('comment'), '-x');
  });
});

describe('commands', () => {
  test('every example of the help parses', () => {
    for (const command of COMMANDS) {
      for (const example of command.examples) {
        assert.equal(parseCommand(example.split(' ').slice(1)).command.name, command.name);
      }
    }
  });

  test('an unknown command is refused with the one that was meant', () => {
    assert.throws(() => parseCommand(['pln', 't/']), inputError(/Did you mean icesweep plan\?/));
  });

  test('missing, extra and empty operands are refused', () => {
    assert.throws(() => parseCommand(['plan']), inputError(/needs <table>/));
    assert.throws(() => parseCommand(['plan', 'a', 'b']), inputError(/"b" is too much/));
    assert.throws(() => parseCommand(['plan', ' ']), inputError(/empty word/));
  });

  test('words behind -- are operands', () => {
    assert.deepEqual(parseCommand(['explain', 'run-1', '--', '--odd']).operands, ['run-1', '--odd']);
  });
});

describe('mounts', () => {
  test('are split at the last = before an existing directory', () => {
    const directory = join(folder, 'dt=1/orders');

    const mount = parseMount(`hdfs://nn/wh/dt=1/orders/=${directory}`);

    assert.deepEqual(mount, { recorded: 'hdfs://nn/wh/dt=1/orders', directory });
  });

  test('come longest prefix first and become path aliases into the local bucket', () => {
    const mounts = parseMounts([`s3://b=${folder}`, `s3://b/x=${join(folder, 'dt=1')}`]);

    assert.deepEqual(
      mounts.map((mount) => mount.recorded),
      ['s3://b/x', 's3://b'],
    );
    assert.deepEqual(aliasesOf(mounts), { 's3://b/x': `s3://local${folder}/dt=1`, 's3://b': `s3://local${folder}` });
  });

  test('match at a slash only', () => {
    const mounts = parseMounts([`s3://b/t=${folder}`]);

    assert.equal(mountOf('s3://b/t/', mounts)?.directory, folder);
    assert.equal(mountOf('s3://b/t/data', mounts)?.directory, folder);
    assert.equal(mountOf('s3://b/t2', mounts), undefined);
  });

  test('without an existing directory, or twice for one prefix, are refused', () => {
    assert.throws(() => parseMount('s3://b/t=/no/such/directory'), inputError(/names no existing directory/));
    assert.throws(() => parseMounts([`s3://b=${folder}`, `s3://b=${folder}/dt=1`]), inputError(/mounted twice/));
    assert.throws(() => parseMount('s3://b=/'), inputError(/root of the file system/));
  });
});

describe('the table operand', () => {
  const context = (mounts: readonly string[] = [], named = false) => ({
    mounts: parseMounts(mounts),
    named,
    readLocation: () => 's3://lake/orders/',
  });

  test('a directory is mounted at the location that its metadata records', () => {
    const directory = join(folder, 'dt=1/orders');

    const argument = resolveTableArgument(`${directory}/`, context());

    assert.deepEqual(argument, { table: 's3://lake/orders', mounts: [{ recorded: 's3://lake/orders', directory }] });
  });

  test('a metadata file pins itself and mounts its table', () => {
    const file = join(folder, 'dt=1/orders/metadata/v1.metadata.json');

    const argument = resolveTableArgument(file, context());

    assert.equal(argument.metadataLocation, 's3://lake/orders/metadata/v1.metadata.json');
    assert.equal(argument.mounts[0]?.directory, join(folder, 'dt=1/orders'));
  });

  test('a mounted location wins over a directory of the same name', () => {
    const argument = resolveTableArgument(folder, context([`${folder}=${join(folder, 'dt=1')}`]));

    assert.equal(argument.table, folder);
    assert.equal(argument.mounts.length, 1);
  });

  test('a name goes to the catalog untouched', () => {
    assert.equal(resolveTableArgument('db.orders', context([], true)).table, 'db.orders');
  });

  test('what cannot be reached is refused with the way out', () => {
    assert.throws(() => resolveTableArgument('hdfs://nn/t', context()), inputError(/--mount hdfs:\/\/nn\/t=DIRECTORY/));
    assert.throws(() => resolveTableArgument('db.orders', context()), inputError(/--catalog/));
    assert.throws(() => resolveTableArgument('./absent/table', context()), /There is no directory/);
  });
});

describe('catalogs', () => {
  const of = (line: string) => catalogOf(parseCommand(['plan', 'db.t', ...line.split(' ')]).values);

  test('rest keeps the name of the token, never the token', () => {
    assert.deepEqual(of('--catalog rest --uri http://c/ --warehouse w --token-env TOKEN'), {
      type: 'rest',
      uri: 'http://c/',
      warehouse: 'w',
      token_secret: 'env:TOKEN',
    });
  });

  test('flags of another catalog are refused', () => {
    assert.throws(() => of('--catalog glue --uri http://c/'), inputError(/--uri is of no use with --catalog glue/));
    assert.throws(() => of('--uri http://c/'), inputError(/without --catalog/));
    assert.throws(() => of('--catalog rest'), inputError(/needs --uri/));
    assert.throws(() => of('--catalog hive'), inputError(/path, glue or rest/));
  });
});
