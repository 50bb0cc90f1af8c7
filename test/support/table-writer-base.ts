/** What all operations of the table writer share: putting files, making snapshots, committing metadata, keeping the books. */
import { encodeManifest, encodeManifestList } from './table-writer-manifests.ts';
import { metadataJson, metadataName } from './table-writer-metadata.ts';
import {
  Dice,
  filesOf,
  liveEntries,
  type WrittenEntry,
  type WrittenFile,
  type WrittenManifest,
  type WrittenRef,
  type WrittenSnapshot,
} from './table-writer-model.ts';
import {
  type Change,
  type CommitOptions,
  placeOf,
  type Sink,
  type TableWriterOptions,
} from './table-writer-options.ts';

const MINUTE_MS = 60_000;

export class TableBase {
  readonly sink: Sink;
  readonly options: TableWriterOptions;
  readonly bucket: string;
  /** Of the keys; ends with `/`. */
  readonly prefix: string;
  readonly tableUuid: string | undefined;
  readonly dice: Dice;
  properties: Readonly<Record<string, string>>;
  snapshots: WrittenSnapshot[] = [];
  readonly refs = new Map<string, WrittenRef>();
  /** Every key ever put. */
  readonly written = new Set<string>();
  /** Keys of pending Flink manifests and of the data files that they name. */
  readonly pending = new Set<string>();
  metadataFile: WrittenFile | undefined;
  nowMs: number;

  protected version: number;
  #sequence = 0;
  protected specs: (readonly string[])[];
  #log: { readonly file: WrittenFile; readonly timestampMs: number }[] = [];
  protected statistics: { readonly snapshotId: bigint; readonly file: WrittenFile; readonly bytes: number }[] = [];
  protected partitionStatistics: { readonly snapshotId: bigint; readonly file: WrittenFile; readonly bytes: number }[] =
    [];

  constructor(sink: Sink, options: TableWriterOptions) {
    const place = options.place ?? placeOf(options.location);
    this.sink = sink;
    this.options = options;
    this.bucket = place.bucket;
    this.prefix = place.prefix.endsWith('/') ? place.prefix : `${place.prefix}/`;
    this.dice = new Dice(options.seed ?? 1);
    this.tableUuid = options.tableUuid === null ? undefined : (options.tableUuid ?? this.dice.uuid());
    this.properties = options.properties ?? {};
    this.nowMs = options.startMs ?? Date.UTC(2024, 0, 1);
    this.version = options.names === 'hadoop' ? 0 : -1;
    this.specs = [options.partitionFields ?? []];
  }

  /** Puts one file below the location; the metadata does not learn of it. */
  async put(path: string, bytes: Uint8Array): Promise<WrittenFile> {
    const file = this.fileAt(path);
    await this.sink.put(this.bucket, file.key, bytes);
    this.written.add(file.key);
    return file;
  }

  /** A file below the location: where it lies and how the metadata spells it. */
  protected fileAt(path: string): WrittenFile {
    const recorded = `${this.options.location.replace(/\/$/, '')}/${path}`;
    return { bucket: this.bucket, key: this.prefix + path, recorded: this.options.spell?.(recorded) ?? recorded };
  }

  /** Keys of everything that the current metadata names, from the writer's own books. */
  referenced(): Set<string> {
    const named = [
      ...this.snapshots.flatMap(filesOf),
      ...this.#log.map(({ file }) => file),
      ...this.statistics.map(({ file }) => file),
      ...this.partitionStatistics.map(({ file }) => file),
      ...(this.metadataFile === undefined ? [] : [this.metadataFile]),
    ];
    const hint = `${this.prefix}metadata/version-hint.text`;
    return new Set([...named.map(({ key }) => key), ...(this.written.has(hint) ? [hint] : [])]);
  }

  /** Keys that were put and are neither referenced nor pending. */
  unreferenced(): Set<string> {
    const referenced = this.referenced();
    return new Set([...this.written].filter((key) => !referenced.has(key) && !this.pending.has(key)));
  }

