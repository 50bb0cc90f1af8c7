/** Folds at the edges of their byte ranges, written out by hand. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { foldKey } from '#shared/identity/fold-key.ts';

function folds(key: string, folded: string, ignoreCase = false): void {
  assert.equal(foldKey(key, ignoreCase), folded, JSON.stringify(key));
}

test('hex digits are 0 to 9, a to f and A to F, and nothing beside them', () => {
  for (const [key, folded] of [
    ['%00', '\u0000'],
    ['%0a', '\n'],
    ['%0F', '\u000f'],
    ['%30', '0'],
    ['%39', '9'],
    ['%4a', 'J'],
    ['%4F', 'O'],
    ['%7e', '~'],
    ['%2f', ''],
    ['a%2fb', 'a/b'],
  ] as const) {
    folds(key, folded);
  }
  for (const key of [
    '%4@',
    '%4`',
    '%4g',
    '%4G',
    '%4/',
    '%4:',
    '%@4',
    '%`4',
    '%g4',
    '%/4',
    '%:4',
    '%',
    '%4',
    'a%',
    '%%',
    '4%4',
  ]) {
    folds(key, key);
  }
});

test('escapes that decoding completes are decoded too', () => {
  folds('%2541', 'A');
  folds('%25%34%31', 'A');
  folds('%%341', 'A');
  folds('%2525', '%');
});

test('slashes: runs become one, leading ones go, a final one stays', () => {
  folds('/', '');
  folds('//a///b//', 'a/b/');
  folds('a/b', 'a/b');
  folds('a.b/.c', 'a.b/.c');
});

test('letters from A to Z fold where case is ignored, their neighbours do not', () => {
  for (const letter of ['A', 'M', 'Z']) {
    folds(letter, letter.toLowerCase(), true);
    folds(letter, letter);
  }
  for (const sign of ['@', '[', '`', '{', 'a', 'z', '0']) folds(sign, sign, true);
  folds('É', 'é', true);
});

test('the first byte above ASCII, and characters of two, three and four bytes', () => {
  for (const character of [
    '\u007f',
    '\u0080',
    'é',
    '\u07ff',
    '\u0800',
    '€',
    '\uffff',
    '\u{10000}',
    '😀',
    '\u{10ffff}',
  ]) {
    folds(character, character);
    folds(`a//${character}`, `a/${character}`);
    folds(encodeURIComponent(character), character);
    // Among bytes that are no text, every character is still found whole.
    folds(`%FF${encodeURIComponent(character)}%FE`, `%FF${character}%FE`);
  }
  folds('e\u0301', 'é');
});

test('bytes that are no UTF-8 stay escaped, each by itself', () => {
  for (const bytes of [
    '%80',
    '%C3',
    '%E2%82',
    '%F0%9F%98',
    '%C0%80',
    '%ED%A0%80',
    '%F5%80%80%80',
    '%FF%FE%80',
    '%E2%82a',
  ]) {
    folds(bytes, bytes);
    folds(bytes.toLowerCase(), bytes.endsWith('a') ? bytes : bytes.toUpperCase());
  }
  for (const byte of ['%80', '%bf', '%FF']) folds(byte, byte.toUpperCase());
  folds('%E2%82%E2%82%AC', '%E2%82€');
  folds('%FFe%CC%81%FE', '%FFé%FE');
  folds('%FF%C3%A9x%FE%FD', '%FFéx%FE%FD');
});

test('keys that need no folding come back as they are', () => {
  for (const key of ['', 'a', 'a/b.c', '@[`{', '\u007f']) {
    folds(key, key);
    folds(key, key, true);
  }
});
