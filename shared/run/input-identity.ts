/** The identity rules of a run from its settings and the location that its metadata records (DESIGN section 4). */
import type { IdentityRules } from '#shared/identity/types.ts';
import type { ResolvedInput } from './resolved-input.ts';

export function identityRules(input: ResolvedInput, tableLocation: string): IdentityRules {
  return {
    equalSchemes: input.equal_schemes,
    equalAuthorities: input.equal_authorities,
    pathAliases: Object.entries(input.path_aliases).map(([from, to]) => ({ from, to })),
    tableLocation,
    ignoreCase: input.ignore_case,
  };
}
