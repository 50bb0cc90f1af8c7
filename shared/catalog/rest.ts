/**
 * Iceberg REST catalogs. Only the metadata-location is taken from the answer and the file is read by us, since JSON numbers
 * round 64-bit ids; everything else in the answer counts as a warning that can only refuse (DESIGN section 3).
 */
import { IcebergError, IcebergRestCatalog, type LoadTableResult, type NamespaceIdentifier } from 'iceberg-js';
import {
  AccessDeniedError,
  IcesweepError,
  MetadataUnreadableError,
  ServiceUnavailableError,
  TableNotFoundError,
  UnsupportedTableError,
} from '#shared/errors.ts';
import type { CatalogConfig } from '#shared/run/resolved-input.ts';
import { type Catalog, type CatalogPorts, type CurrentPointer, type OtherTable, ROOT_PROPERTIES } from './catalog.ts';
import { refuseGcDisabled } from './refuse-gc-disabled.ts';
import { baseOf } from './rest-address.ts';
import { authorisedFetch, TokenSource } from './rest-auth.ts';
import { inOrder } from './table-objects.ts';

type RestConfig = Extract<CatalogConfig, { type: 'rest' }>;
type Settings = Readonly<Record<string, string | null | undefined>>;

const READS_AT_ONCE = 8;

export function createRestCatalog(table: string, config: RestConfig, ports: Pick<CatalogPorts, 'secrets'>): Catalog {
  return new RestCatalog(table, config, ports);
}

/** The named error that a refusal of the catalog stands for. */
export function nameRestError(error: unknown, what: string): unknown {
  if (error instanceof IcesweepError) return error;
  if (!(error instanceof IcebergError)) {
    return new ServiceUnavailableError(`The catalog did not answer for ${what}: ${(error as Error).message}`, {
      cause: error,
    });
  }
  // The client wraps what our own fetch threw, and network failures, as status 0.
  if (error.status === 0) {
    if (error.details instanceof IcesweepError) return error.details;
    return new ServiceUnavailableError(`The catalog did not answer for ${what}: ${error.message}`, { cause: error });
  }
  const said = `${error.status}${error.icebergType === undefined ? '' : ` ${error.icebergType}`}: ${error.message}`;
  if (error.status === 401 || error.status === 403 || error.status === 419) {
    return new AccessDeniedError(`The catalog denied ${what} (${said}).`, {
      cause: error,
      next: 'Check the token and what it may read.',
    });
  }
  if (error.status === 404) {
    return new TableNotFoundError(`The catalog knows no table ${what} (${said}).`, {
      cause: error,
      next: 'Check the name and the warehouse. Its storage was not touched.',
    });
  }
  if (error.status === 429 || error.status >= 500) {
    return new ServiceUnavailableError(`The catalog did not answer for ${what} (${said}).`, { cause: error });
  }
  return new MetadataUnreadableError(`The catalog refused ${what} (${said}).`, { cause: error });
}

/** S3 Tables removes unreferenced files itself; its REST endpoint is told by its host or its warehouse. */
function refuseS3Tables(config: RestConfig, table: string, uri = config.uri): void {
  const host = new URL(uri).hostname;
  const warehouse = config.warehouse ?? '';
  const isS3Tables =
    /^s3tables[.-]/.test(host) || warehouse.startsWith('arn:') || warehouse.includes('s3tablescatalog');
  if (!isS3Tables) return;
  throw new UnsupportedTableError(`${table} lies in S3 Tables, which maintains its files itself.`, {
    next: 'Configure unreferenced file removal there.',
  });
}

/** Several branches may point to different metadata files of one table: what another branch needs would look orphaned. */
export function refuseBranching(settings: readonly Settings[], table: string): void {
  const nessie = settings.flatMap((each) => Object.keys(each)).find((name) => name.startsWith('nessie.'));
  if (nessie === undefined) return;
  throw new UnsupportedTableError(`The catalog of ${table} can hold several current versions of a table (${nessie}).`, {
    next: "Use that catalog's own garbage collection, which sees all of its branches.",
  });
}

function refuseDeleteDisabled(settings: readonly Settings[], table: string): void {
  const disabled = settings.some((each) => each['s3.delete-enabled']?.trim().toLowerCase() === 'false');
  if (!disabled) return;
  throw new UnsupportedTableError(
    `The catalog says s3.delete-enabled=false for ${table}: its files must not be deleted.`,
    {
      next: 'The table may be soft-deleted or under a hold; ask whoever runs the catalog.',
    },
  );
}

class RestCatalog implements Catalog {
  readonly #table: string;
  readonly #config: RestConfig;
  readonly #client: IcebergRestCatalog;

