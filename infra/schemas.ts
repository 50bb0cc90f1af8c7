/** The JSON Schemas that the build publishes beside the compiled code: `dist/schemas/*.schema.json`. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inputJsonSchema } from '#shared/run/json-schema.ts';
import { PROJECT_DIR } from './bundles.ts';
import { tablesFileJsonSchema } from './tables-file.ts';

export const SCHEMAS: Readonly<Record<string, () => Record<string, unknown>>> = {
  'input.schema.json': inputJsonSchema,
  'tables-file.schema.json': tablesFileJsonSchema,
};

/** Writes each schema into the folder, which is made where it is not there. */
export function writeSchemas(folder: string): void {
  mkdirSync(folder, { recursive: true });
  for (const [name, schema] of Object.entries(SCHEMAS))
    writeFileSync(join(folder, name), `${JSON.stringify(schema(), null, 2)}\n`);
}

if (import.meta.main) writeSchemas(join(PROJECT_DIR, 'dist', 'schemas'));
