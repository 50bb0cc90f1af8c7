/** Finds the synthesized machine of an earlier start by the content of everything it is made of, or makes it. */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join, relative } from 'node:path';
import { defaultCacheDir, hashFiles, PROJECT_DIR, packagesText } from '#infra/bundles.ts';
import type { MachineFile } from './types.ts';

export interface MachineFileOptions {
  readonly cacheDir?: string;
  readonly functionsDir?: string;
}

const FILE = 'machine.json';
/** Others may still run from a folder that is no longer the newest. */
const KEEP_MS = 2 * 24 * 60 * 60 * 1000;

function sources(functionsDir: string): string[] {
  return [
    functionsDir,
    ...['shared', 'infra/constructs', 'infra/local/machine'].map((name) => join(PROJECT_DIR, name)),
  ];
}

function hashOf(functionsDir: string): string {
  const bundler = ['.ts', '.js'].map((end) => join(PROJECT_DIR, `infra/bundles${end}`)).find(existsSync) as string;
  return hashFiles(sources(functionsDir), `${packagesText()}\0${readFileSync(bundler, 'utf8')}`);
}

/** Bundle folders are kept relative, so that the cache survives a move of the project. */
function read(folder: string): MachineFile {
  const stored = JSON.parse(readFileSync(join(folder, FILE), 'utf8')) as MachineFile;
  const functions = Object.entries(stored.functions).map(
    ([arn, found]) => [arn, { ...found, bundleDir: join(folder, found.bundleDir) }] as const,
  );
  return { ...stored, functions: Object.fromEntries(functions) };
}

function write(folder: string, file: MachineFile): void {
  const functions = Object.entries(file.functions).map(
    ([arn, found]) => [arn, { ...found, bundleDir: relative(folder, found.bundleDir) }] as const,
  );
  writeFileSync(join(folder, FILE), JSON.stringify({ ...file, functions: Object.fromEntries(functions) }));
}

/** Only keeps the folder from being taken for stale; it may belong to another user of the machine. */
function markUsed(folder: string): void {
  try {
    utimesSync(folder, new Date(), new Date());
  } catch (error) {
    if (!['EPERM', 'EACCES', 'EROFS'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}

function removeStale(machines: string, keep: string): void {
  for (const name of readdirSync(machines)) {
    const folder = join(machines, name);
    const found = statSync(folder, { throwIfNoEntry: false });
    if (folder !== keep && found !== undefined && Date.now() - found.mtimeMs > KEEP_MS)
      rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * The resolved state machine and function settings. Seconds where something changed since the last call, else milliseconds:
 * neither CDK nor the bundler is loaded then.
 */
export async function loadMachineFile(options: MachineFileOptions = {}): Promise<MachineFile> {
  const machines = join(options.cacheDir ?? defaultCacheDir(), 'machines');
  const folder = join(machines, hashOf(options.functionsDir ?? join(PROJECT_DIR, 'functions')));
  if (existsSync(join(folder, FILE))) {
    markUsed(folder);
    return read(folder);
  }
  const { synthesizeMachine } = await import('./synthesize.ts');
  const scratch = `${folder}.${process.pid}`;
  rmSync(scratch, { recursive: true, force: true });
  mkdirSync(scratch, { recursive: true });
  write(
    scratch,
    synthesizeMachine({
      outdir: scratch,
      ...(options.functionsDir === undefined ? {} : { functionsDir: options.functionsDir }),
    }),
  );
  try {
    renameSync(scratch, folder);
  } catch (error) {
    rmSync(scratch, { recursive: true, force: true });
    // Another process may have been faster: its folder holds the same and may be in use.
    if (!existsSync(join(folder, FILE))) throw error;
  }
  removeStale(machines, folder);
  return read(folder);
}
