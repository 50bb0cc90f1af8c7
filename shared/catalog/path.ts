/**
 * Tables without a catalog: the pointer is what the metadata folder shows. The rules are those of ClickHouse's iceberg table
 * function and of HadoopCatalog together (DESIGN section 3): an explicit file; else files of a given table-uuid; else the
 * highest version in any spelling, or the largest last-updated-ms on request.
 */
import { MetadataUnreadableError, TableNotFoundError } from '#shared/errors.ts';
import { chooseMetadata, headsNeeded, type MetadataHead } from '#shared/iceberg/choose-metadata.ts';
import { parseTableMetadata } from '#shared/iceberg/metadata-json.ts';
import { parseMetadataName } from '#shared/iceberg/metadata-names.ts';
import { recordedPath, resolveLocation } from '#shared/identity/references.ts';
import type { IdentityRules } from '#shared/identity/types.ts';
import { identityRules } from '#shared/run/input-identity.ts';
import type { ResolvedInput } from '#shared/run/resolved-input.ts';
import { isStoreFault, type ListedObject, type ObjectStore } from '#shared/storage/object-store.ts';
import type { Catalog, CatalogPorts, CurrentPointer } from './catalog.ts';
import { ExplicitFileCatalog } from './explicit-file.ts';
import { askUpward, fileName, highestVersion, READS_AT_ONCE } from './metadata-folder.ts';
import { headObject, inOrder, type Listing, listWhole, readObject } from './table-objects.ts';

const LONGEST_HINT_BYTES = 1024;

export function createPathCatalog(input: ResolvedInput, ports: CatalogPorts): Catalog {
  return input.metadata_location === undefined
    ? new FolderCatalog(input, ports.tables)
    : new ExplicitFileCatalog(input, input.metadata_location, ports.tables);
}

/** The table's pointer is the newest file of `<location>/metadata/`. */
class FolderCatalog implements Catalog {
  readonly #input: ResolvedInput;
  readonly #store: ObjectStore;
  readonly #rules: IdentityRules;

  constructor(input: ResolvedInput, store: ObjectStore) {
    this.#input = input;
    this.#store = store;
    this.#rules = identityRules(input, input.table);
  }

  async currentMetadata(): Promise<CurrentPointer> {
    const { bucket, prefix: location } = resolveLocation(this.#input.table, this.#rules);
    const prefix = `${location}metadata/`;
    const { objects } = await this.#list(bucket, prefix);
    if (objects.length === 0) {
      throw new TableNotFoundError(`There is no file in s3://${bucket}/${prefix}.`, {
        next: 'Check the location, or name the metadata file as metadata_location.',
      });
    }
    const hint = await this.#hint(bucket, prefix, objects);
    return this.#choose(
      bucket,
      prefix,
      objects.map(({ key }) => fileName(key)),
      hint,
    );
  }

  async reread(previous: CurrentPointer): Promise<CurrentPointer> {
    const view = previous.folder;
    if (view === undefined || (await headObject(this.#store, view.bucket, view.last)) === undefined) {
      return this.currentMetadata();
    }
    const fresh = await askUpward(this.#store, view, new Set(view.newest));
    if (fresh.length === 0) return previous;
    const names = [...view.newest, ...fresh.map(({ key }) => key)].map(fileName);
    return this.#choose(view.bucket, view.prefix, names, undefined);
  }

  /** Here the bucket is the one that the operator named: without it there is no table. */
  async #list(bucket: string, prefix: string): Promise<Listing> {
    try {
      return await listWhole(this.#store, { bucket, prefix, delimiter: '/' });
    } catch (error) {
      if (!isStoreFault((error as Error).cause, 'NoSuchBucket')) throw error;
      throw new TableNotFoundError(`The bucket ${bucket} does not exist.`, {
        cause: error,
        next: 'Check the location, or map it to where the table lies with path_aliases or --mount.',
      });
    }
  }

  /** Text of the hint, which may be stale, empty or odd. */
  async #hint(bucket: string, prefix: string, objects: readonly ListedObject[]): Promise<string | undefined> {
    const hint = objects.find(({ key }) => key === `${prefix}version-hint.text`);
    if (hint === undefined || hint.sizeBytes > LONGEST_HINT_BYTES) return undefined;
    return (await readObject(this.#store, bucket, hint.key))?.body.toString('utf8');
  }

  async #choose(
    bucket: string,
    prefix: string,
    names: readonly string[],
    hint: string | undefined,
  ): Promise<CurrentPointer> {
    const tableUuid = this.#input.table_uuid;
    const options = {
      by: this.#input.metadata_choice,
      ...(tableUuid === undefined ? {} : { tableUuid }),
      ...(hint === undefined ? {} : { hint }),
    };
    const needed = headsNeeded(names, options);
    const heads = new Map(
      await inOrder(needed, READS_AT_ONCE, async (name) => [name, await this.#head(bucket, prefix + name)] as const),
    );
    const chosen = chooseMetadata(names, heads, options);
    const ofTable = (name: string): boolean =>
      tableUuid === undefined || heads.get(name)?.tableUuid?.toLowerCase() === tableUuid;
    const newest = names
      .filter((name) => ofTable(name) && (parseMetadataName(name)?.version ?? -1n) >= chosen.version)
      .sort();
    const located = (name: string): string => recordedPath(bucket, prefix + name, this.#rules);
    return {
      metadata_location: located(chosen.name),
      further: newest.filter((name) => name !== chosen.name).map(located),
      claims: { gc_enabled: [] },
      folder: {
        bucket,
        prefix,
        version: highestVersion(newest).toString(),
        newest: newest.map((name) => prefix + name),
        last: prefix + chosen.name,
      },
    };
  }

  async #head(bucket: string, key: string): Promise<MetadataHead> {
    const object = await readObject(this.#store, bucket, key);
    if (object === undefined) {
      throw new MetadataUnreadableError(`s3://${bucket}/${key} vanished while it was looked at.`, {
        next: 'Start a new run.',
      });
    }
    const meta = parseTableMetadata(object.body, `s3://${bucket}/${key}`);
    return {
      lastUpdatedMs: meta.lastUpdatedMs,
      ...(meta.tableUuid === undefined ? {} : { tableUuid: meta.tableUuid }),
    };
  }
}
