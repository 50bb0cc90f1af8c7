/**
 * The pin may be stale: a commit in flight, one of unknown outcome, a forgotten pointer, an explicit old file. Metadata files
 * of ours that may be newer than the pinned one are roots of reachability too (DESIGN section 3), and none of the newest may
 * be another table's (section 7).
 */
import type { Catalog, CurrentPointer } from '#shared/catalog/catalog.ts';
import { inOrder, readObject } from '#shared/catalog/table-objects.ts';
import { LocationConflictError, TableChangedError } from '#shared/errors.ts';
import { parseTableMetadata, peekTableIdentity } from '#shared/iceberg/metadata-json.ts';
import { parseMetadataName } from '#shared/iceberg/metadata-names.ts';
import type { TableMetadata } from '#shared/iceberg/types.ts';
import { foldReference } from '#shared/identity/fold-key.ts';
import { locateReference, recordedPath } from '#shared/identity/references.ts';
import type { GateResult } from '#shared/run/plan.ts';
import type { ObjectStore } from '#shared/storage/object-store.ts';
import { ByteGate } from './byte-gate.ts';
import { fileName, type ListedFile } from './metadata-folders.ts';
import type { PinnedTable } from './pin-table.ts';

const NEWEST_LOOKED_AT = 100;
const MOST_LATER_ROOTS = 100;
const READS_AT_ONCE = 16;
/** Of metadata files that are held at the same time; a larger one is read alone. */
const BYTES_AT_ONCE = 256 * 1024 * 1024;
const PEEKED_BYTES = 8192;
/** How much older than the pinned file's a later root's last-updated-ms may be: clocks of writers differ. */
const CLOCK_SLACK_MS = 86_400_000;

export interface LaterRootsQuestion {
  readonly table: PinnedTable;
  readonly pointer: CurrentPointer;
  readonly catalog: Catalog;
  readonly formerUuids: readonly string[];
  readonly store: ObjectStore;
  /** Unlogged metadata files, newest first. */
  readonly unlogged: readonly ListedFile[];
}

export interface LaterRoots {
  /** In the order in which they were found. Read and parsed; files that vanished meanwhile are left out. */
  readonly roots: readonly TableMetadata[];
  readonly superseded: number;
  readonly gate: GateResult;
}

type Owner = 'ours' | 'former' | 'foreign' | 'gone';

async function peek({ store }: LaterRootsQuestion, file: ListedFile, gate: ByteGate) {
  const beginning = await readObject(store, file.bucket, file.key, { start: 0, end: PEEKED_BYTES - 1 });
  if (beginning === undefined) return undefined;
  const first = peekTableIdentity(beginning.body);
  if (first.tableUuid !== undefined || beginning.body.length >= beginning.sizeBytes) return first;
  return gate.hold(beginning.sizeBytes, async () => {
    const whole = await readObject(store, file.bucket, file.key);
    return whole === undefined ? undefined : peekTableIdentity(whole.body);
  });
}

/** Ours by uuid; a file without one by its location. Unreadable ones are foreign. */
async function ownerOf(question: LaterRootsQuestion, file: ListedFile, gate: ByteGate): Promise<Owner> {
  const { table, formerUuids } = question;
  const seen = await peek(question, file, gate);
  if (seen === undefined) return 'gone';
  const uuid = seen.tableUuid?.toLowerCase();
  const pinned = table.meta.tableUuid?.toLowerCase();
  if (uuid !== undefined && uuid === pinned) return 'ours';
  if (uuid !== undefined && formerUuids.includes(uuid)) return 'former';
  if (uuid !== undefined && pinned !== undefined) return 'foreign';
  const { ignoreCase } = table.identity;
  const fold = (path: string): string => foldReference(path, ignoreCase).replace(/\/+$/, '');
  return seen.location !== undefined && fold(seen.location) === fold(table.meta.location) ? 'ours' : 'foreign';
}

/** Of the pinned file's name form and of a higher version: a later commit by its very name, whatever its age. */
function hasHigherVersion(table: PinnedTable, file: ListedFile): boolean {
  const own = parseMetadataName(fileName(table.pin.key));
  const other = parseMetadataName(fileName(file.key));
  return own !== null && other !== null && own.form === other.form && other.version > own.version;
}

/** Not known to be older counts as younger. */
function mayBeWrittenAfter(table: PinnedTable, file: ListedFile): boolean {
  return !(file.lastModifiedMs <= table.writtenMs);
}

