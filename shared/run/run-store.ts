/** Run records in the run table: written once per run, found by run id, by table, and by verdict (DESIGN section 9). */
import type { Verdict } from '#shared/errors.ts';
import type { Item, ItemTable, ItemValue } from './item-table.ts';
import type { RunRecord } from './record.ts';
import type { ResolvedInput } from './resolved-input.ts';
import { recordKey, runPointerKey, tablePk } from './run-keys.ts';

/** Under DynamoDB's 400 KB and our own 50 KB: what grows is cut, counts never. */
const MOST_ITEM_BYTES = 50_000;

type TableName = Pick<ResolvedInput, 'catalog' | 'table'>;

function plain(value: unknown): ItemValue {
  // JSON drops undefined, which the table's client refuses.
  return JSON.parse(JSON.stringify(value)) as ItemValue;
}

function itemOf(record: RunRecord, table: TableName): Item {
  const key = recordKey(table, record.started_at, record.run_id);
  const item = (shown: RunRecord): Item => ({
    ...(plain(shown) as { readonly [attribute: string]: ItemValue }),
    ...key,
    status_pk: `STATUS#${record.verdict}`,
    status_sk: `${record.finished_at}#${record.run_id}`,
  });
  const whole = item(record);
  if (JSON.stringify(whole).length <= MOST_ITEM_BYTES) return whole;
  return item({
    ...record,
    sample: record.sample.slice(0, 3),
    warnings: record.warnings.slice(0, 10),
    gates: record.gates.slice(0, 60),
  });
}

/**
 * Stores a record and answers the one that stands. A repeat of the same run replaces its own record, but what is told of it from
 * outside (`fromOutside`) never replaces one that the run wrote itself.
 */
export async function storeRecord(
  items: ItemTable,
  record: RunRecord,
  table: TableName,
  { fromOutside }: { readonly fromOutside: boolean },
): Promise<RunRecord> {
  const key = recordKey(table, record.started_at, record.run_id);
  const absent = [{ absent: true } as const];
  const mine = [{ attribute: 'run_id', equals: record.run_id } as const];
  const stored = await items.put(itemOf(record, table), fromOutside ? [absent] : [absent, mine]);
  const pointer = { ...runPointerKey(record.run_id), record_pk: key.pk, record_sk: key.sk, run_id: record.run_id };
  await items.put(pointer);
  if (stored) return record;
  const standing = await items.get(key);
  return standing === undefined ? record : recordOf(standing);
}

function recordOf(item: Item): RunRecord {
  const { pk: _pk, sk: _sk, status_pk: _statusPk, status_sk: _statusSk, ...record } = item;
  return record as unknown as RunRecord;
}

/** No execution has a longer name, and a store refuses keys of any length instead of not finding them. */
const MOST_RUN_ID = 80;

/** The record of a run, or undefined. */
export async function findRecord(items: ItemTable, runId: string): Promise<RunRecord | undefined> {
  if (runId.length > MOST_RUN_ID) return undefined;
  const pointer = await items.get(runPointerKey(runId));
  const [pk, sk] = [pointer?.['record_pk'], pointer?.['record_sk']];
  const item = typeof pk === 'string' && typeof sk === 'string' ? await items.get({ pk, sk }) : undefined;
  return item === undefined ? undefined : recordOf(item);
}

/** A table's runs, newest first. */
export async function recordsOfTable(items: ItemTable, table: TableName, limit = 50): Promise<RunRecord[]> {
  const found = await items.query({ pk: tablePk(table), skPrefix: 'RUN#', limit, descending: true });
  return found.map(recordOf);
}

const VERDICTS: readonly Verdict[] = [
  'DELETED',
  'PARTIAL',
  'NOTHING_TO_DO',
  'DRY_RUN',
  'REFUSED',
  'FAILED',
  'ABORTED',
  'SKIPPED',
];

/** Recent runs of the fleet, newest first. */
export async function recentRecords(items: ItemTable, limit = 50): Promise<RunRecord[]> {
  const found = await Promise.all(
    VERDICTS.map((verdict) => items.queryByStatus({ statusPk: `STATUS#${verdict}`, limit })),
  );
  return found
    .flat()
    .map(recordOf)
    .sort((left, right) => (left.finished_at < right.finished_at ? 1 : -1))
    .slice(0, limit);
}
