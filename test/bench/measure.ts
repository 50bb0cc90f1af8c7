/** One measurement in a process of its own, so that peak resident size is that of one way of doing a thing. */
import { spawn } from 'node:child_process';

export interface Measured {
  /** What the row counts, in its unit. Smaller is better. */
  readonly value: number;
  readonly peakRssMb: number;
  /** Facts that a row needs beside its value. */
  readonly facts: Readonly<Record<string, number>>;
}

/** A way of doing a thing: runs in its own process, answers value and facts. */
export type Subject = (
  files: number,
) => Promise<{ readonly value: number; readonly facts?: Readonly<Record<string, number>> }>;

/** Null where the subject cannot run here; the reason goes to the table. */
export async function measure(
  script: string,
  subject: string,
  files: number,
): Promise<Measured | { readonly absent: string }> {
  const child = spawn(process.execPath, ['--expose-gc', script, subject, String(files)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const parts: Buffer[] = [];
  child.stdout.on('data', (part: Buffer) => parts.push(part));
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  if (code !== 0) throw new Error(`${script} ${subject} ended with ${code}.`);
  const last = Buffer.concat(parts).toString().trimEnd().split('\n').at(-1) as string;
  return JSON.parse(last) as Measured | { readonly absent: string };
}

/** Why a subject cannot be measured on this machine. */
export class AbsentError extends Error {
  override readonly name = 'AbsentError';
}

/** The main of a script with subjects. */
export async function serveSubjects(subjects: Readonly<Record<string, Subject>>): Promise<void> {
  const [name, files] = process.argv.slice(2);
  const subject = subjects[name ?? ''];
  if (subject === undefined) throw new Error(`No subject ${name}; there are ${Object.keys(subjects).join(', ')}.`);
  try {
    const { value, facts = {} } = await subject(Number(files));
    process.stdout.write(`${JSON.stringify({ value, facts, peakRssMb: process.resourceUsage().maxRSS / 1024 })}\n`);
  } catch (error) {
    if (!(error instanceof AbsentError)) throw error;
    process.stdout.write(`${JSON.stringify({ absent: error.message })}\n`);
  }
}

/** CPU nanoseconds of the whole process for one of `count`. */
export async function cpuPerItem(count: number, work: () => unknown): Promise<number> {
  const start = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(start);
  return ((user + system) * 1000) / count;
}

export function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] as number;
}
