/** The maps of equal schemes and authorities, of which an execution may add entries (DESIGN sections 4 and 10). */
import { InvalidInputError } from '#shared/errors.ts';
import { addToMap } from './input-levels.ts';
import type { DeploymentSetting, RunInput } from './input-schema.ts';

function follow(map: Readonly<Record<string, string>>, start: string, name: string): string {
  const seen = new Set([start]);
  let at = start;
  while (map[at] !== undefined && map[at] !== at) {
    at = map[at]!;
    if (seen.has(at)) throw new InvalidInputError(`${name} leads from ${JSON.stringify(start)} back to itself.`);
    seen.add(at);
  }
  return at;
}

/** `{"s3a,s3n": "s3"}` as one entry per name, each mapped to the end of its chain. */
function expandEqual(name: string, map: Readonly<Record<string, string>>, lower: boolean): Record<string, string> {
  const fold = (text: string): string => (lower ? text.trim().toLowerCase() : text.trim());
  const single: Record<string, string> = {};
  for (const [names, target] of Object.entries(map)) {
    for (const each of names.split(',').map(fold)) {
      if (lower && each === '') throw new InvalidInputError(`${name} has an empty scheme in ${JSON.stringify(names)}.`);
      single[each] = fold(target);
    }
  }
  return Object.fromEntries(Object.keys(single).map((key) => [key, follow(single, key, name)]));
}

const OWN_SCHEMES = { s3a: 's3', s3n: 's3' };

/** Scheme → the scheme it equals; s3a and s3n are always s3. */
export function equalSchemes(input: RunInput, base: DeploymentSetting, local: boolean): Record<string, string> {
  const fromBase = addToMap(
    'equal_schemes',
    OWN_SCHEMES,
    expandEqual('equal_schemes', base.equal_schemes ?? {}, true),
    false,
  );
  const own = expandEqual('equal_schemes', input.equal_schemes ?? {}, true);
  addToMap('equal_schemes', OWN_SCHEMES, own, false);
  return expandEqual('equal_schemes', addToMap('equal_schemes', fromBase, own, local), true);
}

/** Authority → the authority it equals. */
export function equalAuthorities(input: RunInput, base: DeploymentSetting, local: boolean): Record<string, string> {
  const expand = (map: Record<string, string> = {}) => expandEqual('equal_authorities', map, false);
  const joined = addToMap('equal_authorities', expand(base.equal_authorities), expand(input.equal_authorities), local);
  return expand(joined);
}
