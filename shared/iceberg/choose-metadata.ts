/**
 * Which metadata file of a `path` table is current, where no catalog holds the pointer (DESIGN section 3): files of the given
 * `table-uuid`, else all; of these the highest version, or on request the largest `last-updated-ms`. The rules of ClickHouse's
 * table function and of HadoopCatalog together. Pure: the caller lists, and reads what {@link headsNeeded} asks for.
 */
import { MetadataUnreadableError, TableNotFoundError } from '#shared/errors.ts';
import {
  compareCandidates,
  isMetadataJsonName,
  metadataStem,
  parseMetadataName,
  type RankedMetadata,
} from './metadata-names.ts';

/** What must be known from inside a metadata file to rank it. */
export interface MetadataHead {
  readonly tableUuid?: string;
  readonly lastUpdatedMs: number;
}

export interface ChoiceOptions {
  readonly tableUuid?: string;
  /** `version` unless asked otherwise. */
  readonly by?: 'version' | 'last_updated';
  /** Text of `version-hint.text`, if there is one. It only says what must exist: it may be stale (CA-01). */
  readonly hint?: string;
}

export interface ChosenMetadata {
  readonly name: string;
  readonly version: bigint;
  /** Other files of that version: two writers may both have committed it, so each is a root of reachability too. */
  readonly sameVersion: readonly string[];
}

/** The names that must be read before {@link chooseMetadata} can decide. */
export function headsNeeded(fileNames: readonly string[], options: ChoiceOptions = {}): string[] {
  const candidates = candidatesOf(fileNames, options.hint);
  if (options.tableUuid !== undefined || options.by === 'last_updated') return candidates.map(({ name }) => name);
  const newest = candidates.filter(({ version }) => version === highest(candidates));
  return newest.length > 1 ? newest.map(({ name }) => name) : [];
}

/** Chooses among the names of a metadata folder. `heads` holds what {@link headsNeeded} asked for. */
export function chooseMetadata(
  fileNames: readonly string[],
  heads: ReadonlyMap<string, MetadataHead>,
  options: ChoiceOptions = {},
): ChosenMetadata {
  const all = candidatesOf(fileNames, options.hint);
  refuseMissingHintedVersion(all, options.hint);
  const ours = all.filter(({ name }) => isOfTable(heads.get(name), options.tableUuid));
  const ranked = ours.map((candidate) => ({
    ...candidate,
    lastUpdatedMs: heads.get(candidate.name)?.lastUpdatedMs ?? 0,
  }));
  const chosen = ranked.sort(options.by === 'last_updated' ? compareByTime : compareCandidates).at(-1);
  if (chosen === undefined) throw notFound(fileNames, options);
  const sameVersion = ours.filter(({ name, version }) => version === chosen.version && name !== chosen.name);
  return { name: chosen.name, version: chosen.version, sameVersion: sameVersion.map(({ name }) => name) };
}

/** A hint: a version number, or (ClickHouse, DuckDB) a file name with or without its ending; null for empty or blank text. */
export function parseVersionHint(text: string): { readonly version?: bigint; readonly name?: string } | null {
  const hint = text.trim();
  if (hint === '') return null;
  return /^\d+$/.test(hint) ? { version: BigInt(hint) } : { name: hint };
}

/**
 * `v<N>` and `<NNNNN>-<uuid>`; any other name only when it is named explicitly, be it by the hint: then it ranks by its number, or
 * below all others where it has none.
 */
function candidatesOf(
  fileNames: readonly string[],
  hint: string | undefined,
): { readonly name: string; readonly version: bigint }[] {
  const hinted = hint === undefined ? undefined : parseVersionHint(hint)?.name;
  return fileNames.flatMap((name) => {
    const parsed = parseMetadataName(name);
    if (parsed !== null && (parsed.form === 'hadoop' || parsed.uuid !== undefined))
      return [{ name, version: parsed.version }];
    const isHinted = hinted !== undefined && (name === hinted || metadataStem(name) === hinted);
    return isHinted && isMetadataJsonName(name) ? [{ name, version: parsed?.version ?? -1n }] : [];
  });
}

function highest(candidates: readonly { readonly version: bigint }[]): bigint | undefined {
  return candidates.reduce<bigint | undefined>(
    (top, { version }) => (top === undefined || version > top ? version : top),
    undefined,
  );
}

function isOfTable(head: MetadataHead | undefined, tableUuid: string | undefined): boolean {
  return tableUuid === undefined || head?.tableUuid?.toLowerCase() === tableUuid.toLowerCase();
}

/**
 * A hint behind the files is ordinary. A hint ahead of them says that the current file is gone or was not listed; an older one
 * would make the files of the newer commits look like orphans.
 */
function refuseMissingHintedVersion(
  candidates: readonly { readonly version: bigint }[],
  hint: string | undefined,
): void {
  const hinted = hint === undefined ? undefined : parseVersionHint(hint)?.version;
  const top = highest(candidates);
  if (hinted === undefined || top === undefined || hinted <= top) return;
  throw new MetadataUnreadableError(
    `The version hint names version ${hinted}, but the newest metadata file is of version ${top}.`,
    {
      next: 'Restore the missing file, or name the current one with metadata_location.',
    },
  );
}

function compareByTime(a: RankedMetadata, b: RankedMetadata): number {
  return a.lastUpdatedMs - b.lastUpdatedMs || compareCandidates(a, b);
}

function notFound(fileNames: readonly string[], { tableUuid }: ChoiceOptions): TableNotFoundError {
  const what = tableUuid === undefined ? 'with a version in its name' : `of table ${tableUuid}`;
  return new TableNotFoundError(`Among ${fileNames.length} files there is no metadata file ${what}.`, {
    next: 'Name the file with metadata_location.',
  });
}
