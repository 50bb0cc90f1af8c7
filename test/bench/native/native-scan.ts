/** Builds and runs the C reader of manifests, where a C compiler and libdeflate are there. */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { AbsentError } from '../measure.ts';

const run = promisify(execFile);
const SOURCE = fileURLToPath(new URL('./scan.c', import.meta.url));

/** CPU nanoseconds an entry. */
export async function nativeScan(paths: readonly string[], entries: number): Promise<number> {
  const { stdout } = await run(await build(), [...paths]);
  const [seconds, count] = stdout.trim().split(' ').map(Number) as [number, number];
  if (count !== entries) throw new Error(`The C reader counted ${count} entries of ${entries}.`);
  return (seconds * 1e9) / entries;
}

async function build(): Promise<string> {
  const folder = join(tmpdir(), 'icesweep-bench');
  const binary = join(folder, 'native-scan');
  mkdirSync(folder, { recursive: true });
  if (existsSync(binary) && statSync(binary).mtimeMs > statSync(SOURCE).mtimeMs) return binary;
  try {
    await run('cc', ['-O2', '-o', binary, SOURCE, '-ldeflate']);
  } catch (error) {
    throw new AbsentError(`no C compiler or no libdeflate: ${(error as Error).message.split('\n')[1] ?? ''}`.trim());
  }
  return binary;
}
