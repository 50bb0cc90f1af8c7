/** Names of executions, which are the run ids: letters, digits, `-` and `_`, at most 80 (as Step Functions allows). */
import { randomBytes } from 'node:crypto';

/** `plan-orders-20261130T051600-4f2a91`: what, which table, when, and a part that tells two of one second apart. */
export function newRunName(what: string, table: string, now: Date = new Date()): string {
  const parts = table.split('/').filter((part) => part !== '');
  const readable = (parts.at(-1) ?? 'table').replace(/[^A-Za-z0-9]+/g, '-').replace(/^-+|-+$/g, '');
  const time = now.toISOString().slice(0, 19).replace(/[-:]/g, '');
  return `${what}-${readable.slice(0, 40) || 'table'}-${time}-${randomBytes(3).toString('hex')}`;
}
