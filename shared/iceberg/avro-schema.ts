/**
 * A writer's Avro schema as a plain tree. Names and defaults are not judged: they may be illegal, repeated or free (AV-11), since
 * fields are found by id, or by name where a record has no ids (AV-08). Wrapped types (`{"type": {"type": "int"}}`) are unwrapped.
 */
import { AvroError } from './avro-cursor.ts';

export type AvroType =
  | { readonly kind: 'null' | 'boolean' | 'int' | 'long' | 'float' | 'double' | 'bytes' | 'string' }
  | { readonly kind: 'fixed'; readonly size: number }
  | { readonly kind: 'enum'; readonly symbols: number }
  | { readonly kind: 'array'; readonly items: AvroType }
  | { readonly kind: 'map'; readonly values: AvroType }
  | { readonly kind: 'union'; readonly branches: readonly AvroType[] }
  | AvroRecord;

export interface AvroRecord {
  readonly kind: 'record';
  /** Filled while parsing, since a record may contain itself. */
  readonly fields: AvroField[];
}

export interface AvroField {
  readonly name: string;
  readonly id: number | undefined;
  readonly type: AvroType;
}

const PRIMITIVES = new Set(['null', 'boolean', 'int', 'long', 'float', 'double', 'bytes', 'string']);
/** A nesting that no writer reaches; deeper ones are hostile. */
const MAX_DEPTH = 200;

type Json = Readonly<Record<string, unknown>>;

/** Parses a schema. Of repeated names the latest definition counts for later references. */
export function parseAvroSchema(schema: unknown): AvroType {
  return parseType(schema, new Map(), '', 0);
}

function parseType(schema: unknown, names: Map<string, AvroType>, namespace: string, depth: number): AvroType {
  if (depth > MAX_DEPTH) throw new AvroError('its schema is nested too deep');
  const inner = (part: unknown, space = namespace) => parseType(part, names, space, depth + 1);
  if (typeof schema === 'string') return named(schema, names, namespace);
  if (Array.isArray(schema)) return { kind: 'union', branches: schema.map((branch) => inner(branch)) };
  if (typeof schema !== 'object' || schema === null) throw new AvroError('its schema holds something that is no type');
  const json = schema as Json;
  switch (json['type']) {
    case 'record':
    case 'error':
      return parseRecord(json, names, namespace, inner);
    case 'fixed':
      return define(json, names, namespace, { kind: 'fixed', size: wholeNumber(json['size']) });
    case 'enum':
      return define(json, names, namespace, { kind: 'enum', symbols: listOf(json['symbols']).length });
    case 'array':
      return { kind: 'array', items: inner(json['items']) };
    case 'map':
      return { kind: 'map', values: inner(json['values']) };
    default:
      return inner(json['type']);
  }
}

function parseRecord(
  json: Json,
  names: Map<string, AvroType>,
  namespace: string,
  inner: (part: unknown, space: string) => AvroType,
): AvroType {
  const record: AvroRecord = { kind: 'record', fields: [] };
  define(json, names, namespace, record);
  const space = namespaceOf(json, namespace);
  for (const item of listOf(json['fields'])) {
    if (typeof item !== 'object' || item === null) throw new AvroError('its schema has a field that is no object');
    const field = item as Json;
    record.fields.push({
      name: String(field['name']),
      id: fieldId(field['field-id']),
      type: inner(field['type'], space),
    });
  }
  return record;
}

function named(name: string, names: Map<string, AvroType>, namespace: string): AvroType {
  if (PRIMITIVES.has(name)) return { kind: name } as AvroType;
  const type = names.get(`${namespace}.${name}`) ?? names.get(name);
  if (type === undefined) throw new AvroError(`its schema names an unknown type ${name}`);
  return type;
}

/** Known by full name and by plain name: writers differ in how they repeat a type. */
function define(json: Json, names: Map<string, AvroType>, namespace: string, type: AvroType): AvroType {
  const name = String(json['name']);
  const plain = name.slice(name.lastIndexOf('.') + 1);
  names.set(`${namespaceOf(json, namespace)}.${plain}`, type);
  names.set(plain, type);
  return type;
}

function namespaceOf(json: Json, enclosing: string): string {
  const name = String(json['name']);
  if (name.includes('.')) return name.slice(0, name.lastIndexOf('.'));
  return typeof json['namespace'] === 'string' ? json['namespace'] : enclosing;
}

/** Iceberg writes a number; some writers quote it. */
function fieldId(value: unknown): number | undefined {
  const id = typeof value === 'string' && value !== '' ? Number(value) : value;
  return typeof id === 'number' && Number.isInteger(id) ? id : undefined;
}

function wholeNumber(value: unknown): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0) return value;
  throw new AvroError('its schema has a fixed type without a size');
}

function listOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw new AvroError('its schema lacks a list of fields or symbols');
}

/** A field by its Iceberg id, or by name among the fields that have no id. */
export function findField(record: AvroRecord, id: number, ...names: readonly string[]): number {
  const byId = record.fields.findIndex((field) => field.id === id);
  if (byId >= 0) return byId;
  return record.fields.findIndex((field) => field.id === undefined && names.includes(field.name));
}

/** The record in a type that is one, or a union with one. */
export function asRecord(type: AvroType): AvroRecord | undefined {
  if (type.kind === 'record') return type;
  if (type.kind !== 'union') return undefined;
  return type.branches.find((branch) => branch.kind === 'record') as AvroRecord | undefined;
}

const emptyTypes = new WeakMap<AvroType, boolean>();

/** True when every value of the type takes no bytes: an array may then claim any count without end. */
export function isEmptyType(type: AvroType): boolean {
  const known = emptyTypes.get(type);
  if (known !== undefined) return known;
  // A record that contains itself is not empty; the entry also ends the recursion.
  emptyTypes.set(type, false);
  const empty =
    type.kind === 'null' ||
    (type.kind === 'fixed' && type.size === 0) ||
    (type.kind === 'record' && type.fields.every((field) => isEmptyType(field.type)));
  emptyTypes.set(type, empty);
  return empty;
}
