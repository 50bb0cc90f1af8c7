/** A deployed fleet as the command line reaches it: its run table, its work bucket, and its tables' storage. */
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { STATUS_INDEX } from '#infra/constructs/names.ts';
import { AccessDeniedError, InvalidInputError } from '#shared/errors.ts';
import { DynamoItemTable } from '#shared/run/dynamo-item-table.ts';
import type { ItemTable } from '#shared/run/item-table.ts';
import { RunArtefacts } from '#shared/run/run-artefacts.ts';
import { findRecord } from '#shared/run/run-store.ts';
import { isStoreFault } from '#shared/storage/object-store.ts';
import { type CommandContext, textOf } from '../context.ts';
import { listRecords } from '../records.ts';
import type { ListReader, RunReader } from '../runtime.ts';
import { openStore, storeOptions } from '../storage.ts';
import { remoteConnection } from '../target.ts';
import { nameFaultsOf } from './service-faults.ts';

const FROM_THE_OUTPUTS = 'The deployment prints it as an output.';

/** `region` and `profile` of the flags, for the clients of services other than S3. */
export function clientSettings(context: CommandContext, otherRegion?: string): { region?: string; profile?: string } {
  const [region, profile] = [textOf(context, 'region') ?? otherRegion, textOf(context, 'profile')];
  return { ...(region === undefined ? {} : { region }), ...(profile === undefined ? {} : { profile }) };
}

/** The run table of a deployed fleet. Undefined where none is named. */
export function openFleetItems(context: CommandContext, otherRegion?: string): ItemTable | undefined {
  const runTable = textOf(context, 'run-table');
  if (runTable === undefined) return undefined;
  const client = nameFaultsOf(new DynamoDBClient(clientSettings(context, otherRegion)), {
    service: 'DynamoDB',
    prefix: 'dynamodb',
    resource: `run table ${JSON.stringify(runTable)}`,
    absent: ['ResourceNotFoundException', 'ValidationException'],
    check: `Check --run-table, --region and --profile. ${FROM_THE_OUTPUTS}`,
    passed: ['ConditionalCheckFailedException'],
  });
  return new DynamoItemTable(client, runTable, STATUS_INDEX);
}

/** What runs left in the work bucket, by the prefix that their records name. */
export function openFleetLists(context: CommandContext, otherRegion?: string): ListReader {
  const bucket = textOf(context, 'work-bucket');
  const artefacts = (prefix: string): RunArtefacts => {
    if (bucket === undefined)
      throw new InvalidInputError('The lists and pages of a fleet need --work-bucket NAME.', {
        next: FROM_THE_OUTPUTS,
      });
    const store = openStore({
      ...clientSettings(context, otherRegion),
      ...storeOptions(remoteConnection(context.parsed.values)),
    });
    return new RunArtefacts(store, bucket, prefix);
  };
  return { artefacts, withoutLists: bucket === undefined };
}

/** What `--run-table` and `--work-bucket` name, and the tables' storage under the person's own rights; undefined without. */
export function openFleet(context: CommandContext): RunReader | undefined {
  const items = openFleetItems(context);
  if (items === undefined) {
    if (textOf(context, 'work-bucket') === undefined) return undefined;
    throw new InvalidInputError('--work-bucket alone finds no run: the records are in the run table.', {
      next: `Add --run-table NAME. ${FROM_THE_OUTPUTS}`,
    });
  }
  return {
    items,
    tables: openStore(storeOptions(remoteConnection(context.parsed.values))),
    ...openFleetLists(context),
    find: (runId) => findRecord(items, runId),
    list: (table, limit) => listRecords(items, table, limit, context),
    close: async () => {},
  };
}

/** A denial or a missing bucket while a fleet is read ends with what to do about it. */
export async function namingStoreFaults<T>(reading: Promise<T>): Promise<T> {
  try {
    return await reading;
  } catch (error) {
    if (isStoreFault(error, 'NoSuchBucket')) {
      throw new InvalidInputError(`${error.message}.`, { cause: error, next: 'Check --work-bucket and --region.' });
    }
    if (isStoreFault(error, 'AccessDenied')) {
      throw new AccessDeniedError(`${error.message}.`, {
        cause: error,
        next: 'grantRead of the construct grants the work bucket; a table’s storage is read with your own rights.',
      });
    }
    throw error;
  }
}
