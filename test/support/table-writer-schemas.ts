/** Avro schemas of manifests and manifest lists as the Iceberg spec gives them, by format version, and odd variants of them. */

export type FormatVersion = 1 | 2 | 3;

/** How a writer departs from the reference implementation; each was found in real tables. */
export interface SchemaStyle {
  /** Field ids are left out: readers go by name (AV-08). */
  readonly withoutFieldIds?: boolean;
  /** `{"type": {"type": "int"}}`, other record names, an illegal one among them (AV-11). */
  readonly wrapped?: boolean;
  /** `added_data_files_count` and its like. */
  readonly oldCountNames?: boolean;
  /** Manifest lists of four fields, without counts. */
  readonly withoutCounts?: boolean;
  /** Everything nullable, `file_path` and `status` too. */
  readonly nullable?: boolean;
}

interface Field {
  readonly name: string;
  readonly type: unknown;
  readonly 'field-id'?: number;
  readonly default?: unknown;
}

const field = (name: string, id: number, type: unknown): Field => ({ name, type, 'field-id': id });
const optional = (name: string, id: number, type: unknown): Field => ({
  ...field(name, id, ['null', type]),
  default: null,
});

/** Iceberg's maps with integer keys are arrays of pairs. */
function intMap(name: string, id: number, keyId: number, valueId: number, value: string): Field {
  const pair = {
    type: 'record',
    name: `k${keyId}_v${valueId}`,
    fields: [field('key', keyId, 'int'), field('value', valueId, value)],
  };
  return optional(name, id, { type: 'array', items: pair, logicalType: 'map' });
}

/** Schema of a manifest's entries. `partition` holds the names of the spec's fields; none gives an empty record (AV-12). */
export function manifestSchema(version: FormatVersion, partition: readonly string[], style: SchemaStyle = {}): object {
  const partitionType = {
    type: 'record',
    name: 'r102',
    fields: partition.map((name, index) => optional(avroName(name), 1000 + index, 'string')),
  };
  const file: Field[] = [
    ...(version === 1 ? [] : [field('content', 134, 'int')]),
    field('file_path', 100, 'string'),
    field('file_format', 101, 'string'),
    field('partition', 102, partitionType),
    field('record_count', 103, 'long'),
    field('file_size_in_bytes', 104, 'long'),
    ...(version === 1 ? [field('block_size_in_bytes', 105, 'long')] : []),
    intMap('column_sizes', 108, 117, 118, 'long'),
    intMap('value_counts', 109, 119, 120, 'long'),
    intMap('lower_bounds', 125, 126, 127, 'bytes'),
    intMap('upper_bounds', 128, 129, 130, 'bytes'),
    optional('key_metadata', 131, 'bytes'),
    optional('split_offsets', 132, { type: 'array', items: 'long', 'element-id': 133 }),
    ...(version === 1 ? [] : [optional('equality_ids', 135, { type: 'array', items: 'int', 'element-id': 136 })]),
    optional('sort_order_id', 140, 'int'),
    ...(version < 3 ? [] : [optional('first_row_id', 142, 'long')]),
    ...(version === 1 ? [] : [optional('referenced_data_file', 143, 'string')]),
    ...(version < 3 ? [] : [optional('content_offset', 144, 'long'), optional('content_size_in_bytes', 145, 'long')]),
  ];
  const entry: Field[] = [
    field('status', 0, 'int'),
    version === 1 ? field('snapshot_id', 1, 'long') : optional('snapshot_id', 1, 'long'),
    ...(version === 1 ? [] : [optional('sequence_number', 3, 'long'), optional('file_sequence_number', 4, 'long')]),
    field('data_file', 2, { type: 'record', name: 'r2', fields: file }),
  ];
  return styled({ type: 'record', name: 'manifest_entry', fields: entry }, style);
}

/** Schema of a manifest list's rows. */
export function manifestListSchema(version: FormatVersion, style: SchemaStyle = {}): object {
  const middle = style.oldCountNames ? '_data_files_count' : '_files_count';
  const counts = ['added', 'existing', 'deleted'].map((name, index) => {
    const make = version === 1 ? optional : field;
    return make(`${name}${middle}`, 504 + index, 'int');
  });
  const rows = ['added', 'existing', 'deleted'].map((name, index) =>
    (version === 1 ? optional : field)(`${name}_rows_count`, 512 + index, 'long'),
  );
  const fields: Field[] = [
    field('manifest_path', 500, 'string'),
    field('manifest_length', 501, 'long'),
    field('partition_spec_id', 502, 'int'),
    ...(version === 1
      ? []
      : [
          field('content', 517, 'int'),
          field('sequence_number', 515, 'long'),
          field('min_sequence_number', 516, 'long'),
        ]),
    version === 1 ? optional('added_snapshot_id', 503, 'long') : field('added_snapshot_id', 503, 'long'),
    ...(style.withoutCounts ? [] : counts),
    ...(style.withoutCounts ? [] : rows),
    optional('key_metadata', 519, 'bytes'),
    ...(version < 3 ? [] : [optional('first_row_id', 520, 'long')]),
  ];
  return styled({ type: 'record', name: 'manifest_file', fields }, style);
}

/** Avro names may not hold other characters; Iceberg escapes them like this. */
function avroName(name: string): string {
  return name
    .replace(/[^A-Za-z0-9_]/g, (character) => `_x${character.charCodeAt(0).toString(16).toUpperCase()}`)
    .replace(/^\d/, '_$&');
}

function styled(schema: object, style: SchemaStyle): object {
  let text = JSON.stringify(schema);
  if (style.withoutFieldIds) text = text.replace(/,"(?:field|element)-id":\d+/g, '');
  if (style.wrapped) {
    text = text.replace(/"type":"(int|string)"/g, '"type":{"type":"$1"}').replace('"name":"r2"', '"name":"foo"');
  }
  const parsed = JSON.parse(text) as { fields: { name: string; type: unknown }[] };
  return style.nullable ? nullable(parsed) : parsed;
}

function nullable(schema: { fields: { name: string; type: unknown }[] }): object {
  const fields = schema.fields.map((item) => {
    const type = item.type as { type?: string };
    const inner = type.type === 'record' ? nullable(item.type as typeof schema) : item.type;
    return { ...item, type: Array.isArray(inner) ? inner : ['null', inner] };
  });
  return { ...schema, fields };
}
