/**
 * Writes true Iceberg tables into any sink, for the demo and the tests: every format version, codec, name form and kind of file, and
 * orphans among them. What the table references is kept in the writer's own model, so that it can judge a reader.
 */
import { TableBase } from './table-writer-base.ts';
import type { WrittenFile } from './table-writer-model.ts';
import type { CommitOptions } from './table-writer-options.ts';
import { type PlantedOrphan, plantedOrphans } from './table-writer-orphans.ts';

export type { WrittenFile } from './table-writer-model.ts';
export type { CommitOptions, Sink, TableWriterOptions } from './table-writer-options.ts';
export type { PlantedOrphan } from './table-writer-orphans.ts';

export class TableWriter extends TableBase {
  /** A table without snapshots. Every other method commits by itself. */
  async create(): Promise<this> {
    await this.commitMetadata();
    return this;
  }

  async append(count = 2, options: CommitOptions = {}): Promise<WrittenFile[]> {
    const added = await this.writeData(options.names?.length ?? count, options);
    await this.commit({ operation: 'append', added, options });
    return added.map(({ file }) => file);
  }

  /** Commits files that lie there already, as `add_files` or a late committer does; nothing is written but metadata. */
  async adopt(keys: readonly string[], options: CommitOptions = {}): Promise<void> {
    const added = keys.map((key) => this.entryOf(key));
    await this.commit({ operation: 'append', added, options });
  }

  /** Replaces all live data files of the branch by `count` new ones: the old become DELETED entries. */
  async overwrite(count = 1, options: CommitOptions = {}): Promise<WrittenFile[]> {
    const added = await this.writeData(count, options);
    await this.commit({ operation: 'overwrite', removed: this.liveKeys(options, 0), added, options });
    return added.map(({ file }) => file);
  }

  /** A compaction: the same, but no data changes. */
  async rewrite(options: CommitOptions = {}): Promise<WrittenFile[]> {
    const added = await this.writeData(1, options);
    await this.commit({ operation: 'replace', removed: this.liveKeys(options, 0), added, options });
    return added.map(({ file }) => file);
  }

  /** Removes files from the table without new ones: their entries become DELETED. */
  async deleteFiles(files: readonly WrittenFile[], options: CommitOptions = {}): Promise<void> {
    await this.commit({ operation: 'delete', removed: new Set(files.map(({ key }) => key)), added: [], options });
  }

  async positionDelete(options: CommitOptions = {}): Promise<WrittenFile> {
    return this.writeDelete(1, `00000-0-${this.dice.uuid()}-00001-deletes.parquet`, 'PARQUET', [undefined], options);
  }

  async equalityDelete(options: CommitOptions = {}): Promise<WrittenFile> {
    return this.writeDelete(2, `eq-delete-${this.dice.uuid()}.parquet`, 'PARQUET', [undefined], options);
  }

  /** One Puffin file with a vector for each target (v3). */
  async deletionVector(targets: readonly WrittenFile[], options: CommitOptions = {}): Promise<WrittenFile> {
    return this.writeDelete(1, `00000-0-${this.dice.uuid()}-00001-deletes.puffin`, 'PUFFIN', targets, options);
  }

  branch(name: string, snapshotId = this.head('main')?.id): Promise<void> {
    return this.setRef(name, 'branch', snapshotId);
  }

  tag(name: string, snapshotId = this.head('main')?.id): Promise<void> {
    return this.setRef(name, 'tag', snapshotId);
  }

  /** Write-audit-publish: a snapshot that no ref leads to. */
  async stage(count = 1, wapId = 'audit-1'): Promise<WrittenFile[]> {
    const added = await this.writeData(count, {});
    await this.commit({ operation: 'append', added, options: { summary: { 'wap.id': wapId } }, staged: true });
    return added.map(({ file }) => file);
  }

  /** Drops every snapshot but the last `keep` and the heads of refs. Files stay: that is what makes orphans. */
  async expire(keep = 1): Promise<void> {
    const heads = new Set([...this.refs.values()].map(({ snapshotId }) => snapshotId));
    const first = this.snapshots.length - keep;
    this.snapshots = this.snapshots.filter(({ id }, index) => index >= first || heads.has(id));
    const left = new Set(this.snapshots.map(({ id }) => id));
    this.statistics = this.statistics.filter(({ snapshotId }) => left.has(snapshotId));
    this.partitionStatistics = this.partitionStatistics.filter(({ snapshotId }) => left.has(snapshotId));
    await this.commitMetadata();
  }

  async addStatistics(name?: string): Promise<WrittenFile> {
    const item = await this.statisticsFile(name ?? `metadata/${this.dice.snapshotId()}-${this.dice.uuid()}.stats`);
    this.statistics.push(item);
    await this.commitMetadata();
    return item.file;
  }

  async addPartitionStatistics(name?: string): Promise<WrittenFile> {
    const item = await this.statisticsFile(
      name ?? `metadata/partition-stats-${this.dice.snapshotId()}-${this.dice.uuid()}.parquet`,
    );
    this.partitionStatistics.push(item);
    await this.commitMetadata();
    return item.file;
  }

  async setProperties(properties: Readonly<Record<string, string>>): Promise<void> {
    this.properties = { ...this.properties, ...properties };
    await this.commitMetadata();
  }

  /** Partition evolution: later files are written under the new spec. */
  async evolvePartition(fields: readonly string[]): Promise<void> {
    this.specs = [...this.specs, fields];
    await this.commitMetadata();
  }

  /** A checkpoint of a Flink job that was never committed: a manifest that no snapshot names, and its data files. */
  async pendingFlinkManifest(
    options: {
      readonly jobId?: string;
      readonly name?: string;
      readonly folder?: string;
      readonly files?: number;
    } = {},
  ): Promise<{ readonly manifest: WrittenFile; readonly files: readonly WrittenFile[] }> {
    const hex = () => this.dice.uuid().replaceAll('-', '');
    const name = options.name ?? `${options.jobId ?? hex()}-${hex()}-00000-0-${this.dice.below(30_000)}-00001.avro`;
    const entries = await this.writeData(options.files ?? 2, {});
    const body = this.encodeManifestOf(0n, 0, entries);
    const manifest = await this.put(`${options.folder ?? 'metadata'}/${name}`, body);
    for (const file of [manifest, ...entries.map((entry) => entry.file)]) this.pending.add(file.key);
    return { manifest, files: entries.map(({ file }) => file) };
  }

  /** One orphan of every kind, named as engines name them. */
  async plantOrphans(): Promise<PlantedOrphan[]> {
    const planted = plantedOrphans(this.dice, this.currentSpec(), this.version);
    for (const { path, bytes } of planted) await this.put(path, bytes);
    return planted.map((orphan) => ({ ...orphan, key: this.prefix + orphan.path }));
  }
}