function hasLowerVersion(table: PinnedTable, file: ListedFile): boolean {
  const own = parseMetadataName(fileName(table.pin.key));
  const other = parseMetadataName(fileName(file.key));
  return own !== null && other !== null && other.version < own.version;
}

function refuseForeign(file: ListedFile): never {
  throw new LocationConflictError(
    `s3://${file.bucket}/${file.key} is the metadata of another table, or cannot be read: the location is shared.`,
    {
      next:
        'Removing orphans of one table would remove the other. Move one of them; if it is what is left of a dropped table, ' +
        'name its uuid in former_table_uuids.',
    },
  );
}

/** The later root, parsed; undefined where it is none after all. */
async function readCandidate(question: LaterRootsQuestion, file: ListedFile, always: boolean, known: Set<string>) {
  const { table, store } = question;
  const object = await readObject(store, file.bucket, file.key);
  if (object === undefined) return undefined;
  const meta = parseTableMetadata(object.body, recordedPath(file.bucket, file.key, table.identity));
  const recent = meta.lastUpdatedMs >= table.meta.lastUpdatedMs - CLOCK_SLACK_MS;
  return always || recent ? withoutKnown(meta, known) : undefined;
}

/** Snapshots that a root before this one has are left out: a hundred long histories differ in few. */
function withoutKnown(meta: TableMetadata, known: Set<string>): TableMetadata {
  const snapshots = meta.snapshots.filter(({ manifestList }) => manifestList === undefined || !known.has(manifestList));
  for (const { manifestList } of snapshots) if (manifestList !== undefined) known.add(manifestList);
  return { ...meta, snapshots };
}

/** Where no catalog holds the pointer, every other file of the pinned version counts (and any that the pointer names). */
function furtherKeys(question: LaterRootsQuestion): ReadonlySet<string> {
  const places = question.pointer.further.map((path) => locateReference(path, question.table.identity));
  return new Set(places.map(({ bucket, key }) => `${bucket}/${key}`));
}

/** Finds the later roots and judges the newest unlogged files. */
export async function findLaterRoots(question: LaterRootsQuestion): Promise<LaterRoots> {
  const { table, unlogged } = question;
  const further = furtherKeys(question);
  const byName = (file: ListedFile): boolean =>
    further.has(`${file.bucket}/${file.key}`) || hasHigherVersion(table, file);
  const newest = new Set(unlogged.slice(0, NEWEST_LOOKED_AT));
  const looked = unlogged.filter((file) => newest.has(file) || byName(file) || mayBeWrittenAfter(table, file));
  const gate = new ByteGate(BYTES_AT_ONCE);
  const owners = await inOrder(looked, READS_AT_ONCE, (file) => ownerOf(question, file, gate));
  const foreign = looked.find((_, index) => owners[index] === 'foreign');
  if (foreign !== undefined) refuseForeign(foreign);
  const ours = looked.filter((_, index) => owners[index] === 'ours');
  const candidates = ours.filter((file) => byName(file) || mayBeWrittenAfter(table, file));
  const known = new Set(
    table.meta.snapshots.map(({ manifestList }) => manifestList).filter((list) => list !== undefined),
  );
  const roots: TableMetadata[] = [];
  for (let start = 0; start < candidates.length && roots.length <= MOST_LATER_ROOTS; start += READS_AT_ONCE) {
    const group = candidates.slice(start, start + READS_AT_ONCE);
    const read = await inOrder(group, READS_AT_ONCE, (file) =>
      gate.hold(file.sizeBytes, () => readCandidate(question, file, byName(file), known)),
    );
    roots.push(...read.filter((meta) => meta !== undefined));
  }
  if (roots.length > MOST_LATER_ROOTS) await refuseTooMany(question, roots);
  return {
    roots,
    superseded: unlogged.filter((file) => hasLowerVersion(table, file)).length,
    gate: { name: 'unlogged_metadata_files', value: looked.length, limit: null, passed: true },
  };
}

async function refuseTooMany(question: LaterRootsQuestion, roots: readonly TableMetadata[]): Promise<never> {
  const newest = roots[0]!.metadataLocation;
  const now = await question.catalog.reread(question.pointer);
  if (now.metadata_location !== question.pointer.metadata_location) {
    throw new TableChangedError(`The table moved on to ${now.metadata_location} while it was planned.`, {
      next: 'Start a new run.',
    });
  }
  throw new LocationConflictError(
    `More than ${MOST_LATER_ROOTS} metadata files beside ${question.pointer.metadata_location} look newer than it, ${newest} among them.`,
    { next: 'The pointer is old, or another catalog commits to the same table; find out which file is current.' },
  );
}
