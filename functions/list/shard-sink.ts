/** Takes the listed objects of one shard: asks the filters, gives each its class, counts it, writes candidates and seen keys. */
import { createKeyHasher, type KeyHasher } from '#shared/filter/key-hash.ts';
import { RangeIndex } from '#shared/filter/key-ranges.ts';
import { fileKind } from '#shared/iceberg/file-kind.ts';
import { isMetadataJsonName } from '#shared/iceberg/metadata-names.ts';
import { foldKey } from '#shared/identity/fold-key.ts';
import { artefact } from '#shared/run/artefacts.ts';
import { FragmentBuffer, type WrittenFragments } from '#shared/run/fragments.ts';
import type { ListItem, Plan } from '#shared/run/plan.ts';
import type { CandidateLine, ListReceipt } from '#shared/run/receipts.ts';
import { newNonce, type RunArtefacts } from '#shared/run/run-artefacts.ts';
import type { ListedObject, ObjectStore } from '#shared/storage/object-store.ts';
import { CandidateChunks } from './candidate-chunks.ts';
import { FileClassifier, type FilterAnswer, hasDotSegment, hasMarkedComponent, isFolderMarker } from './file-class.ts';
import type { FilterShards } from './filter-shards.ts';
import { findMetadataOwner, type MetadataOwner } from './metadata-owner.ts';
import { isOfOtherFormat } from './other-formats.ts';
import { reportPrefix } from './report-prefix.ts';
import { type ShardCounts, ShardTallies } from './shard-tallies.ts';

/** Seen fingerprints held before they are written: 8 MB. */
const FLUSH_SEEN_AT = 1_000_000;
const PEEKS_AT_ONCE = 8;

export interface SinkState {
  readonly counts: ShardCounts | null;
  readonly chunks: ListReceipt['chunks'];
  readonly seen: WrittenFragments;
}

export interface SinkPorts {
  readonly plan: Plan;
  readonly item: ListItem;
  readonly rootPrefix: string;
  readonly tables: ObjectStore;
  readonly artefacts: RunArtefacts;
  readonly filters: FilterShards;
}

/** A file of a page with what was worked out about it. */
interface Listed {
  readonly object: ListedObject;
  readonly folded: string;
  readonly answer: FilterAnswer;
}

type Asked = { -readonly [Name in keyof Listed]: Listed[Name] };

const NOT_FOUND: FilterAnswer = { content: false, metadata: false };

export class ShardSink {
  readonly #ports: SinkPorts;
  readonly #hasher: KeyHasher;
  readonly #ranges: RangeIndex;
  readonly #classifier: FileClassifier;
  readonly #tallies: ShardTallies;
  readonly #chunks: CandidateChunks;
  readonly #nonce = newNonce();
  readonly #seenKeys = new FragmentBuffer();
  #seen: WrittenFragments;
  #seenPuts = 0;
  #gets = 0;

  static async open(ports: SinkPorts, state: SinkState): Promise<ShardSink> {
    return new ShardSink(ports, state, await createKeyHasher(ports.plan.salt));
  }

  private constructor(ports: SinkPorts, state: SinkState, hasher: KeyHasher) {
    this.#ports = ports;
    this.#hasher = hasher;
    this.#ranges = new RangeIndex(ports.plan.ranges);
    this.#classifier = new FileClassifier(ports.plan, ports.item.bucket, ports.rootPrefix);
    this.#tallies = new ShardTallies(state.counts ?? undefined);
    this.#chunks = new CandidateChunks(ports.artefacts, ports.item.shard, this.#nonce, state.chunks);
    this.#seen = state.seen;
  }

  /** Files taken so far, by this and earlier calls. */
  get files(): number {
    return this.#tallies.files;
  }

