/** AWS Glue Data Catalog: `GetTable` holds the pointer in `Parameters.metadata_location`. */
import {
  type Database,
  GetTableCommand,
  GlueClient,
  paginateGetDatabases,
  paginateGetTables,
  type Table,
} from '@aws-sdk/client-glue';
import {
  AccessDeniedError,
  MetadataUnreadableError,
  ServiceUnavailableError,
  TableNotFoundError,
  UnsupportedTableError,
} from '#shared/errors.ts';
import { parseTableMetadata } from '#shared/iceberg/metadata-json.ts';
import { locateReference } from '#shared/identity/references.ts';
import type { CatalogConfig } from '#shared/run/resolved-input.ts';
import { type Catalog, type CatalogPorts, type CurrentPointer, type OtherTable, ROOT_PROPERTIES } from './catalog.ts';
import { refuseGcDisabled } from './refuse-gc-disabled.ts';
import { inOrder, readObject } from './table-objects.ts';

type GlueConfig = Extract<CatalogConfig, { type: 'glue' }>;

const READS_AT_ONCE = 16;
const NO_RULES = { equalSchemes: {}, equalAuthorities: {}, pathAliases: [], tableLocation: '', ignoreCase: false };

export function createGlueCatalog(
  table: string,
  config: GlueConfig,
  ports: Pick<CatalogPorts, 'tables'>,
  client: GlueClient = new GlueClient(config.region === undefined ? {} : { region: config.region }),
): Catalog {
  return new GlueCatalog(table, config, ports, client);
}

