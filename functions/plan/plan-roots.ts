/** What the run lists: only prefixes that are this table's own, each in every spelling (DESIGN section 6, Roots). */
import { ROOT_PROPERTIES } from '#shared/catalog/catalog.ts';
import { InvalidInputError, PrefixMismatchError } from '#shared/errors.ts';
import { resolveLocation } from '#shared/identity/references.ts';
import type { Root } from '#shared/identity/types.ts';
import { type Folder, MOST_UNMANAGED_PREFIXES, type Plan } from '#shared/run/plan.ts';
import type { ResolvedInput } from '#shared/run/resolved-input.ts';
import type { SpellingFinder } from './location-spellings.ts';
import { distinctFolders, propertyFolder } from './metadata-folders.ts';
import { conflictWith, type Neighbours } from './neighbours.ts';
import type { PinnedTable } from './pin-table.ts';

export interface PlannedRoots {
  readonly roots: readonly Root[];
  readonly dataFolders: readonly Folder[];
  readonly warnings: readonly string[];
}

export interface RootsQuestion {
  readonly table: PinnedTable;
  readonly input: ResolvedInput;
  readonly locations: readonly Folder[];
  readonly spellings: SpellingFinder;
  readonly neighbours: Neighbours;
}

interface PropertyRoot {
  readonly property: string;
  readonly value: string;
  readonly folder: Folder | undefined;
}

/** The folders that the table's properties name. */
export function propertyRoots(table: PinnedTable): PropertyRoot[] {
  return ROOT_PROPERTIES.flatMap((property) => {
    const value = table.meta.properties[property];
    return value === undefined || value === '' ? [] : [{ property, value, folder: propertyFolder(table, value) }];
  });
}

function isInside(folder: Folder, locations: readonly Folder[], spellings: SpellingFinder): boolean {
  return locations.some(
    ({ bucket, prefix }) =>
      bucket === folder.bucket && spellings.fold(folder.prefix).startsWith(spellings.fold(prefix)),
  );
}

/** A property's folder outside the location, where it is proven that no other table has files there. */
function isOwnedOutside(folder: Folder, question: RootsQuestion): boolean {
  const { table, input, neighbours, spellings } = question;
  if (spellings.fold(folder.prefix) === '') return false;
  const owned = input.owned_roots.some((recorded) => {
    const own = propertyFolder(table, recorded);
    return (
      own !== undefined && own.bucket === folder.bucket && spellings.fold(own.prefix) === spellings.fold(folder.prefix)
    );
  });
  if (owned) return true;
  const { tables } = neighbours;
  if (tables === undefined || !tables.every(({ complete }) => complete)) return false;
  return !tables.some((other) => conflictWith(other, [folder], table, spellings) !== undefined);
}

/** Whether properties name folders outside the location, so that other tables must be known in full. */
export function hasOutsideRoots(table: PinnedTable, locations: readonly Folder[], spellings: SpellingFinder): boolean {
  return propertyRoots(table).some(({ folder }) => folder !== undefined && !isInside(folder, locations, spellings));
}

/** The folders before `location` narrows them, and a warning for each configured one that is not listed (RE-13). */
async function ownFolders(question: RootsQuestion): Promise<{ folders: Folder[]; warnings: string[] }> {
  const { table, input, locations, spellings } = question;
  const warnings: string[] = [];
  const whole = input.scope === 'TABLE';
  const folders = whole
    ? [...locations]
    : locations.flatMap(({ bucket, prefix }) => [
        { bucket, prefix: `${prefix}data/` },
        { bucket, prefix: `${prefix}metadata/` },
      ]);
  for (const { property, value, folder } of propertyRoots(table)) {
    if (folder !== undefined && (isInside(folder, locations, spellings) || isOwnedOutside(folder, question))) {
      folders.push(folder);
    } else {
      warnings.push(
        `${property} ${value} is not listed: it lies outside the location, and it is not proven that no other table uses it ` +
          '(owned_roots of the deployment can name it).',
      );
    }
  }
  const spelled: Folder[] = [];
  for (const folder of distinctFolders(folders)) spelled.push(...(await spellings.ofFolder(folder, locations)));
  return { folders: withoutNested(distinctFolders(spelled)), warnings };
}

