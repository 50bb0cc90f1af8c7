/** What a team gets: the packed tarball in a project of its own, with nothing of the checkout but the packages it declares. */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { packTarball } from '#infra/pack.ts';
import { SCHEMAS } from '#infra/schemas.ts';
import { FUNCTION_NAMES } from '#shared/runtime/env.ts';
import { type CliResult, cliWorld, PROJECT } from '#test/support/cli-world.ts';

/** What every CDK project has beside the packages that the tarball asks for. */
const OWN_PACKAGES = ['typescript', '@types/node'];

interface Manifest {
  readonly bin: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
}

interface Resource {
  readonly Type: string;
  readonly Metadata?: Readonly<Record<string, string>>;
}

class Consumer {
  readonly folder = mkdtempSync(join(tmpdir(), 'icesweep-consumer-'));
  readonly installed = join(this.folder, 'node_modules', 'icesweep');
  readonly manifest: Manifest;

  /** As npm would install it, but with the checkout's packages, so that no network is needed. */
  constructor() {
    cpSync(join(PROJECT, 'test/e2e/consumer'), this.folder, { recursive: true });
    const tarball = packTarball(this.folder);
    mkdirSync(this.installed, { recursive: true });
    execFileSync('tar', ['-xzf', tarball, '-C', this.installed, '--strip-components=1']);
    this.manifest = JSON.parse(readFileSync(join(this.installed, 'package.json'), 'utf8')) as Manifest;
    const { dependencies, peerDependencies } = this.manifest;
    for (const name of [...Object.keys({ ...dependencies, ...peerDependencies }), ...OWN_PACKAGES]) this.#link(name);
    const command = join(this.folder, 'node_modules', '.bin', 'icesweep');
    mkdirSync(dirname(command));
    symlinkSync(join('..', 'icesweep', this.manifest.bin['icesweep'] as string), command);
    chmodSync(command, 0o755);
  }

  #link(name: string): void {
    const place = join(this.folder, 'node_modules', name);
    mkdirSync(dirname(place), { recursive: true });
    symlinkSync(join(PROJECT, 'node_modules', name), place);
  }

  /** Below the package's folder, in the order of their names. */
  files(): string[] {
    return readdirSync(this.installed, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(this.installed.length + 1))
      .sort();
  }

  run(command: string, ...args: readonly string[]): Promise<CliResult> {
    const path = [dirname(process.execPath), process.env['PATH'] ?? ''].join(delimiter);
    const env = { ...process.env, PATH: path };
    const child = spawn(command, args, { cwd: this.folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
    const text = { out: '', err: '' };
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      text.out += chunk;
    });
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      text.err += chunk;
    });
    return new Promise((done, fail) => {
      child.on('error', fail);
      child.on('close', (code) => done({ code, ...text }));
    });
  }

  icesweep(...args: readonly string[]): Promise<CliResult> {
    return this.run(join(this.folder, 'node_modules', '.bin', 'icesweep'), ...args);
  }
}

