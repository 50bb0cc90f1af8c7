/**
 * Reading and writing a run's artefacts in the work bucket. Data objects are named by a nonce and described by an
 * {@link ObjectRef}; receipts are written once, last, and bind to the plan by its hash (DESIGN section 2).
 */
import { createHash, randomBytes } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';
import { MisconfiguredError, ScanIncompleteError } from '#shared/errors.ts';
import { isStoreFault, type ObjectStore } from '#shared/storage/object-store.ts';
import { artefact } from './artefacts.ts';
import type { ObjectRef, Plan, ScanShard } from './plan.ts';

export function sha256Hex(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Names one attempt's data objects, so that a repeated worker never overwrites what another attempt wrote. */
export function newNonce(): string {
  return randomBytes(8).toString('hex');
}

type ErrorClass = new (message: string) => Error;

export class RunArtefacts {
  readonly #store: ObjectStore;
  readonly #bucket: string;
  /** `runs/<table>/<run_id>`. */
  readonly prefix: string;

  constructor(store: ObjectStore, bucket: string, prefix: string) {
    this.#store = store;
    this.#bucket = bucket;
    this.prefix = prefix;
  }

  absoluteKey(name: string): string {
    return `${this.prefix}/${name}`;
  }

  async write(name: string, bytes: Uint8Array, entries = 1): Promise<ObjectRef> {
    await this.#store.put(this.#bucket, this.absoluteKey(name), bytes);
    return { name, bytes: bytes.length, entries, sha256: sha256Hex(bytes) };
  }

  writeJson(name: string, value: unknown): Promise<ObjectRef> {
    return this.write(name, Buffer.from(JSON.stringify(value)));
  }

  /** Lines of JSON; gzip where the name says so. */
  writeLines(name: string, lines: readonly unknown[]): Promise<ObjectRef> {
    const text = Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    return this.write(name, name.endsWith('.gz') ? gzipSync(text) : text, lines.length);
  }

  /**
   * Writes a once-only object. Where it exists already, the stored one is returned instead: the first writer wins, and a
   * repeated worker answers with what was counted first.
   */
  async writeOnce<T>(name: string, value: T): Promise<T> {
    try {
      const body = Buffer.from(JSON.stringify(value));
      await this.#store.put(this.#bucket, this.absoluteKey(name), body, { ifNoneMatch: '*' });
      return value;
    } catch (error) {
      if (!isStoreFault(error, 'PreconditionFailed')) throw error;
      const stored = await this.readJson<T>(name);
      if (stored === undefined) throw error;
      return stored;
    }
  }

  async read(name: string): Promise<Buffer | undefined> {
    try {
      return (await this.#store.get(this.#bucket, this.absoluteKey(name))).body;
    } catch (error) {
      if (isStoreFault(error, 'NotFound')) return undefined;
      throw error;
    }
  }

  async readRange(name: string, start: number, length: number): Promise<Buffer> {
    if (length === 0) return Buffer.alloc(0);
    const range = { start, end: start + length - 1 };
    return (await this.#store.get(this.#bucket, this.absoluteKey(name), { range })).body;
  }

  /** Undefined where it is absent; one that is no JSON any more was cut, and throws `Mismatch`. */
  async readJson<T>(name: string, Mismatch: ErrorClass = ScanIncompleteError): Promise<T | undefined> {
    const bytes = await this.read(name);
    if (bytes === undefined) return undefined;
    try {
      return JSON.parse(bytes.toString('utf8')) as T;
    } catch {
      throw new Mismatch(`Artefact ${this.absoluteKey(name)} was cut or altered; start a new run.`);
    }
  }

  /** For the record, which must be written whatever else is lost: what cannot be read is absent. */
  readJsonIfWhole<T>(name: string): Promise<T | undefined> {
    return this.readJson<T>(name).catch((error: unknown) => {
      if (error instanceof ScanIncompleteError) return undefined;
      throw error;
    });
  }

  /** Reads an object that a receipt or seal names; absent, short or altered bytes throw `Mismatch`. */
  async readNamed(ref: ObjectRef, Mismatch: ErrorClass): Promise<Buffer> {
    const bytes = await this.read(ref.name);
    if (bytes === undefined) throw new Mismatch(`Artefact ${this.absoluteKey(ref.name)} is gone; start a new run.`);
    if (bytes.length !== ref.bytes || sha256Hex(bytes) !== ref.sha256) {
      throw new Mismatch(
        `Artefact ${this.absoluteKey(ref.name)} is not what was written: ${bytes.length} bytes where ${ref.bytes} ` +
          'were recorded, or another checksum; start a new run.',
      );
    }
    return bytes;
  }

  /** The JSON lines of a named object, whose number must be the recorded one. */
  async readNamedLines<T>(ref: ObjectRef, Mismatch: ErrorClass): Promise<T[]> {
    const bytes = await this.readNamed(ref, Mismatch);
    const text = (ref.name.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
    const lines = text.split('\n').filter((line) => line !== '');
    if (lines.length !== ref.entries) {
      throw new Mismatch(
        `Artefact ${this.absoluteKey(ref.name)} has ${lines.length} lines, ${ref.entries} were recorded.`,
      );
    }
    return lines.map((line) => JSON.parse(line) as T);
  }

  /** A receipt of this plan, or undefined where the work is not done. One of another plan is an error, never "done". */
  async readReceipt<T extends { readonly plan_hash: string }>(
    name: string,
    planHash: string,
    Mismatch: ErrorClass,
  ): Promise<T | undefined> {
    const receipt = await this.readJson<T>(name, Mismatch);
    if (receipt !== undefined && receipt.plan_hash !== planHash) {
      throw new Mismatch(`Receipt ${this.absoluteKey(name)} belongs to another plan; start a new run.`);
    }
    return receipt;
  }

  /** Loads the plan and checks it against the hash that travelled with the execution's state. */
  async readPlan(planHash: string): Promise<Plan> {
    const bytes = await this.read(artefact.plan);
    if (bytes === undefined) {
      throw new ScanIncompleteError(`The plan ${this.absoluteKey(artefact.plan)} is gone; start a new run.`);
    }
    if (sha256Hex(bytes) !== planHash) {
      throw new MisconfiguredError(`The plan ${this.absoluteKey(artefact.plan)} is not the one this run started with.`);
    }
    return JSON.parse(bytes.toString('utf8')) as Plan;
  }

  /** A scan shard as the plan knows it; undefined where it is absent. Another body, if only a whole one of another run, throws. */
  async readScanShard(plan: Plan, shard: number): Promise<ScanShard | undefined> {
    const bytes = await this.read(artefact.scanShard(shard));
    if (bytes === undefined) return undefined;
    if (sha256Hex(bytes) !== plan.scan.digests[shard]) {
      throw new ScanIncompleteError(`Scan shard ${shard} is not the one that was planned; start a new run.`);
    }
    return JSON.parse(bytes.toString('utf8')) as ScanShard;
  }
}
