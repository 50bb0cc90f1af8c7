/** The map of cases in `test/README.md` keeps its word: an id that it calls tested stands in the name of a test in that file. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import test from 'node:test';

const ID = /\b[A-Z]{2,3}\d?-\d+[a-z]?\b/g;
const folder = resolve(import.meta.dirname, '..');

/** Rows of the table: ids, and the files or the words "not applicable". */
const rows = readFileSync(join(folder, 'README.md'), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| ') && line.search(ID) >= 0)
  .map((line) => {
    const [ids = '', where = ''] = line.split('|').slice(1);
    return { ids: ids.match(ID) ?? [], where: where.trim() };
  });

/** Texts in a test source that are or make up names: its string literals, not its comments. */
function namesIn(file: string): string {
  const source = readFileSync(join(folder, file), 'utf8')
    .replace(/^\s*\/\*[\s\S]*?\*\//gm, '')
    .replace(/(^|\s)\/\/.*$/gm, '');
  return (source.match(/'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/g) ?? []).join('\n');
}

const cache = new Map<string, Set<string>>();
function idsIn(file: string): Set<string> {
  const known = cache.get(file) ?? new Set(namesIn(file).match(ID) ?? []);
  cache.set(file, known);
  return known;
}

test('every id that the map calls tested stands in a name in the file that it says', () => {
  const broken: string[] = [];
  for (const { ids, where } of rows) {
    if (where.startsWith('not applicable')) continue;
    const files = [...where.matchAll(/`([^`]+)`/g)].map((match) => match[1] as string);
    assert.ok(files.length > 0, `no file for ${ids.join(' ')}`);
    for (const file of files) assert.ok(existsSync(join(folder, file)), `${file} is not there`);
    for (const id of ids) if (!files.some((file) => idsIn(file).has(id))) broken.push(`${id} in ${files.join(' ')}`);
  }
  assert.deepEqual(broken, []);
});

test('no id stands twice in the map, and the map is not empty', () => {
  const all = rows.flatMap(({ ids }) => ids);
  assert.ok(all.length > 300, `${all.length} ids`);
  assert.deepEqual(
    all.filter((id, at) => all.indexOf(id) !== at),
    [],
  );
});
