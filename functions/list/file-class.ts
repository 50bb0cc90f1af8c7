/**
 * The class of one listed file, in the order in which the rules are asked: whatever protects a file is asked before whatever
 * condemns it, and a file that no rule keeps is a candidate.
 */
import { parsePendingManifest, startsWithJobId } from '#shared/iceberg/flink.ts';
import { foldKey } from '#shared/identity/fold-key.ts';
import type { Folder, Plan } from '#shared/run/plan.ts';
import type { FileClass, FileGroup } from '#shared/run/receipts.ts';
import type { ListedObject } from '#shared/storage/object-store.ts';
import { compileGlobs, type RelativeMatcher } from './globs.ts';

/** S3 opened in 2006: an earlier time was made up by a copy tool or is missing. */
const FIRST_TIME_MS = Date.UTC(2006, 0, 1);
/** How far a store's clock may be ahead of the run's start. */
const CLOCK_LEEWAY_MS = 86_400_000;

/** The filter's answer about a key. */
export interface FilterAnswer {
  readonly content: boolean;
  readonly metadata: boolean;
}

/** Zero bytes under a name that only stands for a folder: not a file, in no count of files, never deleted. */
export function isFolderMarker(object: ListedObject): boolean {
  return object.sizeBytes === 0 && (object.key.endsWith('/') || object.key.endsWith('_$folder$'));
}

export class FileClassifier {
  readonly #plan: Plan;
  readonly #rootPrefix: string;
  readonly #foldedRootPrefix: string;
  readonly #excluded: RelativeMatcher;
  readonly #shown: RelativeMatcher;
  readonly #partitionPrefixes: readonly string[];
  readonly #dataFolders: readonly string[];
  readonly #metadataFolders: readonly string[];
  readonly #flinkFolders: readonly string[];
  readonly #t0Ms: number;
  readonly #cutoffMs: number;
  readonly #writerMs: number;

  /** @param rootPrefix raw prefix of the root that is listed, in `bucket` */
  constructor(plan: Plan, bucket: string, rootPrefix: string) {
    const { input, identity } = plan;
    const fold = (prefix: string) => foldKey(prefix, identity.ignoreCase);
    const folded = (folders: readonly Folder[]) =>
      folders.filter((folder) => folder.bucket === bucket).map((folder) => fold(folder.prefix));
    this.#plan = plan;
    this.#rootPrefix = rootPrefix;
    this.#foldedRootPrefix = fold(rootPrefix);
    this.#excluded = compileGlobs(input.exclude, identity.ignoreCase, 'exclude');
    this.#shown = compileGlobs(input.include_hidden, identity.ignoreCase, 'include_hidden');
    this.#partitionPrefixes = plan.partition_fields.map((field) => `${fold(field)}=`);
    this.#dataFolders = folded(plan.data_folders);
    this.#metadataFolders = folded(plan.metadata_folders);
    this.#flinkFolders = folded(plan.flink.manifest_folders);
    this.#t0Ms = instant(plan.t0);
    this.#cutoffMs = instant(plan.cutoff);
    // A table without snapshots: its writer may be about to make the first one with files of any age.
    this.#writerMs = plan.writer_time === null ? Number.NEGATIVE_INFINITY : instant(plan.writer_time);
  }

  /** A referenced key counts with the filter that has it, any other by its folder. Chooses a count, never a fate. */
  groupOf(foldedKey: string, answer: FilterAnswer): FileGroup {
    if (answer.content) return 'content';
    if (answer.metadata) return 'metadata';
    return isUnder(foldedKey, this.#metadataFolders) && !isUnder(foldedKey, this.#dataFolders) ? 'metadata' : 'content';
  }

  classOf(object: ListedObject, foldedKey: string, answer: FilterAnswer): FileClass {
    if (answer.content || answer.metadata) return 'referenced';
    if (this.#isProtected(object, foldedKey)) return 'protected';
    const time = object.lastModifiedMs;
    if (!Number.isFinite(time) || time < FIRST_TIME_MS || time > this.#t0Ms + CLOCK_LEEWAY_MS) return 'undated';
    if (!(time < this.#cutoffMs)) return 'young';
    if (time >= this.#writerMs && this.#t0Ms - time < this.#plan.input.max_writer_lag_ms) return 'waiting';
    return 'candidate';
  }

  #isProtected(object: ListedObject, foldedKey: string): boolean {
    const relative = object.key.slice(this.#rootPrefix.length);
    const folded = foldedKey === object.key ? relative : foldedKey.slice(this.#foldedRootPrefix.length);
    if (this.#isFlinks(object, foldedKey)) return true;
    if (hasMarkedComponent(relative) || (folded !== relative && hasMarkedComponent(folded))) {
      if (hasDotSegment(relative) || hasDotSegment(folded)) return true;
      const hidden = this.#isHidden(relative) || this.#isHidden(folded);
      if (hidden && !this.#shown(relative, folded)) return true;
    }
    return this.#excluded(relative, folded);
  }

  /** Flink's uncommitted manifests, and whatever metadata a job that ever committed here has named after itself. */
  #isFlinks(object: ListedObject, foldedKey: string): boolean {
    if (isUnder(foldedKey, this.#flinkFolders)) return true;
    const name = foldedKey.slice(foldedKey.lastIndexOf('/') + 1);
    if (name.endsWith('.avro') && parsePendingManifest(name) !== null) return !this.#isBeyondHorizon(object);
    return isUnder(foldedKey, this.#metadataFolders) && startsWithJobId(name, this.#plan.flink.job_ids);
  }

  #isBeyondHorizon(object: ListedObject): boolean {
    const horizon = this.#plan.input.pending_manifest_horizon_ms;
    return horizon !== undefined && this.#t0Ms - object.lastModifiedMs > horizon;
  }

  /** A component below the root begins with `_` or `.` and is no partition of any spec, past ones included (SA-10 to SA-12). */
  #isHidden(relative: string): boolean {
    return relative.split('/').some((component) => {
      if (!component.startsWith('_') && !component.startsWith('.')) return false;
      const folded = foldKey(component, this.#plan.identity.ignoreCase);
      return !this.#partitionPrefixes.some((prefix) => folded.startsWith(prefix));
    });
  }
}

/** A component that begins with `_` or `.`, which few keys have: everything slower is asked only then. */
export function hasMarkedComponent(relative: string): boolean {
  const first = relative.charCodeAt(0);
  return first === 0x5f || first === 0x2e || relative.includes('/_') || relative.includes('/.');
}

/** `.` and `..` are literal to a store and something else to everyone who reads a path. */
export function hasDotSegment(relative: string): boolean {
  return /(?:^|\/)\.\.?(?:\/|$)/.test(relative);
}

function isUnder(foldedKey: string, folders: readonly string[]): boolean {
  return folders.some((folder) => foldedKey.startsWith(folder));
}

function instant(text: string): number {
  const ms = Date.parse(text);
  // Every comparison with NaN is false: such a plan would keep or condemn by accident.
  if (!Number.isFinite(ms)) throw new TypeError(`${JSON.stringify(text)} in the plan is no instant.`);
  return ms;
}
