/** The port through which a run learns which metadata file is current (DESIGN section 3, Pin). Nothing is cached in it. */
import type { ResolvedInput } from '#shared/run/resolved-input.ts';
import type { StagePorts } from '#shared/runtime/stage-ports.ts';
import { createGlueCatalog } from './glue.ts';
import { createPathCatalog } from './path.ts';
import { createRestCatalog } from './rest.ts';

/** What the catalog says of the table beside the pointer. A warning too: compared with the file, it can only refuse. */
export interface CatalogClaims {
  readonly table_uuid?: string;
  /** May be rounded to a double by the catalog's JSON. */
  readonly last_sequence_number?: number;
  readonly last_updated_ms?: number;
  /** Every `gc.enabled` that properties, config or overrides give. */
  readonly gc_enabled: readonly string[];
}

/** Tables without a catalog: what the metadata folder showed, so that later rechecks can ask by name. */
export interface FolderView {
  readonly bucket: string;
  readonly prefix: string;
  /** Highest version seen, decimal; '' where the pinned file's name has none. */
  readonly version: string;
  /** Keys of the files of that version, and of any higher that count. */
  readonly newest: readonly string[];
  /** The last file seen: it must still exist at the next look. */
  readonly last: string;
}

/** Plain JSON: kept in artefacts between the looks of a run. */
export interface CurrentPointer {
  /** Recorded spelling. */
  readonly metadata_location: string;
  /** Where no catalog holds the pointer: other files that may be as current, roots of reachability too. */
  readonly further: readonly string[];
  readonly claims: CatalogClaims;
  readonly folder?: FolderView;
}

/** Another table of the catalog, by the locations that it owns. */
export interface OtherTable {
  readonly table: string;
  /** Recorded spellings of location, write.data.path, write.metadata.path and the deprecated ones. */
  readonly roots: readonly string[];
  /** False where only the location is known: its properties could not be read. */
  readonly complete: boolean;
}

export interface Catalog {
  /** Throws TableNotFoundError, UnsupportedTableError, AccessDeniedError, ServiceUnavailableError. */
  currentMetadata(): Promise<CurrentPointer>;
  /** The cheap look before every delete request. Answers `previous` itself where nothing moved. */
  reread(previous: CurrentPointer): Promise<CurrentPointer>;
  /**
   * All other tables, where the catalog can list them; undefined where it may not. `deep` asks for properties too, at the
   * price of one read per table.
   */
  otherTables?(options: { readonly deep: boolean }): Promise<readonly OtherTable[] | undefined>;
}

export type CatalogPorts = Pick<StagePorts, 'tables' | 'secrets'>;

/** Every metadata file that a pointer names, the current one first. */
export function pointerLocations(pointer: CurrentPointer): readonly string[] {
  return [pointer.metadata_location, ...pointer.further];
}

/** Both name the same files. */
export function samePointer(a: CurrentPointer, b: CurrentPointer): boolean {
  const [left, right] = [pointerLocations(a), pointerLocations(b)];
  return left.length === right.length && left.every((location, index) => location === right[index]);
}

/** Names of the properties whose values are locations that a table owns. */
export const ROOT_PROPERTIES = [
  'write.data.path',
  'write.metadata.path',
  'write.folder-storage.path',
  'write.object-storage.path',
] as const;

/** The catalog of a run. A metadata file named in the input goes before any catalog. */
export function createCatalog(input: ResolvedInput, ports: CatalogPorts): Catalog {
  if (input.metadata_location !== undefined || input.catalog.type === 'path') return createPathCatalog(input, ports);
  if (input.catalog.type === 'glue') return createGlueCatalog(input.table, input.catalog, ports);
  return createRestCatalog(input.table, input.catalog, ports);
}
