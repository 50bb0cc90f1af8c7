/**
 * The code of the functions: one bundle each, made by one run of esbuild and kept by content. The same folders are CDK's
 * assets and what the one-machine runtime starts.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, relative } from 'node:path';
import { FUNCTION_NAMES, type FunctionName } from '#shared/runtime/env.ts';

export const PROJECT_DIR = join(import.meta.dirname, '..');

/** `createRequire`: packages in CommonJS form call `require`, which an ES module does not have. */
const BANNER =
  "import { createRequire as icesweepRequire } from 'node:module';const require = icesweepRequire(import.meta.url);";

export interface BundleOptions {
  /** Where bundles are kept, by the hash of their sources. */
  readonly cacheDir?: string;
  /** Folder with `<function>/handler.ts`; the project's own unless a test brings others. */
  readonly functionsDir?: string;
}

export type Bundles = Readonly<Record<FunctionName, string>>;

export function defaultCacheDir(): string {
  return join(PROJECT_DIR, 'node_modules', '.cache', 'icesweep');
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

/** What the bundles are made of. The lock file stands for the packages. */
function sourceHash(functionsDir: string): string {
  const lock = join(PROJECT_DIR, 'package-lock.json');
  const packages = existsSync(lock) ? readFileSync(lock, 'utf8') : '';
  return hashFiles([functionsDir, join(PROJECT_DIR, 'shared')], `${BANNER}${packages}`);
}

/** Bundles every function, or finds the bundles of an earlier call; answers each function's folder with `index.mjs`. */
export function bundleFunctions(options: BundleOptions = {}): Bundles {
  const shipped = join(PROJECT_DIR, 'bundles');
  if (options.functionsDir === undefined && existsSync(shipped)) return foldersIn(shipped);
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
    entryPoints: FUNCTION_NAMES.map((name) => ({ in: join(functionsDir, name, 'handler.ts'), out: `${name}/index` })),
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
