/** Candidates on their way to S3: one chunk in memory, at most 1,000 lines an object. */
import { artefact } from '#shared/run/artefacts.ts';
import type { CandidateLine, ListReceipt } from '#shared/run/receipts.ts';
import type { RunArtefacts } from '#shared/run/run-artefacts.ts';

/** What one DeleteObjects request can take. */
const MOST_LINES = 1000;

type Chunk = ListReceipt['chunks'][number];

export class CandidateChunks {
  readonly #artefacts: RunArtefacts;
  readonly #shard: number;
  readonly #nonce: string;
  readonly #written: Chunk[];
  #lines: CandidateLine[] = [];
  #count = 0;

  constructor(artefacts: RunArtefacts, shard: number, nonce: string, written: readonly Chunk[]) {
    this.#artefacts = artefacts;
    this.#shard = shard;
    this.#nonce = nonce;
    this.#written = [...written];
  }

  get written(): readonly Chunk[] {
    return this.#written;
  }

  /** Objects put by this attempt. */
  get puts(): number {
    return this.#count;
  }

  /** True when the chunk is full and must be flushed before more is added. */
  add(line: CandidateLine): boolean {
    this.#lines.push(line);
    return this.#lines.length >= MOST_LINES;
  }

  async flush(): Promise<void> {
    if (this.#lines.length === 0) return;
    // Taken before the wait, so that what is added meanwhile goes into the next chunk (CO-09).
    const lines = this.#lines;
    this.#lines = [];
    const name = artefact.candidateChunk(this.#shard, this.#nonce, this.#count++);
    const ref = await this.#artefacts.writeLines(name, lines);
    this.#written.push({ ...ref, candidate_bytes: lines.reduce((sum, { size }) => sum + size, 0) });
  }
}
