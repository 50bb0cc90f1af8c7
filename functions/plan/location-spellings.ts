/**
 * Which byte spellings of a folder exist: what a writer recorded as `t/data` may lie under `t//data/` or `t/d%61ta/`, and
 * every spelling is listed (DESIGN section 6).
 */
import { type Listing, listWhole } from '#shared/catalog/table-objects.ts';
import { foldKey } from '#shared/identity/fold-key.ts';
import type { Folder } from '#shared/run/plan.ts';
import type { ObjectStore } from '#shared/storage/object-store.ts';
import { distinctFolders } from './metadata-folders.ts';

/** More spellings of one folder than this are no accident of writers. */
const MOST_SPELLINGS = 32;

export class SpellingFinder {
  readonly #store: ObjectStore;
  readonly #ignoreCase: boolean;
  readonly #listings = new Map<string, Promise<Listing>>();

  constructor(store: ObjectStore, ignoreCase: boolean) {
    this.#store = store;
    this.#ignoreCase = ignoreCase;
  }

  /** One level below a folder; asked once per plan. */
  list(folder: Folder): Promise<Listing> {
    const name = `${folder.bucket}/${folder.prefix}`;
    const known = this.#listings.get(name);
    if (known !== undefined) return known;
    const listing = listWhole(this.#store, { ...folder, delimiter: '/' });
    this.#listings.set(name, listing);
    return listing;
  }

  fold(prefix: string): string {
    return foldKey(prefix, this.#ignoreCase);
  }

  /** The location as recorded, without repeated final slashes, and what a listing shows to be the same folder. */
  async ofLocation(location: Folder): Promise<Folder[]> {
    const plain = { bucket: location.bucket, prefix: location.prefix.replace(/(?<=[^/])\/+$/, '/') };
    return this.#grow(distinctFolders([plain, location]), plain.prefix);
  }

  /** Spellings of `folder` (itself first) that lie below one of the location's spellings. */
  async ofFolder(folder: Folder, locations: readonly Folder[]): Promise<Folder[]> {
    const target = this.fold(folder.prefix);
    const found = [folder];
    const open = locations.filter(
      ({ bucket, prefix }) => bucket === folder.bucket && target.startsWith(this.fold(prefix)),
    );
    const seen = new Set<string>();
    while (open.length > 0 && found.length < MOST_SPELLINGS && seen.size < MOST_SPELLINGS * 4) {
      const at = open.pop() as Folder;
      if (seen.has(at.prefix)) continue;
      seen.add(at.prefix);
      for (const prefix of (await this.list(at)).commonPrefixes) {
        const folded = this.fold(prefix);
        if (folded === target) found.push({ bucket: at.bucket, prefix });
        else if (target.startsWith(folded)) open.push({ bucket: at.bucket, prefix });
      }
    }
    return distinctFolders(found);
  }

  /** Adds folders that fold to the same: `t//` below `t/`. */
  async #grow(folders: Folder[], prefix: string): Promise<Folder[]> {
    const target = this.fold(prefix);
    const open = [...folders];
    const all = [...folders];
    while (open.length > 0 && all.length < MOST_SPELLINGS) {
      const at = open.shift() as Folder;
      for (const below of (await this.list(at)).commonPrefixes) {
        const folder = { bucket: at.bucket, prefix: below };
        if (this.fold(below) !== target || all.some((known) => known.prefix === below)) continue;
        all.push(folder);
        open.push(folder);
      }
    }
    return all;
  }
}