  constructor(table: string, config: RestConfig, ports: Pick<CatalogPorts, 'secrets'>) {
    this.#table = table;
    this.#config = config;
    this.#client = new IcebergRestCatalog({
      baseUrl: baseOf(config.uri),
      fetch: authorisedFetch(config, new TokenSource(config, ports.secrets)),
    });
  }

  async currentMetadata(): Promise<CurrentPointer> {
    refuseS3Tables(this.#config, this.#table);
    const { result, settings } = await this.#load();
    refuseBranching(settings, this.#table);
    refuseDeleteDisabled(settings, this.#table);
    const gc = settings.flatMap((each) => (each['gc.enabled'] == null ? [] : [String(each['gc.enabled'])]));
    refuseGcDisabled(gc, this.#table);
    const location = result['metadata-location'];
    if (typeof location !== 'string' || location === '') {
      throw new MetadataUnreadableError(
        `The catalog gives no metadata-location for ${this.#table}: it is not committed yet.`,
      );
    }
    const { metadata } = result;
    const sequence = metadata['last-sequence-number'];
    const updated = metadata['last-updated-ms'];
    return {
      metadata_location: location,
      further: [],
      claims: {
        ...(typeof metadata['table-uuid'] === 'string' ? { table_uuid: metadata['table-uuid'] } : {}),
        ...(typeof sequence === 'number' ? { last_sequence_number: sequence } : {}),
        ...(typeof updated === 'number' ? { last_updated_ms: updated } : {}),
        gc_enabled: gc,
      },
    };
  }

  async reread(previous: CurrentPointer): Promise<CurrentPointer> {
    const now = await this.currentMetadata();
    const same =
      now.metadata_location === previous.metadata_location &&
      JSON.stringify(now.claims) === JSON.stringify(previous.claims);
    return same ? previous : now;
  }

  async #load(): Promise<{ result: LoadTableResult; settings: readonly Settings[] }> {
    const parts = this.#table.split('.');
    const id = { namespace: parts.slice(0, -1), name: parts.at(-1) as string };
    try {
      const config = await this.#client.loadConfig();
      refuseS3Tables(this.#config, this.#table, config.overrides?.['uri'] || this.#config.uri);
      const result = await this.#client.loadTableResult(id, { snapshots: 'all' });
      if (result === null || typeof result.metadata !== 'object' || result.metadata === null) {
        throw new MetadataUnreadableError(`The catalog's answer for ${this.#table} has no metadata.`);
      }
      const settings = [config.defaults, config.overrides, result.config, result.metadata.properties];
      return { result, settings: settings.map((each) => each ?? {}) };
    } catch (error) {
      throw nameRestError(error, this.#table);
    }
  }

  async otherTables(): Promise<readonly OtherTable[] | undefined> {
    try {
      const names = await this.#allTables();
      const others = names.filter(({ namespace, name }) => [...namespace, name].join('.') !== this.#table);
      const described = await inOrder(others, READS_AT_ONCE, (id) => this.#describe(id));
      return described.filter((table) => table !== undefined);
    } catch (error) {
      const named = nameRestError(error, `the tables beside ${this.#table}`);
      // A catalog that lists nothing, or not to us: the run goes on without this gate and says so.
      if (named instanceof AccessDeniedError || named instanceof TableNotFoundError) return undefined;
      if (named instanceof MetadataUnreadableError) return undefined;
      throw named;
    }
  }

  async #allTables(): Promise<{ namespace: string[]; name: string }[]> {
    await this.#client.loadConfig();
    const tables: { namespace: string[]; name: string }[] = [];
    const open: (NamespaceIdentifier | undefined)[] = [undefined];
    while (open.length > 0) {
      const parent = open.pop();
      for await (const child of this.#namespacesIn(parent)) {
        open.push(child);
        for await (const id of this.#tablesIn(child)) tables.push(id);
      }
    }
    return tables;
  }

  async *#namespacesIn(parent: NamespaceIdentifier | undefined): AsyncGenerator<NamespaceIdentifier> {
    let pageToken: string | undefined;
    do {
      const page = await this.#client.listNamespaces({
        ...(parent === undefined ? {} : { parent }),
        ...(pageToken === undefined ? {} : { pageToken }),
      });
      // Servers that know no nesting answer every parent with the top level.
      const depth = parent === undefined ? 1 : parent.namespace.length + 1;
      yield* page.namespaces.filter(({ namespace }) => namespace.length === depth);
      pageToken = page.nextPageToken;
    } while (pageToken !== undefined);
  }

  async *#tablesIn(namespace: NamespaceIdentifier): AsyncGenerator<{ namespace: string[]; name: string }> {
    let pageToken: string | undefined;
    do {
      const page = await this.#client.listTables(namespace, pageToken === undefined ? {} : { pageToken });
      yield* page.identifiers;
      pageToken = page.nextPageToken;
    } while (pageToken !== undefined);
  }

  /** Undefined for a table that was dropped while the catalog was listed. */
  async #describe(id: { namespace: string[]; name: string }): Promise<OtherTable | undefined> {
    const table = [...id.namespace, id.name].join('.');
    try {
      const loaded = await this.#client.loadTableResult(id, { snapshots: 'refs' });
      const properties: Settings = loaded?.metadata.properties ?? {};
      const roots = [loaded?.metadata.location, ...ROOT_PROPERTIES.map((name) => properties[name])];
      return { table, roots: roots.filter((root): root is string => typeof root === 'string'), complete: true };
    } catch (error) {
      const named = nameRestError(error, table);
      if (named instanceof TableNotFoundError) return undefined;
      if (named instanceof AccessDeniedError) return { table, roots: [], complete: false };
      throw named;
    }
  }
}
