/** What a table to be written looks like. */
import type { Codec } from './table-writer-avro.ts';
import type { GzipSpelling } from './table-writer-metadata.ts';
import type { WrittenEntry } from './table-writer-model.ts';
import type { FormatVersion, SchemaStyle } from './table-writer-schemas.ts';

export interface Sink {
  put(bucket: string, key: string, bytes: Uint8Array): unknown;
}

export interface TableWriterOptions {
  /** As recorded, any scheme. */
  readonly location: string;
  /** Where the files are put; by default what an `s3://bucket/prefix` location says. */
  readonly place?: { readonly bucket: string; readonly prefix: string };
  readonly formatVersion?: FormatVersion;
  readonly codec?: Codec;
  readonly names?: 'hadoop' | 'catalog';
  readonly gzip?: GzipSpelling;
  readonly inlineManifests?: boolean;
  readonly partitionFields?: readonly string[];
  readonly properties?: Readonly<Record<string, string>>;
  readonly tableUuid?: string | null;
  readonly style?: SchemaStyle;
  readonly bareHeaders?: boolean;
  readonly noSnapshot?: -1 | null | 'absent';
  /** Length of the metadata log. */
  readonly previousVersionsMax?: number;
  /** How the metadata spells a path; by default as written. */
  readonly spell?: (recorded: string) => string;
  readonly startMs?: number;
  readonly seed?: number;
  readonly fileBytes?: number;
}

export interface CommitOptions {
  /** Branch to commit to; it is made where it does not exist. */
  readonly branch?: string;
  readonly summary?: Readonly<Record<string, string>>;
  /** Names of the new data files, relative to the data folder; generated where absent. */
  readonly names?: readonly string[];
}

export interface Change {
  readonly operation: string;
  /** Keys to mark DELETED. */
  readonly removed?: ReadonlySet<string>;
  readonly added: readonly WrittenEntry[];
  readonly content?: 0 | 1;
  readonly options: CommitOptions;
  /** A staged snapshot moves no ref. */
  readonly staged?: boolean;
}

/** `s3://bucket/prefix`, whatever the scheme's letters. */
export function placeOf(location: string): { readonly bucket: string; readonly prefix: string } {
  const match = /^[^:]+:\/\/([^/]+)\/(.*)$/.exec(location);
  if (match === null) throw new Error(`Say with \`place\` where the files of ${location} lie.`);
  return { bucket: match[1] as string, prefix: (match[2] as string).replace(/\/$/, '') };
}
