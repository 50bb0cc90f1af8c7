/** Strict reading of JSON objects: a field of another type than the spec's is an error, never "absent". */
import { MetadataUnreadableError } from '#shared/errors.ts';

export interface Fields {
  /** The file, for messages. */
  readonly source: string;
  get(name: string): unknown;
  entries(): [string, unknown][];
  fail(name: string, problem: string): never;
}

/** The fields of a JSON object; anything else is MetadataUnreadableError. */
export function fieldsOf(value: unknown, what: string, source: string): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new MetadataUnreadableError(`${source}: ${what} is not an object.`);
  }
  const record = value as Record<string, unknown>;
  return {
    source,
    get: (name) => (Object.hasOwn(record, name) ? record[name] : undefined),
    entries: () => Object.entries(record),
    fail(name, problem) {
      throw new MetadataUnreadableError(`${source}: in ${what}, ${name} ${problem}.`);
    },
  };
}

/** An array; absent and null are empty. */
export function arrayOf(fields: Fields, name: string): readonly unknown[] {
  const value = fields.get(name);
  if (value === undefined || value === null) return [];
  return Array.isArray(value) ? value : fields.fail(name, 'is not a list');
}

/** A text that names something: not empty unless allowed, and well-formed, since a lone surrogate is in no stored key. */
export function requiredText(fields: Fields, name: string, allowed: { readonly empty?: true } = {}): string {
  const value = fields.get(name);
  if (typeof value !== 'string' || (value === '' && !allowed.empty))
    return fields.fail(name, 'is absent or not a text');
  return value.isWellFormed() ? value : fields.fail(name, 'holds half a character');
}

export function optionalText(fields: Fields, name: string): string | undefined {
  const value = fields.get(name);
  return value === undefined || value === null ? undefined : requiredText(fields, name);
}

/** A string map. Numbers and booleans that careless writers left unquoted are taken as their text. */
export function stringMap(fields: Fields, name: string): Readonly<Record<string, string>> {
  const value = fields.get(name);
  if (value === undefined || value === null) return {};
  const entries = fieldsOf(value, name, fields.source).entries();
  return Object.fromEntries(
    entries
      .filter(([, item]) => item !== null)
      .map(([key, item]) => [key, typeof item === 'string' ? item : JSON.stringify(item)]),
  );
}
