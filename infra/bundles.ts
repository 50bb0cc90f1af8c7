/**
 * The code of the functions: one bundle each, made by one run of esbuild and kept by content. The same folders are CDK's
 * assets and what the one-machine runtime starts.
 */
import { createHash } from 'node:crypto';
import { accessSync, constants, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { join, relative, sep } from 'node:path';
import { FUNCTION_NAMES, type FunctionName } from '#shared/runtime/env.ts';

/** Holds `functions` and `shared`: the checkout, or `dist` in the installed package. */
export const PROJECT_DIR = join(import.meta.dirname, '..');

/** The sources are TypeScript; the package holds what was compiled from them. */
const EXTENSION = import.meta.filename.endsWith('.ts') ? '.ts' : '.js';

/** The folder of packages that this one is installed in; undefined in a checkout. */
const INSTALLED_IN = enclosingModules(PROJECT_DIR);

/** `createRequire`: packages in CommonJS form call `require`, which an ES module does not have. */
const BANNER =
  "import { createRequire as icesweepRequire } from 'node:module';const require = icesweepRequire(import.meta.url);";

export interface BundleOptions {
  /** Where bundles are kept, by the hash of their sources. */
  readonly cacheDir?: string;
  /** Folder with a `handler` in each function's folder; the project's own unless a test brings others. */
  readonly functionsDir?: string;
}

export type Bundles = Readonly<Record<FunctionName, string>>;

function enclosingModules(folder: string): string | undefined {
  const parts = folder.split(sep);
  const at = parts.lastIndexOf('node_modules');
  return at < 0 ? undefined : parts.slice(0, at + 1).join(sep);
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Beside the packages, or in the user's own cache where somebody else installed them. */
export function defaultCacheDir(): string {
  const modules = INSTALLED_IN ?? join(PROJECT_DIR, 'node_modules');
  const beside = join(modules, '.cache', 'icesweep');
  const standing = [beside, join(modules, '.cache')].find((folder) => existsSync(folder)) ?? modules;
  if (isWritable(standing)) return beside;
  return join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'icesweep');
}

/** SHA-256 over names and contents of all files below the paths, in order of their names. */
export function hashFiles(paths: readonly string[], salt = ''): string {
  const hash = createHash('sha256').update(salt);
  for (const path of paths) {
    for (const file of filesBelow(path))
      hash.update(relative(PROJECT_DIR, file)).update('\0').update(readFileSync(file));
  }
  return hash.digest('hex').slice(0, 24);
}

function filesBelow(path: string): string[] {
  if (!existsSync(path)) return [];
  const entries = readdirSync(path, { withFileTypes: true, recursive: true });
  return entries
    .filter((entry) => entry.isFile() && /\.(ts|js|json)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

/**
 * What stands for the packages that go into bundles: the lock file of the checkout, or what npm, pnpm and Yarn write about
 * an installation.
 */
export function packagesText(): string {
  const files =
    INSTALLED_IN === undefined
      ? [join(PROJECT_DIR, 'package-lock.json')]
      : [
          join(PROJECT_DIR, '..', 'package.json'),
          ...['.package-lock.json', '../../lock.yaml', '.yarn-state.yml', '.yarn-integrity'].map((name) =>
            join(INSTALLED_IN, name),
          ),
        ];
  return files.map((file) => (existsSync(file) ? readFileSync(file, 'utf8') : '')).join('\0');
}

function sourceHash(functionsDir: string): string {
  return hashFiles([functionsDir, join(PROJECT_DIR, 'shared')], `${BANNER}${packagesText()}`);
}

/** Bundles every function, or finds the bundles of an earlier call; answers each function's folder with `index.mjs`. */
export function bundleFunctions(options: BundleOptions = {}): Bundles {
  const functionsDir = options.functionsDir ?? join(PROJECT_DIR, 'functions');
  const target = join(options.cacheDir ?? defaultCacheDir(), 'bundles', sourceHash(functionsDir));
  if (!existsSync(target)) build(functionsDir, target);
  return foldersIn(target);
}

function foldersIn(target: string): Bundles {
  return Object.fromEntries(FUNCTION_NAMES.map((name) => [name, join(target, name)])) as Record<FunctionName, string>;
}

/** Builds beside the target and renames, so that a killed build leaves nothing that looks finished. */
function build(functionsDir: string, target: string): void {
  // Loaded here, since a start that finds its bundles needs no bundler.
  const esbuild = createRequire(import.meta.url)('esbuild') as typeof import('esbuild');
  const scratch = `${target}.${process.pid}`;
  mkdirSync(scratch, { recursive: true });
  esbuild.buildSync({
    entryPoints: FUNCTION_NAMES.map((name) => ({
      in: join(functionsDir, name, `handler${EXTENSION}`),
      out: `${name}/index`,
    })),
    outdir: scratch,
    outExtension: { '.js': '.mjs' },
    absWorkingDir: PROJECT_DIR,
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    minify: true,
    keepNames: false,
    sourcemap: false,
    legalComments: 'none',
    logLevel: 'error',
    mainFields: ['module', 'main'],
    banner: { js: BANNER },
  });
  rmSync(target, { recursive: true, force: true });
  renameSync(scratch, target);
}
