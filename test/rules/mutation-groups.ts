/** What is mutated, and the tests that must notice: each group alone, so that a mutant costs less than a second. */

export interface MutationGroup {
  readonly name: string;
  readonly mutate: readonly string[];
  readonly tests: readonly string[];
}

const unit = (...names: readonly string[]): string[] => names.map((name) => `test/unit/${name}.test.ts`);

export const mutationGroups: readonly MutationGroup[] = [
  {
    name: 'judging',
    mutate: ['shared/run/judge-*.ts'],
    tests: unit('judge-books', 'judge-coverage', 'judge-identity', 'judge-thresholds', 'judge-edges'),
  },
  {
    name: 'references',
    mutate: ['shared/identity/references.ts', 'shared/identity/compiled-rules.ts'],
    tests: unit('identity-references', 'identity-edges'),
  },
  {
    name: 'folding',
    mutate: ['shared/identity/fold-key.ts'],
    tests: unit('identity-fold-key', 'identity-fold-edges'),
  },
  {
    name: 'age',
    mutate: ['functions/list/file-class.ts'],
    tests: unit('list-classes', 'list-class-edges'),
  },
];

/** A mutant that no test can or need notice. */
export interface Survivor {
  readonly file: string;
  /** The mutated source, or the beginning of it. */
  readonly original: string;
  readonly replacement?: string;
  readonly reason: string;
}
