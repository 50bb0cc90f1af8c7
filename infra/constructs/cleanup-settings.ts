import type { Duration } from 'aws-cdk-lib';
import { type DeploymentSetting, deploymentSettingSchema } from '#shared/run/input-schema.ts';

/** What happens to files whose recorded scheme or bucket is not the one they were listed under. */
export const PrefixMismatchMode = {
  /** The run is refused. */
  ERROR: 'ERROR',
  /** Such files are kept. */
  IGNORE: 'IGNORE',
} as const;
export type PrefixMismatchMode = keyof typeof PrefixMismatchMode;

/** What of a table's location is cleaned. */
export const CleanupScope = {
  /** The data and metadata folders. */
  DATA_AND_METADATA: 'DATA_AND_METADATA',
  /** The whole location. */
  TABLE: 'TABLE',
} as const;
export type CleanupScope = keyof typeof CleanupScope;

/**
 * The settings that a deployment gives to all tables, and an entry to its own table, where it may loosen or tighten them.
 * An execution may make most of them stricter. Names are those of the execution's input.
 */
export interface CleanupSettings {
  /**
   * Files must be older than this, counted from the start of the run. Whole hours.
   *
   * @default Duration.days(3)
   */
  readonly olderThan?: Duration;
  /**
   * What of a table's location is cleaned.
   *
   * @default CleanupScope.DATA_AND_METADATA
   */
  readonly scope?: CleanupScope;
  /**
   * Globs of keys, relative to their root, that are kept.
   *
   * @default - none
   */
  readonly exclude?: string[];
  /**
   * Globs of hidden files (a name that begins with `_` or `.`) that may be deleted all the same.
   *
   * @default - hidden files are kept
   */
  readonly includeHidden?: string[];
  /**
   * Schemes that are one, as `{ "oss": "s3" }`, besides s3, s3a and s3n.
   *
   * @default - none
   */
  readonly equalSchemes?: Record<string, string>;
  /**
   * Buckets or authorities that are one.
   *
   * @default - none
   */
  readonly equalAuthorities?: Record<string, string>;
  /**
   * Recorded prefixes and where those files lie now.
   *
   * @default - none
   */
  readonly pathAliases?: Record<string, string>;
  /**
   * What happens to files that are recorded under another scheme or bucket.
   *
   * @default PrefixMismatchMode.ERROR
   */
  readonly prefixMismatchMode?: PrefixMismatchMode;
  /**
   * A run with a larger part of orphans, in files or bytes, is refused. Percent.
   *
   * @default 20
   */
  readonly maxOrphanPercent?: number;
  /**
   * Below this number of files the percentage is not looked at.
   *
   * @default 100
   */
  readonly minFiles?: number;
  /**
   * A run with more orphan files is refused.
   *
   * @default - no limit
   */
  readonly maxOrphanFiles?: number;
  /**
   * A run with more bytes in orphan files is refused.
   *
   * @default - no limit
   */
  readonly maxOrphanBytes?: number;
  /**
   * A run that misses a larger part of the referenced files in storage is refused. Percent.
   *
   * @default 5
   */
  readonly maxMissingPercent?: number;
  /**
   * Files that a writer may still commit are kept until they are this old.
   *
   * @default Duration.days(30)
   */
  readonly maxWriterLag?: Duration;
  /**
   * How long a sealed plan may be deleted.
   *
   * @default Duration.days(7)
   */
  readonly maxPlanAge?: Duration;
  /**
   * Pending Flink manifests older than this are no longer protected.
   *
   * @default - they are protected for ever
   */
  readonly pendingManifestHorizon?: Duration;
  /**
   * Delete requests at once.
   *
   * @default 1
   */
  readonly maxConcurrentDeletes?: number;
  /**
   * Files in one delete request, 1,000 at most.
   *
   * @default 1000
   */
  readonly deleteBatchSize?: number;
  /**
   * Pause between delete requests, in seconds.
   *
   * @default 1
   */
  readonly deleteCooldownSeconds?: number;
  /**
   * A run deletes no more files than this and leaves the rest to the next.
   *
   * @default - no limit
   */
  readonly maxFilesPerRun?: number;
  /**
   * Scan workers at once.
   *
   * @default 100
   */
  readonly maxConcurrentScans?: number;
  /**
   * List workers at once.
   *
   * @default 100
   */
  readonly maxConcurrentLists?: number;
  /**
   * A list worker pauses after this many files.
   *
   * @default - no pauses
   */
  readonly pauseAfterFiles?: number;
  /**
   * How long a list worker pauses, in milliseconds.
   *
   * @default 100
   */
  readonly pauseMs?: number;
  /**
   * Tables, by name, whose roots may equal, hold or lie in those of ours.
   *
   * @default - none
   */
  readonly overlapsAllowed?: string[];
  /**
   * Prefixes outside a table's location that belong to it alone, although the catalog cannot tell.
   *
   * @default - none
   */
  readonly ownedRoots?: string[];
  /**
   * UUIDs of dropped tables whose leavings under our roots may go.
   *
   * @default - none
   */
  readonly formerTableUuids?: string[];
}

/** Durations of the input are whole hours or days. Throws where this one is not. */
export function durationText(duration: Duration, name: string): string {
  const hours = duration.toHours({ integral: false });
  if (!Number.isInteger(hours) || hours <= 0) throw new Error(`${name} must be a whole number of hours, not ${hours}`);
  return hours % 24 === 0 ? `P${hours / 24}D` : `PT${hours}H`;
}

const DURATIONS = new Set(['olderThan', 'maxWriterLag', 'maxPlanAge', 'pendingManifestHorizon']);

const snakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Names of {@link CleanupSettings}, to pick them from props that hold more. */
const SETTING_NAMES = new Set(Object.keys(deploymentSettingSchema.shape));

/** The settings as the functions read them. Throws an Error that names each faulty one. */
export function toDeploymentSetting(settings: CleanupSettings, where: string): DeploymentSetting {
  const given = Object.entries(settings)
    .map(([name, value]) => [name, snakeCase(name), value] as const)
    .filter(([, inputName, value]) => SETTING_NAMES.has(inputName) && value !== undefined)
    .map(([name, inputName, value]) => [
      inputName,
      DURATIONS.has(name) ? durationText(value as Duration, name) : value,
    ]);
  const parsed = deploymentSettingSchema.safeParse(Object.fromEntries(given));
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);
  throw new Error(`${where}: ${faults.join('; ')}`);
}
