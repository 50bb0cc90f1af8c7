/**
 * Every key in the work bucket, from one module (DESIGN section 2). Data objects carry their attempt's nonce; receipts and
 * other once-only objects do not. All keys are relative to the run's prefix unless the name says `Key`.
 */
import { createHash } from 'node:crypto';

/** A table's name as one path segment: safe letters stay, anything else is replaced and told apart by a hash. */
export function tableSegment(table: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/.test(table)) return table;
  const digest = createHash('sha256').update(table).digest('hex').slice(0, 12);
  const readable = table
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[.-]+|-+$/g, '')
    .slice(-80);
  return `${readable || 'table'}.${digest}`;
}

/** `runs/<table>/<run_id>`, without a final slash. */
export function runPrefix(table: string, runId: string): string {
  return `runs/${tableSegment(table)}/${runId}`;
}

/** So that names sort as numbers do. */
function padded(part: number): string {
  return String(part).padStart(5, '0');
}

export const artefact = {
  plan: 'plan/plan.json',
  planProgress: (nonce: string) => `plan/progress-${nonce}.json`,
  planReferences: (part: number, nonce: string) => `plan/references-${part}-${nonce}.jsonl.gz`,
  scanItems: 'plan/scan-items.jsonl',
  scanShard: (shard: number) => `plan/scan-shards/${shard}.json`,
  buildItems: 'plan/build-items.jsonl',
  listItems: 'plan/list-items.jsonl',
  planReceipt: 'plan/receipt.json',
  /** Why a run was skipped: `{error, message}`. */
  skipped: 'plan/skipped.json',

  scanFragment: (shard: number, nonce: string, part: number) => `scan/${shard}/${nonce}-${part}.bin`,
  scanReceipt: (shard: number) => `scan/${shard}/receipt.json`,
  scanProgress: (shard: number, nonce: string) => `scan/${shard}/progress-${nonce}.json`,

  filterShard: (range: number, nonce: string) => `filters/${range}/${nonce}.bloom`,
  coverageKeys: (range: number, nonce: string) => `filters/${range}/${nonce}.coverage`,
  buildReceipt: (range: number) => `filters/${range}/receipt.json`,

  seenFragment: (shard: number, nonce: string, part: number) => `list/${shard}/${nonce}-${part}.seen`,
  listReceipt: (shard: number) => `list/${shard}/receipt.json`,
  listProgress: (shard: number, nonce: string) => `list/${shard}/progress-${nonce}.json`,
  candidateChunk: (shard: number, nonce: string, chunk: number) => `candidates/${shard}/${nonce}-${chunk}.jsonl.gz`,

  evaluateProgress: (nonce: string) => `evaluate/progress-${nonce}.json`,
  evaluation: 'evaluate/evaluation.json',
  seal: 'evaluate/seal.json',
  batches: 'evaluate/batches.jsonl',

  recheck: (metadataDigest: string) => `delete/recheck/${metadataDigest}.json`,
  stopMarker: 'delete/stop.json',
  storeHabits: 'delete/habits.json',
  rescued: (metadataDigest: string, nonce: string) => `delete/recheck/${metadataDigest}-${nonce}.bin`,
  pace: 'delete/pace.json',
  intent: (batch: number, request: number) => `delete/${batch}/intent-${request}.json`,
  reply: (batch: number, request: number) => `delete/${batch}/reply-${request}.json`,
  outcome: (batch: number) => `delete/${batch}/outcome.json`,
  /** What the record stage found out about a batch that was killed. */
  settled: (batch: number) => `delete/${batch}/settled.json`,

  failureNote: (stage: string, item: string, nonce: string) => `failures/${stage}-${item}-${nonce}.json`,
  failureNotes: 'failures/',
  mapResults: (stage: string) => `results/${stage}`,

  summary: 'report/summary.json',
  report: 'report/report.html',
  orphansJsonl: (part: number) => `report/orphans_jsonl/part-${padded(part)}.jsonl.gz`,
  orphansParquet: (part: number) => `report/orphans/part-${padded(part)}.parquet`,
} as const;
