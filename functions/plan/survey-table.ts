/** What stands around the table, in one survey: the gates of the surroundings, later roots, pending manifests (DESIGN section 7). */
import type { Catalog, CurrentPointer } from '#shared/catalog/catalog.ts';
import type { Folder, GateResult } from '#shared/run/plan.ts';
import type { ResolvedInput } from '#shared/run/resolved-input.ts';
import { TimeLeft } from '#shared/run/time-left.ts';
import type { Budget } from '#shared/runtime/stage-ports.ts';
import type { ObjectStore } from '#shared/storage/object-store.ts';
import { findLaterRoots, type LaterRoots } from './later-roots.ts';
import { SpellingFinder } from './location-spellings.ts';
import { type ListedFile, listFolders, metadataFolders, unloggedMetadataFiles } from './metadata-folders.ts';
import { gateOtherFormats, gateOverlaps, listNeighbours, type Neighbours } from './neighbours.ts';
import type { PinnedTable } from './pin-table.ts';
import { hasOutsideRoots, type PlannedRoots, planRoots, type RootsQuestion } from './plan-roots.ts';

export interface Survey {
  readonly rootsQuestion: RootsQuestion;
  readonly roots: PlannedRoots;
  readonly metadataFolders: readonly Folder[];
  readonly metadataFiles: readonly ListedFile[];
  readonly later: LaterRoots;
  readonly neighbours: Neighbours;
  readonly gates: readonly GateResult[];
  readonly warnings: readonly string[];
}

export interface SurveyQuestion {
  readonly table: PinnedTable;
  readonly pointer: CurrentPointer;
  readonly catalog: Catalog;
  readonly input: ResolvedInput;
  readonly store: ObjectStore;
  readonly budget: Budget;
}

function warningsOf(neighbours: Neighbours, catalog: Catalog): string[] {
  if (catalog.otherTables === undefined || neighbours.tables !== undefined) return [];
  return ['The catalog does not let its tables be listed, so no other table was compared with this one.'];
}

/** Each gate throws; the order is that of DESIGN section 7. */
export async function surveyTable(question: SurveyQuestion): Promise<Survey> {
  const { table, pointer, catalog, input, store } = question;
  const spellings = new SpellingFinder(store, table.identity.ignoreCase);
  const locations = await spellings.ofLocation(table.location);
  const otherFormatsBeside = await gateOtherFormats(store, locations);

  const folders = metadataFolders(table, locations);
  const time = new TimeLeft(question.budget);
  const files = await listFolders(store, folders, () => !time.isShort);
  const unlogged = unloggedMetadataFiles(table, files);
  const later = await findLaterRoots({
    table,
    pointer,
    catalog,
    formerUuids: input.former_table_uuids,
    store,
    unlogged,
  });

  const neighbours = await listNeighbours(catalog, hasOutsideRoots(table, locations, spellings));
  const rootsQuestion = { table, input, locations, spellings, neighbours };
  const roots = await planRoots(rootsQuestion);
  await gateOtherFormats(store, roots.roots);
  const overlaps = gateOverlaps(neighbours, [...locations, ...roots.roots], table, spellings, input.overlaps_allowed);
  return {
    rootsQuestion,
    roots,
    metadataFolders: folders,
    metadataFiles: files,
    later,
    neighbours,
    gates: [otherFormatsBeside, later.gate, overlaps],
    warnings: [...warningsOf(neighbours, catalog), ...roots.warnings],
  };
}
