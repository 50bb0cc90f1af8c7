import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import test from 'node:test';

const top = resolve(import.meta.dirname, '../..');

function sources(folder: string): string[] {
  return readdirSync(join(top, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => relative(top, join(entry.parentPath, entry.name)));
}

/** What a file imports: package names as they are, files of the project relative to its top. */
function imports(file: string): string[] {
  const text = readFileSync(join(top, file), 'utf8');
  return [...text.matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)].map(([, target]) => {
    const name = target as string;
    if (name.startsWith('.')) return relative(top, resolve(top, dirname(file), name));
    return name.startsWith('#') ? name.slice(1) : name;
  });
}

interface Law {
  readonly folder: string;
  readonly forbidden: RegExp;
  readonly except?: (file: string) => boolean;
}

const laws: readonly Law[] = [
  { folder: 'functions', forbidden: /^(infra|test)\/|^aws-cdk-lib|^constructs$/ },
  { folder: 'shared', forbidden: /^(functions|infra|test)\/|^aws-cdk-lib|^constructs$/ },
  { folder: 'shared/iceberg', forbidden: /^@aws-sdk|^@middy|^shared\/storage\/s3/ },
  { folder: 'shared/identity', forbidden: /^@aws-sdk|^@middy|^shared\/storage\/s3/ },
  { folder: 'shared/filter', forbidden: /^@aws-sdk|^@middy|^shared\/storage\/s3/ },
  // The demo writes its warehouse with the tests' table writer.
  { folder: 'infra', forbidden: /^functions\// },
  { folder: 'infra/local', forbidden: /^test\//, except: (file) => file === 'infra/local/demo.ts' },
  { folder: 'infra/constructs', forbidden: /^test\/|^shared\/(iceberg|identity|filter|storage|catalog)\// },
];

for (const law of laws) {
  test(`${law.folder} imports nothing that matches ${law.forbidden}`, () => {
    const files = sources(law.folder);
    assert.ok(files.length > 0, `${law.folder} has no source files`);
    const broken = files
      .filter((file) => !(law.except?.(file) ?? false))
      .flatMap((file) =>
        imports(file)
          .filter((name) => law.forbidden.test(name))
          .map((name) => `${file} → ${name}`),
      );
    assert.deepEqual(broken, []);
  });
}

test('only shared/runtime and the local runtime read the environment', () => {
  const readers = ['functions', 'shared']
    .flatMap(sources)
    .filter((file) => readFileSync(join(top, file), 'utf8').includes('process.env'))
    .filter((file) => !file.startsWith('shared/runtime/'));
  assert.deepEqual(readers, []);
});

test('a handler only wires: at most 60 lines', () => {
  const long = sources('functions')
    .filter((file) => file.endsWith('handler.ts'))
    .filter((file) => readFileSync(join(top, file), 'utf8').split('\n').length > 60);
  assert.deepEqual(long, []);
});
