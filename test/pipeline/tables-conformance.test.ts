/**
 * Every collected real table against its independently computed truth: the set of referenced files, and what refuses the table.
 * The folder is no part of the project; where it is absent the writer's twins of each feature (iceberg-table-writer.test.ts) stand in.
 */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import test from 'node:test';
import { chooseMetadata, headsNeeded, type MetadataHead } from '#shared/iceberg/choose-metadata.ts';
import { parseTableMetadata } from '#shared/iceberg/metadata-json.ts';
import { foldKey } from '#shared/identity/fold-key.ts';
import { classifyReference, locateReference, recordedPath, resolveLocation } from '#shared/identity/references.ts';
import type { IdentityRules } from '#shared/identity/types.ts';
import { walkTable } from '#test/support/table-writer-walk.ts';

const tables = process.env['ICESWEEP_TABLES'] ?? resolve(import.meta.dirname, '../../../shared/tables');

interface Truth {
  readonly current_metadata: string;
  readonly complete: boolean;
  readonly reachable_physical: readonly string[];
  readonly unreachable: readonly string[];
  readonly missing: readonly unknown[];
}

/** Where DESIGN.md answers otherwise than the truth's own rules, and why. */
const DEVIATIONS: Readonly<Record<string, string>> = {
  'duckdb-equality_delete_cross_partition-t':
    'its only metadata file, vfinal.metadata.json, has no version in its name, so it must be named explicitly (section 3)',
};

/** Where the files lie below a shorter prefix than the recorded location. */
const MOUNTED_AT: Readonly<Record<string, string>> = {
  // Its location ends with /metadata, and its lists lie right in it.
  'cxx-perf-manifest_files': 's3://warehouse/performance/manifest_files',
};

/** Never deleted, whoever wrote it (section 3); to the truth's reader it is a file that nothing names. */
const ALWAYS_PROTECTED = 'metadata/version-hint.txt';

const slugs = existsSync(tables)
  ? readdirSync(tables).filter((slug) => existsSync(join(tables, slug, 'truth.json')))
  : [];
const counts = { tables: 0, complete: 0, refused: 0, alternatives: 0, references: 0, entries: 0, unreachable: 0 };

interface Tree {
  readonly slug: string;
  readonly location: string;
  readonly rules: IdentityRules;
  /** Keys of the physical files, relative to the tree. */
  readonly files: readonly string[];
}

/** The tree mounted as a user would: the recorded location, and every outside prefix, on its folder. */
function mount(slug: string): Tree {
  const folder = join(tables, slug);
  const about = readJson(join(folder, 'about.json')) as { location: string; outside_map: [string, string][] };
  const aliases = [
    { from: MOUNTED_AT[slug] ?? about.location, to: 's3://local/tree/table' },
    ...about.outside_map.map(([from, to]) => ({ from, to: `s3://local/tree/${to}` })),
  ];
  const files = ['table', 'outside']
    .filter((top) => existsSync(join(folder, top)))
    .flatMap((top) =>
      readdirSync(join(folder, top), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1)),
    );
  const rules = {
    equalSchemes: { s3a: 's3', s3n: 's3' },
    equalAuthorities: {},
    pathAliases: aliases,
    tableLocation: about.location,
    ignoreCase: false,
  };
  return { slug, location: about.location, rules, files };
}

function readJson(path: string): unknown {
  return JSON.parse(readFileSync(path, 'utf8'));
}

function readRecorded(tree: Tree): (path: string) => Uint8Array {
  return (path) => {
    const { bucket, key } = locateReference(path, tree.rules);
    if (bucket !== 'local') throw Object.assign(new Error(`${path} is not in the copy`), { code: 'ENOENT' });
    return readFileSync(join(tables, tree.slug, key.slice('tree/'.length)));
  };
}

/** The choice of a `path` catalog over the metadata folder. */
function chooseCurrent(tree: Tree): { readonly name: string; readonly sameVersion: readonly string[] } {
  const folder = join(tables, tree.slug, 'table/metadata');
  const names = readdirSync(folder);
  const heads = new Map<string, MetadataHead>();
  for (const name of headsNeeded(names)) heads.set(name, parseTableMetadata(readFileSync(join(folder, name)), name));
  const hintFile = join(folder, 'version-hint.text');
  const hint = existsSync(hintFile) ? readFileSync(hintFile, 'utf8') : undefined;
  return chooseMetadata(names, heads, hint === undefined ? {} : { hint });
}

/** Physical files that the references protect, relative to the tree as the truth gives them. */
function protectedFiles(tree: Tree, references: Iterable<string>): string[] {
  const root = { scheme: 's3', authority: 'local', bucket: 'local', prefix: 'tree/' };
  const folded = new Set<string>();
  for (const path of references) {
    const classified = classifyReference(path, tree.rules, [root]);
    assert.equal(classified.fault, undefined, `${path}: ${classified.fault} ${classified.evidence}`);
    for (const key of classified.folded) folded.add(key);
  }
  return tree.files
    .filter((file) => folded.has(foldKey(`tree/${file}`)))
    .map(relativeName)
    .sort();
}

function expectedFiles(tree: Tree, truth: Truth): string[] {
  const hint = tree.files.includes(`table/${ALWAYS_PROTECTED}`) ? [ALWAYS_PROTECTED] : [];
  return [...new Set([...truth.reachable_physical, ...hint])].sort();
}

/** As the truth spells it. */
function relativeName(file: string): string {
  return file.startsWith('table/') ? file.slice('table/'.length) : `../${file}`;
}

for (const slug of slugs) {
  test(`the references of ${slug} are those of its truth`, () => {
    counts.tables++;
    const tree = mount(slug);
    const truth = readJson(join(tables, slug, 'truth.json')) as Truth;
    if (slug in DEVIATIONS) assert.throws(() => chooseCurrent(tree), { name: 'TableNotFoundError' });
    else assert.equal(`metadata/${chooseCurrent(tree).name}`, truth.current_metadata);
    const walk = () =>
      walkTable(recordedPath('local', `tree/table/${truth.current_metadata}`, tree.rules), readRecorded(tree));
    if (!truth.complete) {
      counts.refused++;
      assert.throws(walk, { code: 'ENOENT' });
      return;
    }
    const walked = walk();
    counts.complete++;
    counts.references += walked.references.size;
    counts.entries += walked.entries;
    counts.unreachable += truth.unreachable.length;
    assert.deepEqual(protectedFiles(tree, walked.references), expectedFiles(tree, truth));
    if (!(slug in MOUNTED_AT)) assert.equal(resolveLocation(tree.location, tree.rules).prefix, 'tree/table/');
  });

  for (const file of existsSync(join(tables, slug)) ? readdirSync(join(tables, slug)) : []) {
    const name = /^truth\.alt-(.*)\.json$/.exec(file)?.[1];
    if (name === undefined) continue;
    test(`the references of ${slug} are those of its truth when ${name} is named`, () => {
      counts.alternatives++;
      const tree = mount(slug);
      const truth = readJson(join(tables, slug, file)) as Truth;
      const walked = walkTable(recordedPath('local', `tree/table/metadata/${name}`, tree.rules), readRecorded(tree));
      assert.deepEqual(protectedFiles(tree, walked.references), expectedFiles(tree, truth));
    });
  }
}

test('all collected tables were looked at', (context) => {
  if (slugs.length === 0) context.diagnostic(`no real tables at ${tables}: only their twins were tested`);
  else {
    context.diagnostic(JSON.stringify(counts));
    assert.equal(counts.tables, 147);
    assert.equal(counts.complete + counts.refused, 147);
  }
});
