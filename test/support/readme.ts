/** What a document tells its reader to type, and what it says will be shown. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT } from './cli-world.ts';

export interface Block {
  readonly language: string;
  readonly text: string;
}

export interface Told {
  readonly command: string;
  /** What the document shows as its output; absent where it shows none. */
  readonly output?: string;
}

const SHELL = new Set(['sh', 'bash', 'shell']);
const OUTPUT = 'console';
const COMMAND = /^(?:npm|npx|node|icesweep|cdk|aws|git|sh|curl|docker|python3?) /;

export function readDocument(name: string): string {
  return readFileSync(join(PROJECT, name), 'utf8');
}

/** The fenced blocks in their order. */
export function blocksOf(markdown: string): Block[] {
  return [...markdown.matchAll(/^```([a-z]*)\n([\s\S]*?)^```$/gm)].map(([, language, text]) => ({
    language: language as string,
    text: text as string,
  }));
}

function commandsOfShell(text: string): string[] {
  return text
    .replace(/\\\n\s*/g, '')
    .split('\n')
    .map((line) => line.replace(/(?:^|\s+)# .*$/, ''))
    .flatMap((line) => line.split(' && '))
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

/** Commands that stand in a sentence. */
function commandsInline(markdown: string): string[] {
  const prose = markdown.replace(/^```[\s\S]*?^```$/gm, '');
  return [...prose.matchAll(/`([^`]+)`/g)]
    .flatMap(([, code]) => (code as string).replace(/\s+/g, ' ').split(' && '))
    .filter((code) => COMMAND.test(code));
}

/** Every command: those of the shell blocks in their order, each with the output block right behind, then those in sentences. */
export function commandsOf(markdown: string): Told[] {
  const told: Told[] = [];
  for (const { language, text } of blocksOf(markdown)) {
    if (SHELL.has(language)) told.push(...commandsOfShell(text).map((command) => ({ command })));
    else if (language === OUTPUT) {
      const before = told.pop();
      if (before === undefined || before.output !== undefined)
        throw new Error(`An output stands behind no command:\n${text}`);
      told.push({ ...before, output: text });
    }
  }
  return [...told, ...commandsInline(markdown).map((command) => ({ command }))];
}

/** What differs from run to run is replaced by its name. */
function masked(text: string): string {
  return text
    .replaceAll('\r', '')
    .replace(/\b(plan|run|delete)-([a-z]+)-\d{8}T\d{6}-[0-9a-f]{6}/g, '$1-$2-ID')
    .replace(/\d{4}-\d\d-\d\d \d\d:\d\d(?= UTC)/g, 'TIME')
    .replace(/^took [\d.]+ s$/gm, 'took TIME');
}

/**
 * The first line of `told` that `shown` lacks, or undefined where all are there: one after the other, with anything in the place
 * of a line that is `…`. Ids and times are not compared.
 */
export function missingLine(told: string, shown: string): string | undefined {
  const lines = masked(shown)
    .split('\n')
    .map((line) => line.trimEnd());
  let at = 0;
  let free = true;
  for (const line of masked(told)
    .trimEnd()
    .split('\n')
    .map((one) => one.trimEnd())) {
    if (line === '…') {
      free = true;
      continue;
    }
    const found = free ? lines.indexOf(line, at) : lines[at] === line ? at : -1;
    if (found < 0) return line;
    at = found + 1;
    free = false;
  }
  return undefined;
}

/** As GitHub makes them of headings. */
export function anchorsOf(markdown: string): string[] {
  const prose = markdown.replace(/^```[\s\S]*?^```$/gm, '');
  return [...prose.matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    (heading as string)
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replace(/\s/g, '-'),
  );
}

/** Targets of the links, without those in code. */
export function linksOf(markdown: string): string[] {
  const prose = markdown.replace(/^```[\s\S]*?^```$/gm, '').replace(/`[^`]*`/g, '');
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target as string);
}
