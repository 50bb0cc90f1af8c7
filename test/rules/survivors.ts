/** Mutants that no test need notice, each with its reason. `mutation.slow.ts` accepts these and no others. */
import type { Survivor } from './mutation-groups.ts';

const BOOKS = 'shared/run/judge-books.ts';
const IDENTITY = 'shared/run/judge-identity.ts';
const AGE = 'functions/list/file-class.ts';
const RULES = 'shared/identity/compiled-rules.ts';
const FOLD = 'shared/identity/fold-key.ts';
const REFERENCES = 'shared/identity/references.ts';
const THRESHOLDS = 'shared/run/judge-thresholds.ts';

const SHORTCUT = 'A short way to the answer that the long way gives too: it saves time, once per listed file.';
const CACHE = 'A cache: without it the same is worked out again.';
const NEVER_ABSENT = 'What the default stands for never happens here; it satisfies the compiler.';
const BEYOND_THE_END = 'What lies beyond the end compares with nothing.';
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
  {
    file: RULES,
    original: "'s3",
    replacement: '""',
    reason: 'The three stand in the map of equal schemes as well, whose names are all known.',
  },
  { file: RULES, original: 'known !== undefined', replacement: 'false', reason: CACHE },
  { file: RULES, original: 'compiled.set(rules, fresh);', reason: CACHE },
  { file: RULES, original: 'cached !== undefined', replacement: 'false', reason: CACHE },
  { file: RULES, original: 'prefixes.set(root, prefix);', reason: CACHE },
  { file: RULES, original: 'scheme === null', replacement: 'false', reason: 'No map holds null: it stays null.' },
  { file: RULES, original: '[]', replacement: '["Stryker was here"]', reason: 'No path has a scheme with spaces.' },
  {
    file: RULES,
    original: 'next === scheme',
    replacement: 'false',
    reason: 'A scheme that equals itself ends by the number of hops, at the same scheme.',
  },
  {
    file: RULES,
    original: "''",
    replacement: '"Stryker was here!"',
    reason:
      'Of the authority of an alias without scheme, which is never compared, and of a target without bucket, where nothing lies.',
  },
  { file: REFERENCES, original: "{\n    next: 'Name its place", reason: 'Advice to the operator.' },
  { file: REFERENCES, original: "''", replacement: '"Stryker was here!"', reason: NEVER_ABSENT },
  {
    file: REFERENCES,
    original: 'mapped === null',
    replacement: 'true',
    reason: 'Where an alias applies, its scheme is a known one.',
  },
  {
    file: REFERENCES,
    original: 'split.scheme === null',
    replacement: 'false',
    reason: 'No map holds null: it stays null.',
  },
  {
    file: REFERENCES,
    original: 'false',
    replacement: 'true',
    reason: 'Whether a bucket reference is relative is not asked.',
  },
  {
    file: REFERENCES,
    original: 'end >= 0',
    replacement: 'end > 0',
    reason: 'A key that begins with a slash has nothing before it that an alias could be.',
  },
  {
    file: REFERENCES,
    original: '/^\\//',
    replacement: '/\\//',
    reason: 'What is left of a path after an alias begins with its first slash.',
  },
  { file: REFERENCES, original: '!foldKey(key, rules.ignoreCase).startsWith', replacement: 'false', reason: SHORTCUT },
  { file: REFERENCES, original: "'/'", replacement: '""', reason: 'One more boundary is tried, of nothing.' },
  { file: REFERENCES, original: "'..'", replacement: '""', reason: SHORTCUT },
  { file: REFERENCES, original: '!folded.some((key) => key.includes', replacement: 'false', reason: SHORTCUT },
  { file: REFERENCES, original: "'./'", replacement: '""', reason: SHORTCUT },
  { file: FOLD, original: 'isCanonicalText(listedKey, ignoreCase)', replacement: 'false', reason: SHORTCUT },
  { file: FOLD, original: 'at < bytes.length', replacement: 'at <= bytes.length', reason: BEYOND_THE_END },
  { file: FOLD, original: '{\n  let previous = SLASH;\n  for (let i', replacement: '{}', reason: SHORTCUT },
  { file: FOLD, original: 'i < text.length', replacement: 'i <= text.length', reason: BEYOND_THE_END },
  { file: FOLD, original: 'unit >= 0x80 || unit === PERCENT || (unit', replacement: 'true', reason: SHORTCUT },
  { file: FOLD, original: 'unit >= 0x80', replacement: 'unit > 0x80', reason: 'U+0080 folds to itself.' },
  {
    file: FOLD,
    original: 'unit === PERCENT',
    replacement: 'unit !== PERCENT',
    reason: 'A key of nothing but `%` folds to itself.',
  },
  {
    file: FOLD,
    original: 'unit === SLASH && previous === SLASH',
    replacement: 'unit === SLASH || previous === SLASH',
    reason: SHORTCUT,
  },
  { file: FOLD, original: 'unit === SLASH', replacement: 'true', reason: SHORTCUT },
  { file: FOLD, original: 'previous === SLASH', replacement: 'true', reason: SHORTCUT },
  { file: FOLD, original: 'ignoreCase && unit >= 0x41 && unit <= 0x5a', replacement: 'true', reason: SHORTCUT },
  {
    file: FOLD,
    original: 'ignoreCase && unit >= 0x41 && unit <= 0x5a',
    replacement: 'ignoreCase && unit >= 0x41 || unit <= 0x5a',
    reason: SHORTCUT,
  },
  { file: FOLD, original: 'ignoreCase && unit >= 0x41', replacement: 'true', reason: SHORTCUT },
  { file: FOLD, original: 'ignoreCase && unit >= 0x41', replacement: 'ignoreCase || unit >= 0x41', reason: SHORTCUT },
  { file: FOLD, original: 'unit >= 0x41', replacement: 'true', reason: SHORTCUT },
  { file: FOLD, original: 'unit <= 0x5a', replacement: 'true', reason: SHORTCUT },
  { file: FOLD, original: 'true', replacement: 'false', reason: SHORTCUT },
  { file: FOLD, original: 'isAscii(slashed)', replacement: 'false', reason: SHORTCUT },
  { file: FOLD, original: "'latin1'", replacement: '""', reason: 'ASCII is the same in both encodings.' },
  { file: FOLD, original: '!bytes.includes(PERCENT)', replacement: 'false', reason: SHORTCUT },
  { file: FOLD, original: 'length >= 3', replacement: 'true', reason: 'There is no `%` before the first byte.' },
  {
    file: FOLD,
    original: 'byte >= 0x30',
    replacement: 'true',
    reason: 'A byte below `0` comes out negative, which is no digit either.',
  },
  {
    file: FOLD,
    original: '{\n  for (const byte of bytes) if (byte >= 0x80) return false;',
    replacement: '{}',
    reason: SHORTCUT,
  },
  { file: FOLD, original: 'byte >= 0x80', replacement: 'true', reason: SHORTCUT },
  { file: FOLD, original: 'isUtf8(bytes)', replacement: 'false', reason: SHORTCUT },
  {
    file: FOLD,
    original: 'first < 0x80',
    replacement: 'first <= 0x80',
    reason: 'The byte 0x80 begins no sequence of any length.',
  },
  {
    file: FOLD,
    original: 'start + length <= bytes.length',
    replacement: 'true',
    reason: 'A sequence that is cut is no UTF-8.',
  },
  {
    file: FOLD,
    original: 'start + length',
    replacement: 'start - length',
    reason: 'A sequence that is cut is no UTF-8.',
  },
  { file: FOLD, original: 'text.isWellFormed()', replacement: 'false', reason: SHORTCUT },
  {
    file: FOLD,
    original: '/(\\p{Surrogate}+)/u',
    replacement: '/(\\p{Surrogate})/u',
    reason: 'The pieces are put together again.',
  },
  {
    file: FOLD,
    original: 'unit.charCodeAt(0) - 0xdc00',
    replacement: 'unit.charCodeAt(0) + 0xdc00',
    reason: 'Only the low byte is kept.',
  },
];