  protected async statisticsFile(path: string): Promise<{ snapshotId: bigint; file: WrittenFile; bytes: number }> {
    const bytes = Buffer.concat([Buffer.from('PFA1'), this.dice.bytes(24)]);
    return { snapshotId: this.head('main')?.id ?? 0n, file: await this.put(path, bytes), bytes: bytes.length };
  }

  protected async writeData(count: number, options: CommitOptions): Promise<WrittenEntry[]> {
    const entries: WrittenEntry[] = [];
    const operation = this.dice.uuid();
    for (let index = 0; index < count; index++) {
      const partition = this.currentSpec().map((_, at) => `p${(index + at) % 3}`);
      const folder = this.currentSpec()
        .map((name, at) => `${name}=${partition[at]}/`)
        .join('');
      const generated = `${folder}00000-${index}-${operation}-00001.parquet`;
      const body = Buffer.concat([Buffer.from('PAR1'), this.dice.bytes(this.options.fileBytes ?? 40)]);
      const file = await this.put(`data/${options.names?.[index] ?? generated}`, body);
      entries.push({ status: 1, content: 0, file, format: 'PARQUET', bytes: body.length, partition });
    }
    return entries;
  }

  /** An entry for an object below the table that is there already. */
  protected entryOf(key: string): WrittenEntry {
    const file = this.fileAt(key.slice(this.prefix.length));
    const partition = this.currentSpec().map(() => null);
    return { status: 1, content: 0, file, format: 'PARQUET', bytes: this.options.fileBytes ?? 40, partition };
  }

  protected async writeDelete(
    content: 1 | 2,
    name: string,
    format: string,
    targets: readonly (WrittenFile | undefined)[],
    options: CommitOptions,
  ): Promise<WrittenFile> {
    const body = Buffer.concat([Buffer.from(format === 'PUFFIN' ? 'PFA1' : 'PAR1'), this.dice.bytes(40)]);
    const file = await this.put(`data/${name}`, body);
    const added = targets.map((target, index): WrittenEntry => {
      const vector = target === undefined ? {} : { referencedDataFile: target, contentOffset: 4 + 40 * index };
      return {
        status: 1,
        content,
        file,
        format,
        bytes: body.length,
        partition: this.currentSpec().map(() => null),
        ...vector,
      };
    });
    await this.commit({ operation: 'overwrite', added, content: 1, options });
    return file;
  }