describe('a consumer of the packed tarball', () => {
  let consumer: Consumer;
  before(() => {
    consumer = new Consumer();
  });
  after(() => rmSync(consumer.folder, { recursive: true, force: true }));

  test('gets compiled JavaScript with types and the documents, no sources and no tests', () => {
    const files = consumer.files();
    const others = files.filter((file) => !/^dist\/(functions|infra|shared)\/.*(\.js|\.d\.ts)$/.test(file));

    const schemas = Object.keys(SCHEMAS).map((name) => `dist/schemas/${name}`);
    assert.deepEqual(others, ['CHANGELOG.md', 'LICENSE', 'README.md', ...schemas, 'package.json']);
    const missing = FUNCTION_NAMES.filter((name) => !files.includes(`dist/functions/${name}/handler.js`));
    assert.deepEqual(missing, []);
  });

  test('finds the JSON Schemas by the names of the package', async () => {
    const titles = Object.keys(SCHEMAS).map((name) => `require('icesweep/schemas/${name}').title`);
    const { code, out, err } = await consumer.run(process.execPath, '--print', `[${titles}].join()`);

    assert.deepEqual({ code, out, err }, { code: 0, out: 'icesweep run,icesweep tables\n', err: '' });
  });

  test('gets no optional packages, tools or scripts, and brings its own CDK', () => {
    const { manifest } = consumer;

    for (const field of ['optionalDependencies', 'devDependencies', 'scripts'])
      assert.equal(manifest[field], undefined);
    assert.deepEqual(Object.keys(manifest.peerDependencies), ['aws-cdk-lib', 'constructs']);
    assert.equal(manifest.dependencies['aws-cdk-lib'], undefined);
  });

  test('adds the fleet to its own stack in ten lines, which type-check and synthesize', async () => {
    const lines = readFileSync(join(consumer.folder, 'app.ts'), 'utf8').trim().split('\n');
    const [checked, synthesized] = await Promise.all([
      consumer.run(process.execPath, 'node_modules/typescript/bin/tsc', '--project', '.'),
      consumer.run(process.execPath, 'app.ts'),
    ]);

    assert.ok(lines.length <= 10, `app.ts has ${lines.length} lines`);
    assert.deepEqual({ code: checked.code, out: checked.out }, { code: 0, out: '' });
    assert.deepEqual({ code: synthesized.code, err: synthesized.err }, { code: 0, err: '' });
    const assembly = join(consumer.folder, 'cdk.out');
    const template = JSON.parse(readFileSync(join(assembly, 'Lake.template.json'), 'utf8')) as {
      readonly Resources: Readonly<Record<string, Resource>>;
    };
    const resources = Object.values(template.Resources);
    assert.equal(resources.filter(({ Type }) => Type === 'AWS::StepFunctions::StateMachine').length, 1);
    const functions = resources.filter(({ Type }) => Type === 'AWS::Lambda::Function');
    assert.equal(functions.length, FUNCTION_NAMES.length);
    const bundles = readdirSync(assembly).filter((name) => existsSync(join(assembly, name, 'index.mjs')));
    assert.equal(bundles.length, FUNCTION_NAMES.length);
  });

  const older = process.env['NODE20'];
  test('synthesizes on Node 20 as well', { skip: older === undefined && 'NODE20 names no Node 20' }, async () => {
    // Node 20 strips no types; app.ts has none.
    cpSync(join(consumer.folder, 'app.ts'), join(consumer.folder, 'app.mjs'));
    const version = await consumer.run(older as string, '--version');
    const synthesized = await consumer.run(older as string, 'app.mjs');

    assert.match(version.out, /^v20\./);
    assert.deepEqual({ code: synthesized.code, err: synthesized.err }, { code: 0, err: '' });
  });

  test('runs the command line: help, and a plan that finds every orphan of a table', async () => {
    const world = await cliWorld();
    try {
      const help = await consumer.icesweep('--help');
      const version = await consumer.icesweep('--version');
      const plan = await consumer.icesweep('plan', world.table, '--state', world.state, '--output', 'json', '--quiet');

      assert.equal(help.code, 0, help.err);
      assert.match(help.out, /icesweep plan <table>/);
      assert.equal(version.out, `icesweep ${consumer.manifest['version']}\n`);
      assert.equal(plan.code, 0, plan.err);
      const record = JSON.parse(plan.out) as { verdict: string; orphan_files_count: number };
      assert.equal(record.verdict, 'DRY_RUN');
      assert.equal(record.orphan_files_count, world.orphans.length);
    } finally {
      world.remove();
    }
  });

  test('leaves nothing in the folder of the package: what is made lies beside it', () => {
    const made = consumer.files().filter((file) => /\.mjs$|node_modules|\.cache/.test(file));

    assert.deepEqual(made, []);
    assert.ok(existsSync(join(consumer.folder, 'node_modules', '.cache', 'icesweep', 'bundles')));
  });
});
