/** Folds at the edges of their byte ranges, written out by hand. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { foldKey, foldKeyBytes } from '#shared/identity/fold-key.ts';

const bytesFold = (text: string, ignoreCase = false) =>
  Buffer.from(foldKeyBytes(Buffer.from(text), ignoreCase)).toString();

function bothFold(key: string, folded: string, ignoreCase = false): void {
  assert.equal(foldKey(key, ignoreCase), folded, JSON.stringify(key));
  assert.equal(bytesFold(key, ignoreCase), folded, `bytes of ${JSON.stringify(key)}`);
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
    bothFold(key, folded);
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
    bothFold(key, key);
  }
});

test('escapes that decoding completes are decoded too', () => {
  bothFold('%2541', 'A');
  bothFold('%25%34%31', 'A');
  bothFold('%%341', 'A');
  bothFold('%2525', '%');
});

test('slashes: runs become one, leading ones go, a final one stays', () => {
  bothFold('/', '');
  bothFold('//a///b//', 'a/b/');
  bothFold('a/b', 'a/b');
  bothFold('a.b/.c', 'a.b/.c');
});

test('letters from A to Z fold where case is ignored, their neighbours do not', () => {
  for (const letter of ['A', 'M', 'Z']) {
    bothFold(letter, letter.toLowerCase(), true);
    bothFold(letter, letter);
  }
  for (const sign of ['@', '[', '`', '{', 'a', 'z', '0']) bothFold(sign, sign, true);
  bothFold('É', 'é', true);
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
    bothFold(character, character);
    bothFold(`a//${character}`, `a/${character}`);
    bothFold(encodeURIComponent(character), character);
    // Among bytes that are no text, every character is still found whole.
    bothFold(`%FF${encodeURIComponent(character)}%FE`, `%FF${character}%FE`);
  }
  bothFold('e\u0301', 'é');
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
    bothFold(bytes, bytes);
    bothFold(bytes.toLowerCase(), bytes.endsWith('a') ? bytes : bytes.toUpperCase());
  }
  for (const byte of [0x80, 0xbf, 0xff]) {
    assert.equal(Buffer.from(foldKeyBytes(Buffer.from([byte]))).toString(), `%${byte.toString(16).toUpperCase()}`);
  }
  bothFold('%E2%82%E2%82%AC', '%E2%82€');
  bothFold('%FFe%CC%81%FE', '%FFé%FE');
  bothFold('%FF%C3%A9x%FE%FD', '%FFéx%FE%FD');
});

test('bytes that need no folding come back as they are', () => {
  for (const text of ['', 'a', 'a/b.c', '@[`{', '\u007f']) {
    const bytes = Buffer.from(text);
    assert.equal(foldKeyBytes(bytes), bytes);
    assert.equal(foldKeyBytes(bytes, true), bytes);
  }
});
