/**
 * `npm run package`: compiles the sources into a folder of their own, writes the package.json that consumers get beside them,
 * and packs both. The checkout's package.json is for development: it runs the sources and brings a Node along.
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { SCHEMAS, writeSchemas } from './schemas.ts';

const PROJECT = join(import.meta.dirname, '..');
const DOCUMENTS = ['README.md', 'CHANGELOG.md', 'LICENSE'];
const BIN = 'infra/local/bin.js';

/** A construct only fits into the stack of a consumer whose CDK is the same one. */
const PEERS = ['aws-cdk-lib', 'constructs'];

type Versions = Readonly<Record<string, string>>;

interface Manifest {
  readonly dependencies: Versions;
  readonly [field: string]: unknown;
}

/** What a consumer's npm reads: no scripts, no tools, and no optional packages, which would leak into every installation. */
function publishedManifest(): object {
  const manifest = JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8')) as Manifest;
  const { name, version, description, license, type, engines } = manifest;
  const [peers, own] = [true, false].map((peer) =>
    Object.entries(manifest.dependencies).filter(([dependency]) => PEERS.includes(dependency) === peer),
  ) as [[string, string][], [string, string][]];
  return {
    name,
    version,
    description,
    license,
    type,
    private: manifest['private'],
    engines,
    exports: {
      '.': { types: './dist/infra/index.d.ts', default: './dist/infra/index.js' },
      ...Object.fromEntries(Object.keys(SCHEMAS).map((file) => [`./schemas/${file}`, `./dist/schemas/${file}`])),
    },
    imports: Object.fromEntries(
      ['shared', 'functions', 'infra'].map((folder) => [`#${folder}/*.ts`, `./dist/${folder}/*.js`]),
    ),
    bin: { icesweep: `dist/${BIN}` },
    dependencies: Object.fromEntries(own),
    peerDependencies: Object.fromEntries(peers.map(([dependency, pinned]) => [dependency, `^${pinned}`])),
  };
}

/** The compiler that this checkout installed, on the Node that runs this file. */
function compile(outDir: string): void {
  const compiler = createRequire(import.meta.url).resolve('typescript/package.json');
  const tsc = join(dirname(compiler), 'bin', 'tsc');
  execFileSync(process.execPath, [tsc, '-p', join(PROJECT, 'tsconfig.build.json'), '--outDir', outDir], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  copyFileSync(join(PROJECT, BIN), join(outDir, BIN));
  chmodSync(join(outDir, BIN), 0o755);
}

/** Writes the tarball into `folder` and answers its path. Throws where the sources do not compile. */
export function packTarball(folder: string): string {
  const stage = mkdtempSync(join(tmpdir(), 'icesweep-pack-'));
  try {
    compile(join(stage, 'dist'));
    writeSchemas(join(stage, 'dist', 'schemas'));
    for (const name of DOCUMENTS) copyFileSync(join(PROJECT, name), join(stage, name));
    writeFileSync(join(stage, 'package.json'), `${JSON.stringify(publishedManifest(), null, 2)}\n`);
    mkdirSync(folder, { recursive: true });
    const args = ['pack', '--json', '--offline', '--ignore-scripts', '--pack-destination', resolve(folder)];
    const answer = execFileSync('npm', args, { cwd: stage, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
    const [packed] = JSON.parse(answer) as [{ readonly filename: string }];
    return join(resolve(folder), packed.filename);
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
}

if (import.meta.main) process.stdout.write(`${packTarball(join(PROJECT, 'dist'))}\n`);
