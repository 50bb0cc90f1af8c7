/** Whether a process of this machine still lives: asked of the holder of a state folder and of whoever runs an execution. */
import { readFileSync } from 'node:fs';

/** Fields of /proc/<pid>/stat behind the name, which may hold spaces and brackets; undefined where the system has none. */
function statFields(pid: number): readonly string[] | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
}

/** Start of the process in clock ticks since boot (field 22), by which a reused pid differs; undefined where not told. */
export function startedTicks(pid: number): string | undefined {
  return statFields(pid)?.[19];
}

/**
 * A killed process that nobody waited for still answers to signals (in a container whose first process is no init, for
 * ever), so its state is looked at too.
 *
 * @param started its start in ticks when it was noted; empty where the system did not tell
 */
export function isProcessAlive(pid: number, started: string): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
  }
  const fields = statFields(pid);
  // Without a word of the system's, a process that can be signalled counts as the one that was noted.
  if (fields === undefined) return true;
  return !/^[ZX]/.test(fields[0] ?? '') && (started === '' || fields[19] === started);
}
