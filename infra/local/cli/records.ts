/** Finding run records: those of the state folder, or those of a deployed fleet. */
import { existsSync } from 'node:fs';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { STATUS_INDEX } from '#infra/constructs/names.ts';
import { InvalidInputError } from '#shared/errors.ts';
import { DynamoItemTable } from '#shared/run/dynamo-item-table.ts';
import type { ItemTable } from '#shared/run/item-table.ts';
import type { RunRecord } from '#shared/run/record.ts';
import type { CatalogConfig } from '#shared/run/resolved-input.ts';
import { RunArtefacts } from '#shared/run/run-artefacts.ts';
import { findRecord, recentRecords, recordsOfTable } from '#shared/run/run-store.ts';
import { realDirectory, withoutFinalSlashes } from './arguments/mounts.ts';
import { catalogOf } from './arguments/run-input.ts';
import { type CommandContext, textOf } from './context.ts';
import { readRecordedLocation } from './recorded-location.ts';
import type { RunHistory } from './runtime.ts';
import { openStore } from './storage.ts';

/** The table as its records name it: a directory stands for the location that its metadata records. */
function tableName(word: string, context: CommandContext): { readonly table: string; readonly catalog: CatalogConfig } {
  const catalog = catalogOf(context.parsed.values) as CatalogConfig | undefined;
  if (catalog !== undefined && catalog.type !== 'path') return { table: word, catalog };
  const isPath = word.includes('/') || existsSync(word);
  if (catalog === undefined && !isPath) return { table: word, catalog: { type: 'glue' } };
  const location = existsSync(word) ? readRecordedLocation(realDirectory(word), undefined) : word;
  return { table: withoutFinalSlashes(location), catalog: { type: 'path' } };
}

/** Newest first: of one table, or of all. */
export function listRecords(
  items: ItemTable,
  table: string | undefined,
  limit: number,
  context: CommandContext,
): Promise<readonly RunRecord[]> {
  return table === undefined ? recentRecords(items, limit) : recordsOfTable(items, tableName(table, context), limit);
}

/** The run table of a deployed fleet. Undefined where none is named. */
export function openFleetItems(context: CommandContext): ItemTable | undefined {
  const runTable = textOf(context, 'run-table');
  if (runTable === undefined) return undefined;
  const [region, profile] = [textOf(context, 'region'), textOf(context, 'profile')];
  const client = new DynamoDBClient({
    ...(region === undefined ? {} : { region }),
    ...(profile === undefined ? {} : { profile }),
  });
  return new DynamoItemTable(client, runTable, STATUS_INDEX);
}

/** Records and artefacts of a deployed fleet: `--run-table`, and `--work-bucket` for pages and lists. */
export function openFleetHistory(context: CommandContext): RunHistory | undefined {
  const items = openFleetItems(context);
  if (items === undefined) return undefined;
  const bucket = textOf(context, 'work-bucket');
  const region = textOf(context, 'region');
  return {
    items,
    artefacts: (prefix) => {
      if (bucket === undefined)
        throw new InvalidInputError('The lists and pages of a fleet need --work-bucket NAME.', {
          next: 'The deployment prints it as an output.',
        });
      return new RunArtefacts(openStore(region === undefined ? {} : { region }), bucket, prefix);
    },
    find: (runId) => findRecord(items, runId),
    list: (table, limit) => listRecords(items, table, limit, context),
    close: async () => {},
  };
}
