import assert from 'node:assert/strict';
import test from 'node:test';
import { compileGlobs } from '#functions/list/globs.ts';
import { InvalidInputError } from '#shared/errors.ts';
import { foldKey } from '#shared/identity/fold-key.ts';

function matches(glob: string, key: string, ignoreCase = false): boolean {
  return compileGlobs([glob], ignoreCase, 'exclude')(key, foldKey(key, ignoreCase));
}

test('a star stays in its folder, two stars cross folders, both take names that begin with a dot', () => {
  assert.equal(matches('*.tmp', 'a.tmp'), true);
  assert.equal(matches('*.tmp', 'd/a.tmp'), false);
  assert.equal(matches('*', '.a'), true);
  assert.equal(matches('**/*.tmp', 'a.tmp'), true);
  assert.equal(matches('**/*.tmp', 'x/.y/a.tmp'), true);
  assert.equal(matches('backup/**', 'backup/.old/1'), true);
  assert.equal(matches('backup/**', 'backup-2/1'), false);
});

test('a folder with its slash means everything below it; leading slashes and dots are dropped', () => {
  assert.equal(matches('backup/', 'backup/x/y'), true);
  assert.equal(matches('/backup/', 'backup/x'), true);
  assert.equal(matches('./backup/*', 'backup/x'), true);
});

test('keys with line breaks, backslashes and brackets are matched like any other', () => {
  assert.equal(matches('a/**', 'a/x\ny/z'), true);
  assert.equal(matches('a/*', 'a/x\\y'), true);
  assert.equal(matches('a/[[]x]', 'a/[x]'), true);
  assert.equal(matches('{a,b}/?', 'b/1'), true);
  assert.equal(matches('p=[0-9]/**', 'p=7/f'), true);
});

test('a glob protects every spelling of the same file', () => {
  assert.equal(matches('a b/**', 'a%20b/x'), true);
  assert.equal(matches('a%20b/**', 'a b/x'), true);
  assert.equal(matches('a/b', 'a//b'), true);
  assert.equal(matches('caf\u00e9/*', 'cafe\u0301/x'), true);
  assert.equal(matches('Backup/*', 'backup/x', true), true);
  assert.equal(matches('Backup/*', 'backup/x'), false);
});

test('a glob that cannot be read is refused, since it would protect nothing', () => {
  assert.throws(() => compileGlobs([''], false, 'exclude'), InvalidInputError);
  assert.throws(() => compileGlobs(['/'], false, 'exclude'), InvalidInputError);
  assert.throws(() => compileGlobs(['x'.repeat(70_000)], false, 'exclude'), InvalidInputError);
});

test('no globs match nothing', () => {
  assert.equal(compileGlobs([], false, 'exclude')('a', 'a'), false);
});