  /** Requests of this attempt. */
  get requests(): { readonly get: number; readonly put: number } {
    return { get: this.#gets + this.#ports.filters.gets, put: this.#chunks.puts + this.#seenPuts };
  }

  /** One page. Not to be called again before it is done: the page's filter shards are the only ones in memory. */
  async take(objects: readonly ListedObject[]): Promise<void> {
    const files = await this.#ask(objects.filter((object) => this.#isFile(object)));
    const owners = await this.#owners(files);
    for (const file of files) {
      const line = this.#count(file, owners.size === 0 ? undefined : owners.get(file.object.key));
      // Waits only where there is something to write: a page of referenced files is one step.
      if (line !== undefined && this.#chunks.add(line)) await this.#chunks.flush();
    }
    if (this.#seenKeys.length >= FLUSH_SEEN_AT) await this.#flushSeen();
  }

  /** Writes what is held. */
  async close(): Promise<SinkState> {
    await this.#chunks.flush();
    await this.#flushSeen();
    return { counts: this.#tallies.counts(), chunks: this.#chunks.written, seen: this.#seen };
  }

  #isFile(object: ListedObject): boolean {
    const relative = object.key.slice(this.#ports.rootPrefix.length);
    if (isOfOtherFormat(relative)) this.#tallies.otherFormat(object.key);
    const marker = isFolderMarker(object);
    if (marker) this.#tallies.marker();
    else if (hasMarkedComponent(relative) && hasDotSegment(relative)) this.#tallies.dotSegment(object.key);
    return !marker;
  }

  /** Range by range, so that a page needs each filter shard once, however its spellings are mixed. */
  async #ask(objects: readonly ListedObject[]): Promise<Listed[]> {
    const { ignoreCase } = this.#ports.plan.identity;
    const byRange = new Map<number, Asked[]>();
    for (const object of objects) {
      const folded = foldKey(object.key, ignoreCase);
      const range = this.#ranges.size === 1 ? 0 : this.#ranges.find(Buffer.from(folded));
      const asked: Asked = { object, folded, answer: NOT_FOUND };
      const known = byRange.get(range);
      if (known === undefined) byRange.set(range, [asked]);
      else known.push(asked);
    }
    const listed: Listed[] = [];
    for (const [range, files] of byRange) {
      const filter = await this.#ports.filters.load(range);
      for (const asked of files) {
        const fingerprint = this.#hasher.ofString(asked.folded);
        const content = filter.hasContent(fingerprint);
        const metadata = filter.hasMetadata(fingerprint);
        if (content || metadata) asked.answer = { content, metadata };
        if (content) this.#seenKeys.add(range, 'content_covered', fingerprint);
        listed.push(asked);
      }
    }
    return listed;
  }

  /** Owners of the page's unreferenced metadata files, by key: young, hidden and excluded ones too. */
  async #owners(files: readonly Listed[]): Promise<Map<string, MetadataOwner>> {
    const unknown = files.filter(
      ({ object, answer }) => !answer.content && !answer.metadata && isMetadataJsonName(object.key),
    );
    const owners = new Map<string, MetadataOwner>();
    const { tables, item, plan } = this.#ports;
    const next = unknown.values();
    const look = async (): Promise<void> => {
      for (const { object } of next) {
        const { owner, gets } = await findMetadataOwner(tables, item.bucket, object, plan);
        this.#gets += gets;
        owners.set(object.key, owner);
      }
    };
    await Promise.all(Array.from({ length: Math.min(PEEKS_AT_ONCE, unknown.length) }, look));
    return owners;
  }

  /** Counts a file; a candidate comes back as its line. */
  #count({ object, folded, answer }: Listed, owner: MetadataOwner | undefined): CandidateLine | undefined {
    const { bucket } = this.#ports.item;
    const superseded = owner?.whose === 'ours' && owner.superseded;
    // Taken off the metadata candidates by whoever judges the ratios, so counted there wherever it lies.
    const group = superseded ? 'metadata' : this.#classifier.groupOf(folded, answer);
    const fileClass = this.#classifier.classOf(object, folded, answer);
    this.#tallies.file(fileClass, group, object.sizeBytes);
    if (owner?.whose === 'foreign') this.#tallies.foreign(owner.file);
    if (fileClass !== 'candidate') return undefined;
    const kind = fileKind(object.key);
    this.#tallies.candidate(kind, reportPrefix(object.key, this.#ports.rootPrefix), object.sizeBytes, superseded);
    return {
      key: object.key,
      bucket,
      size: object.sizeBytes,
      last_modified: new Date(object.lastModifiedMs).toISOString(),
      etag: object.etag,
      kind,
      group,
      ...(superseded ? { superseded } : {}),
    };
  }

  async #flushSeen(): Promise<void> {
    const before = this.#seen;
    const name = artefact.seenFragment(this.#ports.item.shard, this.#nonce, this.#seenPuts);
    this.#seen = await this.#seenKeys.flush(this.#ports.artefacts, name, before);
    if (this.#seen !== before) this.#seenPuts++;
  }
}
