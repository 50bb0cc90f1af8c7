/**
 * The daily look at the deployment's tables: how many days ago each was last cleaned. An alarm's own period ends at seven
 * days, so the days are a metric of their own.
 */
import type { CatalogConfig } from '#shared/run/resolved-input.ts';
import { tablePk } from '#shared/run/run-keys.ts';
import type { StagePorts } from '#shared/runtime/stage-ports.ts';

export type WatchPorts = Pick<StagePorts, 'items' | 'deployment' | 'clock' | 'log' | 'metrics'>;

/** A dry run cleans nothing, a skipped run did nothing; a partial one is followed by another. */
const SUCCESSES = new Set(['DELETED', 'NOTHING_TO_DO']);
const DAY_MS = 24 * 60 * 60 * 1000;
const PAGE = 50;

/** Days since the last successful cleanup of every table of the deployment, as `DaysSinceSuccess`. */
export async function watchTables(ports: WatchPorts): Promise<{ readonly tables: number }> {
  const tables = Object.entries(ports.deployment.tables);
  for (const [table, entry] of tables) {
    const catalog = entry.catalog ?? ports.deployment.catalog ?? { type: 'path' };
    const since = await cleanSince(table, catalog, ports);
    ports.metrics.add('DaysSinceSuccess', Math.max(0, (ports.clock.now() - since) / DAY_MS), table);
  }
  ports.log.info('Tables watched', { tables: tables.length });
  return { tables: tables.length };
}

/**
 * End of the last success. It is kept from look to look, since a table may fail more often than the newest runs reach back;
 * one that never succeeded counts from when it was first looked at.
 */
async function cleanSince(table: string, catalog: CatalogConfig, ports: WatchPorts): Promise<number> {
  const pk = tablePk({ table, catalog });
  const runs = await ports.items.query({ pk, skPrefix: 'RUN#', limit: PAGE, descending: true });
  const success = runs.find((run) => SUCCESSES.has(String(run['verdict'])));
  const finishedMs = Date.parse(String(success?.['finished_at']));
  const kept = (await ports.items.get({ pk, sk: 'WATCH' }))?.['since_ms'];
  const sinceMs = Number.isFinite(finishedMs) ? finishedMs : typeof kept === 'number' ? kept : ports.clock.now();
  if (sinceMs !== kept) await ports.items.put({ pk, sk: 'WATCH', since_ms: sinceMs });
  return sinceMs;
}
