/**
 * Tables without a catalog: the pointer is what the metadata folder shows. The rules are those of ClickHouse's iceberg table
 * function and of HadoopCatalog together (DESIGN section 3): an explicit file; else files of a given table-uuid; else the
 * highest version in any spelling, or the largest last-updated-ms on request.
 */
import { MetadataUnreadableError, TableNotFoundError } from '#shared/errors.ts';
import { chooseMetadata, headsNeeded, type MetadataHead } from '#shared/iceberg/choose-metadata.ts';
import { parseTableMetadata } from '#shared/iceberg/metadata-json.ts';
import { isMetadataJsonName, type MetadataName, parseMetadataName } from '#shared/iceberg/metadata-names.ts';
import { locateReference, recordedPath, resolveLocation } from '#shared/identity/references.ts';
import type { IdentityRules } from '#shared/identity/types.ts';
import { identityRules } from '#shared/run/input-identity.ts';
import type { ResolvedInput } from '#shared/run/resolved-input.ts';
import type { ListedObject, ObjectStore } from '#shared/storage/object-store.ts';
import type { Catalog, CatalogPorts, CurrentPointer, FolderView } from './catalog.ts';
import { headObject, inOrder, listPage, listWhole, readObject } from './table-objects.ts';

const READS_AT_ONCE = 8;
const LONGEST_HINT_BYTES = 1024;
const NO_CLAIMS = { gc_enabled: [] } as const;

interface Candidate {
  readonly key: string;
  readonly name: MetadataName;
}

export function createPathCatalog(input: ResolvedInput, ports: CatalogPorts): Catalog {
  return input.metadata_location === undefined
    ? new FolderCatalog(input, ports.tables)
    : new ExplicitFileCatalog(input, input.metadata_location, ports.tables);
}

const fileName = (key: string): string => key.slice(key.lastIndexOf('/') + 1);

function candidateOf(key: string): Candidate | undefined {
  const name = parseMetadataName(fileName(key));
  return name === null ? undefined : { key, name };
}

/** Objects of the folder itself, not of folders below it. */
function directChildren(objects: readonly ListedObject[], prefix: string): readonly ListedObject[] {
  return objects.filter(({ key }) => !key.slice(prefix.length).includes('/'));
}

/** Names that a writer of version `version` would use, as prefixes: `v<N>.` covers every gzip spelling. */
function namePrefixes(version: bigint): readonly string[] {
  const digits = version.toString();
  const padded = digits.padStart(5, '0');
  return padded === digits ? [`v${digits}.`, `${digits}-`] : [`v${digits}.`, `${padded}-`, `${digits}-`];
}

/** Metadata files named for `from` or a later version, asked for upward until no name answers. */
async function askUpward(store: ObjectStore, view: FolderView, known: ReadonlySet<string>): Promise<Candidate[]> {
  const found: Candidate[] = [];
  let version = BigInt(view.version);
  for (;;) {
    const answers = await inOrder([...namePrefixes(version), ...namePrefixes(version + 1n)], READS_AT_ONCE, (name) =>
      listPage(store, { bucket: view.bucket, prefix: view.prefix + name, maxKeys: 100 }),
    );
    const fresh = answers
      .flatMap(({ objects }) => directChildren(objects, view.prefix))
      .map(({ key }) => candidateOf(key))
      .filter((candidate) => candidate !== undefined)
      .filter(({ key }) => !known.has(key) && !found.some((earlier) => earlier.key === key));
    if (fresh.length === 0) return found;
    found.push(...fresh);
    const highest = highestVersion(fresh.map(({ key }) => fileName(key)));
    version = highest > version ? highest : version + 1n;
  }
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
    const { objects } = await listWhole(this.#store, { bucket, prefix, delimiter: '/' });
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
      claims: NO_CLAIMS,
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

function highestVersion(names: readonly string[]): bigint {
  return names.reduce((most, name) => {
    const version = parseMetadataName(name)?.version ?? 0n;
    return version > most ? version : most;
  }, 0n);
}

/** The operator names the file. What its folder shows beside it is as good as a later pointer, and protects too. */
class ExplicitFileCatalog implements Catalog {
  readonly #location: string;
  readonly #store: ObjectStore;
  readonly #rules: IdentityRules;

  constructor(input: ResolvedInput, location: string, store: ObjectStore) {
    this.#location = location;
    this.#store = store;
    this.#rules = identityRules(input, input.table);
  }

  async currentMetadata(): Promise<CurrentPointer> {
    const { bucket, key } = locateReference(this.#location, this.#rules);
    const head = await headObject(this.#store, bucket, key);
    if (head === undefined) {
      throw new TableNotFoundError(`There is no metadata file ${this.#location} (s3://${bucket}/${key}).`);
    }
    const prefix = key.slice(0, key.lastIndexOf('/') + 1);
    const { objects } = await listWhole(this.#store, { bucket, prefix, delimiter: '/' });
    const own = candidateOf(key);
    const later =
      own === undefined
        ? objects.filter(
            (object) => isMetadataJsonName(fileName(object.key)) && !(object.lastModifiedMs < head.lastModifiedMs),
          )
        : objects.filter((object) => isLaterThan(own, candidateOf(object.key)));
    const keys = later.map((object) => object.key).filter((each) => each !== key);
    return this.#pointer(bucket, prefix, key, keys);
  }

  async reread(previous: CurrentPointer): Promise<CurrentPointer> {
    const view = previous.folder;
    if (view === undefined || view.version === '') return this.currentMetadata();
    if ((await headObject(this.#store, view.bucket, view.last)) === undefined) return this.currentMetadata();
    const { key } = locateReference(this.#location, this.#rules);
    const own = candidateOf(key);
    const fresh = (await askUpward(this.#store, view, new Set(view.newest))).filter(
      (candidate) => own === undefined || isLaterThan(own, candidate),
    );
    if (fresh.length === 0) return previous;
    const keys = [...view.newest, ...fresh.map((candidate) => candidate.key)].filter((each) => each !== key);
    return this.#pointer(view.bucket, view.prefix, key, keys);
  }

  #pointer(bucket: string, prefix: string, key: string, others: readonly string[]): CurrentPointer {
    const all = [key, ...others].map(candidateOf).filter((candidate) => candidate !== undefined);
    const last = all.reduce<Candidate | undefined>(
      (most, each) => (most === undefined || each.name.version > most.name.version ? each : most),
      undefined,
    );
    return {
      metadata_location: this.#location,
      further: [...others].sort().map((other) => recordedPath(bucket, other, this.#rules)),
      claims: NO_CLAIMS,
      folder: {
        bucket,
        prefix,
        version: candidateOf(key) === undefined || last === undefined ? '' : last.name.version.toString(),
        newest: [key, ...others].sort(),
        last: last?.key ?? key,
      },
    };
  }
}

/** Of the explicit file's own name form, and of its version or a higher one. */
function isLaterThan(own: Candidate, other: Candidate | undefined): other is Candidate {
  return other !== undefined && other.name.form === own.name.form && other.name.version >= own.name.version;
}