/** A folder below another one is listed with it, once. */
function withoutNested(folders: readonly Folder[]): Folder[] {
  return folders.filter(
    (folder) =>
      !folders.some(
        (other) => other !== folder && other.bucket === folder.bucket && folder.prefix.startsWith(other.prefix),
      ),
  );
}

/** Restricts the folders to `location`, absolute or relative to the table, which must lie inside them (CS-07, CH-12). */
function narrow(question: RootsQuestion, folders: readonly Folder[]): readonly Folder[] {
  const { table, input, spellings } = question;
  if (input.location === undefined) return folders;
  const wanted = wantedFolder(table, input.location);
  const target = spellings.fold(wanted.prefix);
  if (wanted.bucket === table.location.bucket && target === spellings.fold(table.location.prefix)) return folders;
  const inside = folders.flatMap(({ bucket, prefix }) => {
    const root = spellings.fold(prefix);
    if (bucket !== wanted.bucket || !target.startsWith(root)) return [];
    return [
      { bucket, prefix: prefix + target.slice(root.length) },
      ...(wanted.prefix.startsWith(prefix) ? [wanted] : []),
    ];
  });
  if (inside.length > 0) return withoutNested(distinctFolders(inside));
  throw new InvalidInputError(
    `location ${input.location} lies outside this table's roots (${folders.map(({ bucket, prefix }) => `s3://${bucket}/${prefix}`).join(', ')}).`,
    { next: 'Name a folder inside them; scope TABLE adds the rest of the location.' },
  );
}

function wantedFolder(table: PinnedTable, location: string): Folder {
  const relative = !/^[A-Za-z][A-Za-z0-9+.-]*:|^\//.test(location);
  try {
    if (!relative) return resolveLocation(location, table.identity);
  } catch (error) {
    if (!(error instanceof PrefixMismatchError)) throw error;
    throw new InvalidInputError(`location ${location} lies outside this table's roots.`, { cause: error });
  }
  const below = location.replace(/^(?:\.\/)+/, '').replace(/\/+$/, '');
  return {
    bucket: table.location.bucket,
    prefix: below === '' || below === '.' ? table.location.prefix : `${table.location.prefix}${below}/`,
  };
}

export async function planRoots(question: RootsQuestion): Promise<PlannedRoots> {
  const { table, locations } = question;
  const { folders, warnings } = await ownFolders(question);
  const roots = narrow(question, folders).map(({ bucket, prefix }): Root => {
    const { scheme, authority } = resolveLocation(`s3://${bucket}/${prefix}`, table.identity);
    return { bucket, prefix, scheme, authority };
  });
  const configured = propertyRoots(table).filter(({ property }) => property !== 'write.metadata.path');
  const dataFolders = distinctFolders([
    ...locations.map(({ bucket, prefix }) => ({ bucket, prefix: `${prefix}data/` })),
    ...configured.map(({ folder }) => folder).filter((folder) => folder !== undefined),
    ...folders.filter(({ prefix }) => /(?:^|\/)data\/$/.test(prefix)),
  ]);
  return { roots, dataFolders, warnings };
}

/** The rest of the location: its files counted, its folders named, by one delimiter listing. Never touched. */
export async function planUnmanaged(question: RootsQuestion, roots: readonly Root[]): Promise<Plan['unmanaged']> {
  const { locations, spellings } = question;
  const rest = locations.filter(
    ({ bucket, prefix }) => !roots.some((root) => root.bucket === bucket && prefix.startsWith(root.prefix)),
  );
  const prefixes: string[] = [];
  let files = 0;
  let bytes = 0;
  for (const location of rest) {
    const listing = await spellings.list(location);
    const own = new Set([...roots.map(({ prefix }) => prefix), ...locations.map(({ prefix }) => prefix)]);
    const isOwn = (prefix: string): boolean => own.has(prefix) || roots.some((root) => root.prefix.startsWith(prefix));
    prefixes.push(...listing.commonPrefixes.filter((prefix) => !isOwn(prefix)));
    files += listing.objects.length;
    bytes += listing.objects.reduce((total, { sizeBytes }) => total + sizeBytes, 0);
  }
  return { prefixes: prefixes.slice(0, MOST_UNMANAGED_PREFIXES), files, bytes };
}
