/** Which table an input means, and through which catalog it is found (DESIGN section 10). */
import { InvalidInputError } from '#shared/errors.ts';
import type { DeploymentSettings } from './deployment.ts';
import type { DeploymentSetting, RunInput } from './input-schema.ts';
import type { CatalogConfig } from './resolved-input.ts';

function looksLikeLocation(table: string): boolean {
  return table.includes('/');
}

/** The input's own catalog; a location or a named file is a path table; else the deployment's. */
export function chooseCatalog(input: RunInput, base: DeploymentSetting, deployment: DeploymentSettings): CatalogConfig {
  if (input.catalog !== undefined) return input.catalog as CatalogConfig;
  if (looksLikeLocation(input.table) || input.metadata_location !== undefined) return { type: 'path' };
  return (base.catalog ?? deployment.catalog ?? { type: 'glue' }) as CatalogConfig;
}

/** Throws InvalidInputError for a name that the catalog cannot know. */
export function checkTableName(table: string, catalog: CatalogConfig, direct: boolean): void {
  const parts = table.split('.');
  const named = !looksLikeLocation(table) && parts.length > 1 && parts.every((part) => part.trim() !== '');
  if (catalog.type === 'path' && !direct && !looksLikeLocation(table)) {
    throw new InvalidInputError(`${JSON.stringify(table)} is no table location, which the path catalog needs.`, {
      next: 'Write it like "s3://bucket/warehouse/db/orders", or name a catalog.',
    });
  }
  if (catalog.type === 'glue' && !(named && parts.length === 2)) {
    throw new InvalidInputError(`${JSON.stringify(table)} is no name of a Glue table; write database.table.`);
  }
  if (catalog.type === 'rest' && !named) {
    throw new InvalidInputError(`${JSON.stringify(table)} is no table name; write namespace.table.`);
  }
}

/** A metadata file given as the table is the pin of a path table. */
export function explicitFile(input: RunInput): string | undefined {
  if (input.metadata_location !== undefined) return input.metadata_location;
  return /\.metadata\.json(?:\.gz)?$/.test(input.table) ? input.table : undefined;
}
