/** Peak resident size of the functions' processes below this one, as the kernel keeps it; nothing where there is no /proc. */
import { readdirSync, readFileSync } from 'node:fs';

/** Megabytes by name of the function, of processes that run now. */
export function childPeaks(): Map<string, number> {
  const peaks = new Map<string, number>();
  for (const pid of children(String(process.pid))) {
    const environment = read(`/proc/${pid}/environ`).split('\0');
    const stage = environment.find((line) => line.startsWith('AWS_LAMBDA_FUNCTION_NAME='))?.split('=')[1];
    // Between fork and exec a child is still a copy of this process.
    if (stage === undefined) continue;
    const peak = Math.round(Number(/VmHWM:\s+(\d+)/.exec(read(`/proc/${pid}/status`))?.[1] ?? 0) / 1024);
    peaks.set(stage, Math.max(peaks.get(stage) ?? 0, peak));
  }
  return peaks;
}

export function peakOfChild(name: string): number {
  return childPeaks().get(name) ?? 0;
}

function children(parent: string): string[] {
  try {
    return readdirSync('/proc').filter(
      (pid) => /^\d+$/.test(pid) && read(`/proc/${pid}/stat`).split(') ')[1]?.split(' ')[1] === parent,
    );
  } catch {
    return [];
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
