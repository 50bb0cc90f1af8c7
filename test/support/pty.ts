/** A command on a pseudo-terminal, as a person has it. `script` of util-linux gives one: ask `hasTerminals` first. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';

export function hasTerminals(): boolean {
  try {
    return execFileSync('script', ['--version'], { encoding: 'utf8' }).includes('util-linux');
  } catch {
    return false;
  }
}

export interface TerminalSession {
  readonly text: () => string;
  type(keys: string): void;
  /** Resolves once the screen shows it. */
  shows(pattern: RegExp): Promise<void>;
  readonly exit: Promise<number | null>;
}

export interface TerminalOptions {
  readonly cwd?: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** 80, as the texts are made for. */
  readonly columns?: number;
}

/** Only bounds a failure: a loaded machine is slow. */
const WAIT_MS = 300_000;

/** Runs a line of the shell. */
export function onTerminal(line: string, options: TerminalOptions = {}): TerminalSession {
  const child: ChildProcess = spawn(
    'script',
    ['-qefc', `stty cols ${options.columns ?? 80} rows 40; ${line}`, '/dev/null'],
    {
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { ...process.env, TERM: 'xterm', ...options.environment },
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    },
  );
  let text = '';
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  const exit = new Promise<number | null>((resolve) => child.on('close', (code) => resolve(code)));
  return {
    text: () => text,
    type: (keys) => child.stdin?.write(keys),
    shows: async (pattern) => {
      for (let waited = 0; !pattern.test(text); waited += 50) {
        if (waited > WAIT_MS || child.exitCode !== null)
          throw new Error(`The screen never showed ${pattern}:\n${text}`);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    },
    exit,
  };
}
