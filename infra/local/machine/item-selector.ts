/** The ItemSelector of a distributed map: plain reference paths, no intrinsic functions and no filters. */
import type { JsonObject } from './types.ts';

const PLAIN_PATH = /^\$(\.[A-Za-z_]\w*)*$/;
const ITEM_PATH = /^\$\$\.Map\.Item\.(Index|Value(\.[A-Za-z_]\w*)*)$/;

export function isItemPath(path: unknown): path is string {
  return typeof path === 'string' && (PLAIN_PATH.test(path) || ITEM_PATH.test(path));
}

function follow(value: unknown, names: readonly string[], path: string): unknown {
  let found = value;
  for (const name of names) {
    if (typeof found !== 'object' || found === null || !(name in found)) {
      const error = new Error(`The JSONPath '${path}' could not be found in the input`);
      error.name = 'States.ParameterPathFailure';
      throw error;
    }
    found = (found as JsonObject)[name];
  }
  return found;
}

/** The input of one child. Without a template the item itself. */
export function selectItem(
  template: unknown,
  input: unknown,
  item: { readonly index: number; readonly value: unknown },
): unknown {
  if (template === undefined) return item.value;
  if (Array.isArray(template)) return template.map((element) => selectItem(element, input, item));
  if (typeof template !== 'object' || template === null) return template;
  return Object.fromEntries(
    Object.entries(template).map(([key, value]) => {
      if (!key.endsWith('.$')) return [key, selectItem(value, input, item)];
      const path = String(value);
      const [root, ...names] = path.split('.');
      const selected =
        root === '$$'
          ? follow({ Map: { Item: { Index: item.index, Value: item.value } } }, names, path)
          : follow(input, names, path);
      return [key.slice(0, -2), selected];
    }),
  );
}
