/** A distributed map: items from a JSONL object, one child execution per item, results to S3, failures counted. */
import { randomUUID } from 'node:crypto';
import { StateError, withinStateLimit } from './errors.ts';
import { selectItem } from './item-selector.ts';
import { childExecutionArn, mapRunArn } from './names.ts';
import type { StateJson } from './types.ts';
import type { WorkObjects } from './work-objects.ts';

/** What the interpreter evaluated of the state's own fields before the map begins. */
export interface MapInput {
  readonly input: unknown;
  readonly reader: { readonly Bucket: string; readonly Key: string };
  readonly writer: { readonly Bucket: string; readonly Prefix?: string };
  readonly concurrency: number;
}

export interface ChildResult {
  readonly output?: unknown;
  readonly error?: { readonly name: string; readonly cause: string };
}

export interface MapSurroundings {
  readonly work: WorkObjects;
  readonly signal: AbortSignal;
  /** Runs one child to its end; never rejects, except when `signal` stops it. */
  runChild(input: unknown, signal: AbortSignal): Promise<ChildResult>;
  progress(counts: { readonly done: number; readonly failed: number; readonly total: number }): void;
}

/** Step Functions runs at most this many children of a map at once. */
const MOST_CHILDREN = 10_000;

function parseItems(text: string, key: string): unknown[] {
  const items = text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line): unknown => {
      try {
        return JSON.parse(line);
      } catch {
        throw new StateError('States.ItemReaderFailed', `${key} holds a line that is not JSON`);
      }
    });
  if (items.length === 0) throw new StateError('States.ItemReaderFailed', `${key} holds no item`);
  return items;
}

function concurrencyOf(value: unknown): number {
  if (!Number.isInteger(value) || (value as number) < 0) {
    throw new StateError('States.Runtime', `MaxConcurrency must be a whole number, not ${JSON.stringify(value)}`);
  }
  return value === 0 ? MOST_CHILDREN : Math.min(value as number, MOST_CHILDREN);
}

/** Lines of the result files, in Step Functions' form. */
interface ResultLine {
  readonly ExecutionArn: string;
  readonly Input: string;
  readonly Output?: string;
  readonly Error?: string;
  readonly Cause?: string;
  readonly Name: string;
  readonly StartDate: string;
  readonly StopDate: string;
  readonly Status: 'SUCCEEDED' | 'FAILED';
}

class MapRun {
  readonly #name: string;
  readonly #state: StateJson;
  readonly #surroundings: MapSurroundings;
  readonly #id = randomUUID();
  readonly #succeeded: ResultLine[] = [];
  readonly #failed: ResultLine[] = [];
  readonly #stop = new AbortController();

  constructor(name: string, state: StateJson, surroundings: MapSurroundings) {
    this.#name = name;
    this.#state = state;
    this.#surroundings = surroundings;
  }

  async run(map: MapInput): Promise<unknown> {
    const items = parseItems(await this.#surroundings.work.get(map.reader.Key), map.reader.Key);
    this.#progress(items.length);
    await this.#runChildren(map, items);
    if (this.#surroundings.signal.aborted) throw new StateError('ExecutionAborted', 'The execution was stopped.');
    const manifest = await this.#writeResults(map.writer);
    if (this.#isIntolerable(items.length)) {
      throw new StateError(
        'States.ExceedToleratedFailureThreshold',
        'The specified tolerated failure threshold was exceeded',
      );
    }
    return {
      MapRunArn: mapRunArn(this.#name, this.#id),
      ResultWriterDetails: { Bucket: map.writer.Bucket, Key: manifest },
    };
  }

  /** As many lanes as the map may run children; each takes the next item until none is left or the map has failed. */
  async #runChildren(map: MapInput, items: readonly unknown[]): Promise<void> {
    const signal = AbortSignal.any([this.#surroundings.signal, this.#stop.signal]);
    let next = 0;
    const lane = async (): Promise<void> => {
      while (next < items.length && !signal.aborted) {
        const index = next;
        next += 1;
        const value = items[index];
        const input = withinStateLimit(
          selectItem(this.#state['ItemSelector'], map.input, { index, value }),
          'A child’s input',
        );
        await this.#runOne(input, signal);
        this.#progress(items.length);
        if (this.#isIntolerable(items.length)) this.#stop.abort();
      }
    };
    const lanes = Math.min(concurrencyOf(map.concurrency), items.length);
    await Promise.all(Array.from({ length: lanes }, lane));
  }

  async #runOne(input: unknown, signal: AbortSignal): Promise<void> {
    const name = randomUUID();
    const startDate = new Date().toISOString();
    const result = await this.#surroundings.runChild(input, signal);
    // A child that was stopped because another one failed is neither.
    if (signal.aborted && result.error !== undefined) return;
    const common = {
      ExecutionArn: childExecutionArn(this.#name, name),
      Input: JSON.stringify(input),
      Name: name,
      StartDate: startDate,
      StopDate: new Date().toISOString(),
    };
    if (result.error === undefined) {
      this.#succeeded.push({ ...common, Output: JSON.stringify(result.output), Status: 'SUCCEEDED' });
    } else {
      this.#failed.push({ ...common, Error: result.error.name, Cause: result.error.cause, Status: 'FAILED' });
    }
  }

  #progress(total: number): void {
    this.#surroundings.progress({ done: this.#succeeded.length, failed: this.#failed.length, total });
  }

  /** Failures above both limits; an absent limit tolerates nothing. */
  #isIntolerable(total: number): boolean {
    const percentage = (this.#state['ToleratedFailurePercentage'] as number | undefined) ?? 0;
    const count = (this.#state['ToleratedFailureCount'] as number | undefined) ?? 0;
    const failed = this.#failed.length;
    return failed > count && (failed / total) * 100 > percentage;
  }

  async #writeResults(writer: MapInput['writer']): Promise<string> {
    const prefix = `${writer.Prefix === undefined ? '' : `${writer.Prefix}/`}${this.#id}`;
    const files = { SUCCEEDED: this.#succeeded, FAILED: this.#failed };
    const listed: Record<string, { Key: string; Size: number }[]> = { PENDING: [] };
    for (const [status, lines] of Object.entries(files)) {
      const key = `${prefix}/${status}_0.json`;
      const body = JSON.stringify(lines);
      if (lines.length > 0) await this.#surroundings.work.put(key, body);
      listed[status] = lines.length > 0 ? [{ Key: key, Size: Buffer.byteLength(body) }] : [];
    }
    const manifest = {
      DestinationBucket: writer.Bucket,
      MapRunArn: mapRunArn(this.#name, this.#id),
      ResultFiles: listed,
    };
    await this.#surroundings.work.put(`${prefix}/manifest.json`, JSON.stringify(manifest));
    return `${prefix}/manifest.json`;
  }
}

/** Rejects with a StateError, as the map's Retry and Catch would see it. */
export function runDistributedMap(
  name: string,
  state: StateJson,
  map: MapInput,
  surroundings: MapSurroundings,
): Promise<unknown> {
  return new MapRun(name, state, surroundings).run(map);
}
