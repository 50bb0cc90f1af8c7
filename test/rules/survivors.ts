/** Mutants that no test need notice, each with its reason. `mutation.slow.ts` accepts these and no others. */
import type { Survivor } from './mutation-groups.ts';

const BOOKS = 'shared/run/judge-books.ts';
const IDENTITY = 'shared/run/judge-identity.ts';
const AGE = 'functions/list/file-class.ts';
const THRESHOLDS = 'shared/run/judge-thresholds.ts';

const SHORTCUT = 'A short way to the answer that the long way gives too: it saves time, once per listed file.';
const HAS_A_FIRST = 'A count above zero means that there is a first one; the chain only satisfies the compiler.';

export const survivors: readonly Survivor[] = [
  {
    file: BOOKS,
    original: 'mine.length === 0',
    replacement: 'false',
    reason: 'Without receipts `open` is still true, which refuses too; said for the reader.',
  },
  {
    file: BOOKS,
    original: 'mine.at(-1)?.through',
    reason: '`open` is false only after a receipt without an end, and a receipt after that one opens it again.',
  },
  { file: IDENTITY, original: 'first?.', reason: HAS_A_FIRST },
  {
    file: THRESHOLDS,
    original: 'value === undefined',
    replacement: 'false',
    reason: 'What is undefined is no count either; said for the compiler.',
  },
  { file: AGE, original: 'foldedKey === object.key', replacement: 'false', reason: SHORTCUT },
  { file: AGE, original: 'hasMarkedComponent(relative) || (folded', replacement: 'true', reason: SHORTCUT },
  {
    file: AGE,
    original: 'folded !== relative && has',
    replacement: 'folded !== relative || hasMarkedComponent(folded)',
    reason: SHORTCUT,
  },
  { file: AGE, original: 'folded !== relative', replacement: 'true', reason: SHORTCUT },
  { file: AGE, original: "'.avro'", replacement: '""', reason: SHORTCUT },
  {
    file: AGE,
    original: 'horizon !== undefined',
    replacement: 'true',
    reason: 'No age is greater than undefined; said for the compiler.',
  },
];