  protected async commit(change: Change): Promise<void> {
    const branch = change.options.branch ?? 'main';
    const parent = this.head(branch) ?? this.head('main');
    const id = this.dice.snapshotId();
    this.#sequence++;
    const carried: WrittenManifest[] = [];
    for (const manifest of parent?.manifests ?? []) carried.push(await this.#carry(manifest, change, id));
    const fresh = change.added.length === 0 ? [] : [await this.#putManifest(id, change.added, change.content ?? 0)];
    const manifests = [...carried, ...fresh];
    const list = this.options.inlineManifests ? undefined : await this.#putList(id, manifests);
    this.nowMs += MINUTE_MS;
    this.snapshots.push({
      id,
      ...(parent === undefined ? {} : { parentId: parent.id }),
      sequenceNumber: this.#sequence,
      timestampMs: this.nowMs,
      operation: change.operation,
      summary: change.options.summary ?? {},
      ...(list === undefined ? {} : { list }),
      manifests,
    });
    if (!change.staged) this.refs.set(branch, { type: 'branch', snapshotId: id });
    await this.commitMetadata();
  }

  /** A manifest goes on as it is, unless the change removes one of its files. */
  async #carry(manifest: WrittenManifest, change: Change, id: bigint): Promise<WrittenManifest> {
    const isRemoved = ({ file }: WrittenEntry) => change.removed?.has(file.key) ?? false;
    if (!liveEntries(manifest).some(isRemoved)) return manifest;
    const entries = liveEntries(manifest).map((entry) => ({
      ...entry,
      status: isRemoved(entry) ? (2 as const) : (0 as const),
    }));
    return this.#putManifest(id, entries, manifest.content, manifest.specId);
  }

  async #putManifest(
    id: bigint,
    entries: readonly WrittenEntry[],
    content: 0 | 1,
    specId = this.specs.length - 1,
  ): Promise<WrittenManifest> {
    const body = this.encodeManifestOf(id, content, entries, specId);
    const file = await this.put(`metadata/${this.dice.uuid()}-m0.avro`, body);
    return { ...file, length: body.length, content, specId, sequenceNumber: this.#sequence, snapshotId: id, entries };
  }

  protected encodeManifestOf(
    snapshotId: bigint,
    content: 0 | 1,
    entries: readonly WrittenEntry[],
    specId = this.specs.length - 1,
  ): Buffer {
    const partitionNames = this.specs[specId] ?? [];
    const manifest = { snapshotId, sequenceNumber: this.#sequence, partitionNames, specId, content, entries };
    return encodeManifest(manifest, this.#avroOptions());
  }

  #putList(id: bigint, manifests: readonly WrittenManifest[]): Promise<WrittenFile> {
    const body = encodeManifestList(id, manifests, this.#avroOptions());
    return this.put(`metadata/snap-${id}-1-${this.dice.uuid()}.avro`, body);
  }

  #avroOptions(): Parameters<typeof encodeManifest>[1] {
    const { formatVersion = 2, codec = 'deflate', style = {}, bareHeaders = false } = this.options;
    return { formatVersion, codec, style, bareHeaders };
  }

  protected async setRef(name: string, type: 'branch' | 'tag', snapshotId: bigint | undefined): Promise<void> {
    if (snapshotId === undefined) throw new Error(`There is no snapshot for ${type} ${name}.`);
    this.refs.set(name, { type, snapshotId });
    await this.commitMetadata();
  }

  protected async commitMetadata(): Promise<void> {
    const {
      formatVersion = 2,
      gzip = 'none',
      names = 'catalog',
      noSnapshot = -1,
      previousVersionsMax = 100,
    } = this.options;
    if (this.metadataFile !== undefined) this.#log.push({ file: this.metadataFile, timestampMs: this.nowMs });
    this.#log = this.#log.slice(-previousVersionsMax);
    this.version++;
    this.nowMs += MINUTE_MS;
    const body = metadataJson(
      {
        formatVersion,
        tableUuid: this.tableUuid,
        location: this.options.location,
        lastUpdatedMs: this.nowMs,
        lastSequenceNumber: this.#sequence,
        currentSnapshotId: this.refs.get('main')?.snapshotId,
        noSnapshot,
        properties: this.properties,
        specs: this.specs,
        snapshots: this.snapshots,
        refs: this.refs,
        log: this.#log,
        statistics: this.statistics,
        partitionStatistics: this.partitionStatistics,
      },
      gzip,
    );
    this.metadataFile = await this.put(`metadata/${metadataName(this.version, names, gzip, this.dice.uuid())}`, body);
    if (names === 'hadoop') await this.put('metadata/version-hint.text', Buffer.from(String(this.version)));
  }

  protected head(ref: string): WrittenSnapshot | undefined {
    const id = this.refs.get(ref)?.snapshotId;
    return this.snapshots.find((snapshot) => snapshot.id === id);
  }

  protected liveKeys({ branch = 'main' }: CommitOptions, content: 0 | 1): Set<string> {
    const manifests = this.head(branch)?.manifests.filter((manifest) => manifest.content === content) ?? [];
    return new Set(manifests.flatMap(liveEntries).map(({ file }) => file.key));
  }

  protected currentSpec(): readonly string[] {
    return this.specs.at(-1) ?? [];
  }
}
