/** What the requests of a run cost on S3 in us-east-1; Lambda and Step Functions are a small part of it (`npm run model`). */
import type { RequestCounts } from './receipts.ts';

/** US dollars per request. DELETE is free. */
export const LIST_OR_PUT_USD = 0.005 / 1000;
export const GET_USD = 0.0004 / 1000;

export function requestCostUsd(requests: RequestCounts): number {
  const cost = (requests.list + requests.put) * LIST_OR_PUT_USD + requests.get * GET_USD;
  return Math.round(cost * 1e6) / 1e6;
}

export function addRequests(all: readonly RequestCounts[]): RequestCounts {
  const sum = (name: keyof RequestCounts) => all.reduce((total, counts) => total + counts[name], 0);
  return { get: sum('get'), list: sum('list'), put: sum('put'), delete: sum('delete') };
}
