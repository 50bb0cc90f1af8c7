/**
 * Where the command line reads and writes. Data goes to `out`, everything that is said to a person to `err`, so that a pipe
 * carries data only. Tests hand in their own.
 */
import { createInterface } from 'node:readline';

export interface Terminal {
  /** Resolves when the reader took the text, so that a slow pipe slows the writer and never fills memory. */
  readonly out: (text: string) => Promise<void>;
  readonly err: (text: string) => void;
  /** A person can be asked: standard input and error are both a terminal. */
  readonly canAsk: boolean;
  /** Standard error is a terminal that can be redrawn. */
  readonly live: boolean;
  /** Standard output is read by a person too: what stands there need not be said again on standard error. */
  readonly outIsRead: boolean;
  readonly columns: () => number;
  readonly outColumns: () => number;
  readonly colour: boolean;
  readonly ask: (question: string) => Promise<string | undefined>;
}

const MIN_COLUMNS = 20;
const DEFAULT_COLUMNS = 80;

function width(stream: { readonly columns?: number }): number {
  const columns = stream.columns ?? 0;
  return columns > 0 ? Math.max(MIN_COLUMNS, columns) : DEFAULT_COLUMNS;
}

/** Asks on standard error; undefined when the input ends or Ctrl-C is pressed. */
function ask(question: string): Promise<string | undefined> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  return new Promise((resolve) => {
    lines.on('SIGINT', () => lines.close());
    lines.on('close', () => resolve(undefined));
    lines.question(question, (answer) => {
      resolve(answer);
      lines.close();
    });
  });
}

function write(text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(text, (error) => {
      // A reader that went away (`| head`) wants no more; that is no failure of ours.
      if (error && (error as NodeJS.ErrnoException).code !== 'EPIPE') reject(error);
      else resolve();
    });
  });
}

/** The process's own streams. `NO_COLOR` and `TERM=dumb` switch colour and redrawing off. */
export function processTerminal(environment: NodeJS.ProcessEnv = process.env): Terminal {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
  const dumb = environment['TERM'] === 'dumb';
  const errIsTerminal = process.stderr.isTTY === true;
  return {
    out: write,
    err: (text) => void process.stderr.write(text),
    canAsk: process.stdin.isTTY === true && errIsTerminal,
    live: errIsTerminal && !dumb,
    outIsRead: process.stdout.isTTY === true,
    columns: () => width(process.stderr),
    outColumns: () => width(process.stdout),
    colour: process.stdout.isTTY === true && !dumb && (environment['NO_COLOR'] ?? '') === '',
    ask,
  };
}