/** The named error that a refusal of Glue stands for. */
function nameGlueError(error: unknown, action: string, what: string): unknown {
  if (!(error instanceof Error)) return error;
  const status = (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode ?? 0;
  if (error.name === 'EntityNotFoundException') {
    return new TableNotFoundError(`Glue knows no table ${what}.`, {
      cause: error,
      next: 'Check the name and the catalog id. Its storage was not touched.',
    });
  }
  if (
    /^AccessDenied|^UnrecognizedClient|^ExpiredToken|^InvalidSignature/.test(error.name) ||
    status === 403 ||
    status === 401
  ) {
    return new AccessDeniedError(`${action} on ${what} was denied: ${error.message}`, {
      cause: error,
      next: `Grant ${action}, in Lake Formation too where it governs the table.`,
    });
  }
  if (
    /Throttl|TooMany|Timeout|ServiceUnavailable|InternalService/.test(error.name) ||
    status >= 500 ||
    status === 429 ||
    status === 0
  ) {
    return new ServiceUnavailableError(`Glue did not answer ${action} on ${what}: ${error.message}`, { cause: error });
  }
  return new MetadataUnreadableError(`${action} on ${what} failed: ${error.message}`, { cause: error });
}

/** Parameters are compared without case: engines differ. */
function parameterOf(table: Table, name: string): string | undefined {
  return Object.entries(table.Parameters ?? {}).find(([key]) => key.toLowerCase() === name)?.[1];
}

function isIceberg(table: Table): boolean {
  return parameterOf(table, 'table_type')?.toUpperCase() === 'ICEBERG';
}

function requireIceberg(table: Table, what: string): string {
  const catalogId = table.CatalogId ?? '';
  if (table.FederatedTable !== undefined || catalogId.includes('s3tablescatalog')) {
    throw new UnsupportedTableError(
      `${what} lies in S3 Tables or a federated catalog, which maintains its files itself.`,
      {
        next: 'Configure unreferenced file removal there.',
      },
    );
  }
  if (table.TableType === 'VIRTUAL_VIEW' || /VIEW/.test(parameterOf(table, 'table_type')?.toUpperCase() ?? '')) {
    throw new UnsupportedTableError(`${what} is a view, which owns no files.`);
  }
  if (!isIceberg(table)) throw new UnsupportedTableError(`${what} is no Iceberg table.`);
  const location = parameterOf(table, 'metadata_location');
  if (location === undefined || location === '') {
    throw new MetadataUnreadableError(`Glue gives no metadata_location for ${what}.`);
  }
  return location;
}

class GlueCatalog implements Catalog {
  readonly #table: string;
  readonly #config: GlueConfig;
  readonly #ports: Pick<CatalogPorts, 'tables'>;
  readonly #client: GlueClient;
  /** The name that a resource link led to: the same table, not another one. */
  #own: string;

  constructor(table: string, config: GlueConfig, ports: Pick<CatalogPorts, 'tables'>, client: GlueClient) {
    this.#table = table;
    this.#own = table;
    this.#config = config;
    this.#ports = ports;
    this.#client = client;
  }

  async currentMetadata(): Promise<CurrentPointer> {
    const [database, name] = this.#table.split('.') as [string, string];
    const table = await this.#follow(this.#config.catalog_id, database, name);
    if (table.DatabaseName !== undefined && table.Name !== undefined) this.#own = `${table.DatabaseName}.${table.Name}`;
    const gc = parameterOf(table, 'gc.enabled');
    refuseGcDisabled(gc === undefined ? [] : [gc], this.#table);
    return {
      metadata_location: requireIceberg(table, this.#table),
      further: [],
      claims: { gc_enabled: gc === undefined ? [] : [gc] },
    };
  }

  async reread(previous: CurrentPointer): Promise<CurrentPointer> {
    const now = await this.currentMetadata();
    return now.metadata_location === previous.metadata_location ? previous : now;
  }

  /** A resource link names a table elsewhere; a link to a link is not followed further than Glue allows one. */
  async #follow(catalogId: string | undefined, database: string, name: string, hops = 0): Promise<Table> {
    const what = `${database}.${name}`;
    const table = await this.#get(catalogId, database, name);
    const target = table.TargetTable;
    if (target?.Name === undefined || target.DatabaseName === undefined) return table;
    if (hops > 0) throw new UnsupportedTableError(`${what} is a link to a link.`, { next: 'Name the table itself.' });
    return this.#follow(target.CatalogId, target.DatabaseName, target.Name, hops + 1);
  }

  async #get(catalogId: string | undefined, database: string, name: string): Promise<Table> {
    const what = `${database}.${name}`;
    try {
      const input = {
        DatabaseName: database,
        Name: name,
        ...(catalogId === undefined ? {} : { CatalogId: catalogId }),
      };
      const { Table: table } = await this.#client.send(new GetTableCommand(input));
      if (table === undefined) throw new MetadataUnreadableError(`Glue answered nothing for ${what}.`);
      return table;
    } catch (error) {
      throw nameGlueError(error, 'glue:GetTable', what);
    }
  }

  async otherTables(options: { readonly deep: boolean }): Promise<readonly OtherTable[] | undefined> {
    try {
      const tables = await this.#allTables();
      const own = [this.#table, this.#own];
      const others = tables.filter(({ DatabaseName, Name }) => !own.includes(`${DatabaseName}.${Name}`));
      return await inOrder(others, READS_AT_ONCE, (table) => this.#describe(table, options.deep));
    } catch (error) {
      if (error instanceof AccessDeniedError) return undefined;
      throw error;
    }
  }

  async #allTables(): Promise<Table[]> {
    const catalog = this.#config.catalog_id === undefined ? {} : { CatalogId: this.#config.catalog_id };
    const tables: Table[] = [];
    try {
      const databases: Database[] = [];
      // The SDK writes each page's token into the request it is given, so that none is used twice.
      for await (const page of paginateGetDatabases({ client: this.#client }, { ...catalog })) {
        databases.push(...(page.DatabaseList ?? []));
      }
      for (const { Name } of databases) {
        const request = { DatabaseName: Name ?? '', ...catalog };
        for await (const page of paginateGetTables({ client: this.#client }, request)) {
          // Links and views own no files; the table behind a link is listed where it lives.
          tables.push(...(page.TableList ?? []).filter((table) => table.TargetTable === undefined));
        }
      }
      return tables;
    } catch (error) {
      throw nameGlueError(error, 'glue:GetTables', this.#table);
    }
  }

  async #describe(table: Table, deep: boolean): Promise<OtherTable> {
    const name = `${table.DatabaseName}.${table.Name}`;
    const shallow = [
      table.StorageDescriptor?.Location,
      ...(table.StorageDescriptor?.AdditionalLocations ?? []),
      ...ROOT_PROPERTIES.map((property) => parameterOf(table, property)),
    ].filter((location): location is string => location !== undefined && location !== '');
    if (!isIceberg(table)) return { table: name, roots: shallow, complete: true };
    const read = deep ? await this.#readRoots(table) : undefined;
    return { table: name, roots: [...new Set([...shallow, ...(read ?? [])])], complete: read !== undefined };
  }

  /** Roots from the metadata file itself; undefined where it cannot be read. */
  async #readRoots(table: Table): Promise<readonly string[] | undefined> {
    const location = parameterOf(table, 'metadata_location');
    if (location === undefined) return undefined;
    try {
      const { bucket, key } = locateReference(location, NO_RULES);
      const object = await readObject(this.#ports.tables, bucket, key);
      if (object === undefined) return undefined;
      const meta = parseTableMetadata(object.body, location);
      const properties = ROOT_PROPERTIES.map((property) => meta.properties[property]);
      return [meta.location, ...properties.filter((value): value is string => value !== undefined)];
    } catch {
      // A table of which nothing is known proves nothing; the caller then leaves outside roots alone.
      return undefined;
    }
  }
}
